// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * open(), close(), fallocate() and writev() are cancellation points, where a registration has none:
 * a thread that is cancelled in one of ours would not have been without the shim. So the kernel is
 * called by syscall().
 */
#define _GNU_SOURCE
#include "trace_file.h"
#include "config.h"
#include "originals.h"
#include "quiet.h"
#include "report.h"
#include "trace_clock.h"
#include "trace_name.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define MODULES	 256
#define PAGE	 4096
#define SECOND	 UINT64_C(1000000000)
#define SUFFIXES 1000
/* A dot, ten digits and a zero. */
#define SUFFIX_ROOM 12

#define DEVICES_OFFSET ((uint64_t)PAGE)
#define MODULES_OFFSET (DEVICES_OFFSET + TRACE_DEVICES * sizeof(struct ibvbuf_trace_device))
#define RECORDS_OFFSET (MODULES_OFFSET + MODULES * sizeof(struct ibvbuf_trace_module))

_Static_assert(sizeof(long) == sizeof(uint64_t), "an offset is one argument of a system call");
_Static_assert(sizeof(struct ibvbuf_trace_header) <= PAGE, "the header has a page");
_Static_assert(sizeof(struct ibvbuf_trace_record) == 128, "as the header says");
_Static_assert(sizeof(struct ibvbuf_trace_device) == 128, "as the header says");
_Static_assert(sizeof(struct ibvbuf_trace_module) == 256, "as the header says");
_Static_assert(RECORDS_OFFSET % PAGE == 0, "records start on a page");

struct trace_file *trace_file_current;

/* Descriptors that take the places of standard ones which the program has closed. */
struct guards {
	int fds[STDERR_FILENO + 1];
	size_t count;
};

/*
 * What the program writes to a standard descriptor that it has closed must not go into the file
 * that takes its number. One of O_PATH cannot be written to, as one that is closed.
 */
static void put_up_guards(struct guards *guards)
{
	int fd, guard;

	guards->count = 0;
	for (fd = 0; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		guard = (int)syscall(SYS_openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC);
		if (guard >= 0)
			guards->fds[guards->count++] = guard;
	}
}

/* Where the program has put one of its own in the meantime, that one stays. */
static void take_down_guards(const struct guards *guards)
{
	size_t i;

	for (i = 0; i < guards->count; i++)
		if (fcntl(guards->fds[i], F_GETFL) & O_PATH)
			syscall(SYS_close, guards->fds[i]);
}

static int open_file(const char *path, int flags)
{
	struct guards guards;
	int fd, error;

	put_up_guards(&guards);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path,
			  flags | O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	error = errno;
	take_down_guards(&guards);
	errno = error;
	return fd;
}

static void close_file(int fd)
{
	int saved_errno = errno;

	syscall(SYS_close, fd);
	errno = saved_errno;
}

/* Space for a part of the file; 0, or the errno of the refusal. */
static int allocate(int fd, uint64_t offset, uint64_t length)
{
	struct quiet quiet;
	int error = 0;

	if (!quiet_begin(&quiet))
		return EAGAIN;
	while (syscall(SYS_fallocate, fd, 0, offset, length) && (error = errno) == EINTR)
		error = 0;
	quiet_end(&quiet);
	return error;
}

/* All iovecs at once are of zeros. */
static void fill_with_zeros(struct iovec *parts, size_t count)
{
	static char zeros[PAGE];

	while (count)
		parts[--count] = (struct iovec){zeros, sizeof(zeros)};
}

/*
 * The same, up to @end, where the file system cannot be asked: what is written has space. What is
 * there already may hold records, so it is appended; threads that do so at the same time append
 * more than is needed.
 */
static int fill(int fd, uint64_t end)
{
	struct iovec parts[64];
	struct stat status;
	struct quiet quiet;
	uint64_t left;
	int error = 0;
	long written;

	if (fstat(fd, &status))
		return errno;
	if (!quiet_begin(&quiet))
		return EAGAIN;
	fill_with_zeros(parts, sizeof(parts) / sizeof(parts[0]));
	left = (uint64_t)status.st_size < end ? end - (uint64_t)status.st_size : 0;
	while (left && !error) {
		/* The last page is whole. */
		uint64_t count = (left + PAGE - 1) / PAGE;

		if (count > sizeof(parts) / sizeof(parts[0]))
			count = sizeof(parts) / sizeof(parts[0]);
		written = syscall(SYS_writev, fd, parts, count);
		if (written > 0)
			left -= (uint64_t)written < left ? (uint64_t)written : left;
		else if (written == 0 || errno != EINTR)
			error = written ? errno : ENOSPC;
	}
	quiet_end(&quiet);
	return error;
}

static bool cannot_be_asked(int error)
{
	return error == EOPNOTSUPP || error == ENOSYS;
}

static uint64_t magic(void)
{
	uint64_t word;

	memcpy(&word, IBVBUF_TRACE_MAGIC, sizeof(word));
	return word;
}

static uint64_t end_of(const struct ibvbuf_trace_header *header, uint64_t slots)
{
	return header->records_offset + slots * header->record_size;
}

/* Whole pages of them: any 64 fill some. */
static uint64_t slots_of_a_step(const struct ibvbuf_trace_header *header)
{
	return TRACE_STEP / header->record_size & ~(uint64_t)63;
}

/*
 * A part that has space, to be stored to; 0 or an errno. What has none yet cannot be touched, by
 * mistake or by a tool that looks at all memory. To have the pages at once saves faults later; not
 * every kernel can, and nothing depends on it.
 */
static int give_access(void *mapped, uint64_t start, uint64_t end)
{
	char *first = (char *)mapped + start;

	if (mprotect(first, end - start, PROT_READ | PROT_WRITE))
		return errno;
	madvise(first, end - start, MADV_POPULATE_WRITE);
	return 0;
}

/* The file, if its name still is its own. */
static int reopen(const struct trace_file *file)
{
	/* acquire: pairs with the release in give_name() */
	const struct trace_file *named = __atomic_load_n(&file->named, __ATOMIC_ACQUIRE);
	const struct trace_file *before;
	struct stat status;
	int fd;

	do {
		before = named;
		fd = open_file(named->path, O_NOCTTY | O_NONBLOCK);
		named = __atomic_load_n(&file->named, __ATOMIC_ACQUIRE);
	} while (fd < 0 && named != before);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &status) && status.st_dev == file->device && status.st_ino == file->inode)
		return fd;
	close_file(fd);
	return -1;
}

/* Give the slots up to @to their space; 0 or an errno. */
static int give_space(const struct trace_file *file, int fd, uint64_t from, uint64_t to)
{
	uint64_t start = end_of(file->header, from);
	uint64_t end = end_of(file->header, to);

	return file->is_filled ? fill(fd, end) : allocate(fd, start, end - start);
}

static int extend(struct trace_file *file)
{
	struct ibvbuf_trace_header *header = file->header;
	uint64_t from, to, seen;
	int fd = reopen(file);
	int error;

	if (fd < 0)
		return errno;
	from = __atomic_load_n(&header->slots_allocated, __ATOMIC_RELAXED);
	to = from + slots_of_a_step(header);
	if (to > header->record_capacity)
		to = header->record_capacity;
	error = give_space(file, fd, from, to);
	close_file(fd);
	if (!error)
		error = give_access(header, end_of(header, from), end_of(header, to));
	if (error)
		return error;
	/* Another thread may have come further. */
	seen = from;
	/* release: pairs with the acquire in recorder.c of who stores to the slots */
	while (seen < to && !__atomic_compare_exchange_n(&header->slots_allocated, &seen, to, true,
							 __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return 0;
}

void trace_file_extend(struct trace_file *file, uint64_t now, bool is_ahead)
{
	int saved_errno = errno;

	if (now < __atomic_load_n(&file->retry_after, __ATOMIC_RELAXED))
		return;
	/* Where several would take more than one step, only who needs it joins in. */
	if (file->is_filled && is_ahead && __atomic_load_n(&file->extending, __ATOMIC_RELAXED))
		return;
	__atomic_add_fetch(&file->extending, 1, __ATOMIC_RELAXED);
	if (extend(file))
		__atomic_store_n(&file->retry_after, now + SECOND, __ATOMIC_RELAXED);
	__atomic_sub_fetch(&file->extending, 1, __ATOMIC_RELAXED);
	errno = saved_errno;
}

static void copy_string(char *to, size_t capacity, const char *from)
{
	size_t length = from ? strlen(from) : 0;

	/* Of what is too long, its end tells more. */
	if (length >= capacity) {
		from += length - (capacity - 1);
		length = capacity - 1;
	}
	if (length)
		memcpy(to, from, length);
	to[length] = '\0';
}

/* What a record takes, in whole cache lines. */
static uint32_t record_size(unsigned int stack_capacity)
{
	size_t size = sizeof(struct ibvbuf_trace_record) + stack_capacity * sizeof(uint64_t);

	return (uint32_t)((size + 63) & ~(size_t)63);
}

static void describe(struct ibvbuf_trace_header *header, uint64_t start)
{
	struct trace_rank rank = trace_rank();
	struct utsname system;
	char program[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

	header->byte_order = IBVBUF_TRACE_BYTE_ORDER;
	header->version_major = IBVBUF_TRACE_VERSION_MAJOR;
	header->version_minor = IBVBUF_TRACE_VERSION_MINOR;
	header->header_size = sizeof(*header);
	header->device_size = sizeof(struct ibvbuf_trace_device);
	header->module_size = sizeof(struct ibvbuf_trace_module);
	header->device_capacity = TRACE_DEVICES;
	header->module_capacity = MODULES;
	header->devices_offset = DEVICES_OFFSET;
	header->modules_offset = MODULES_OFFSET;
	header->records_offset = RECORDS_OFFSET;
	header->start_monotonic = start;
	header->start_realtime =
		trace_clock(CLOCK_REALTIME) - (trace_clock(CLOCK_MONOTONIC) - start);
	header->process = (uint32_t)getpid();
	header->parent = (uint32_t)getppid();
	header->user = geteuid();
	header->rank = rank.rank;
	copy_string(header->rank_variable, sizeof(header->rank_variable), rank.variable);
	copy_string(header->writer, sizeof(header->writer), IBVBUF_VERSION);
	copy_string(header->host, sizeof(header->host), uname(&system) ? "" : system.nodename);
	program[length < 0 ? 0 : length] = '\0';
	copy_string(header->program, sizeof(header->program), program);
	copy_string(header->library, sizeof(header->library), original_library_path());
}

/* ".1" */
static void write_suffix(char *end, unsigned int suffix)
{
	char digits[SUFFIX_ROOM];
	size_t count = 0;

	do
		digits[count++] = (char)('0' + suffix % 10);
	while (suffix /= 10);
	*end++ = '.';
	while (count)
		*end++ = digits[--count];
	*end = '\0';
}

/* The generation whose file some thread is the first to make. */
static bool is_first_to_make(uint64_t generation)
{
	static uint64_t taken;
	uint64_t before = __atomic_load_n(&taken, __ATOMIC_RELAXED);

	return before != generation &&
	       __atomic_compare_exchange_n(&taken, &before, generation, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

/*
 * A file that was not there before; -1 with errno set. Of threads that make one at the same time
 * the first to begin takes the name, and the others one after themselves.
 */
static int create(struct trace_file *file)
{
	unsigned int suffix, last;
	size_t length;
	int fd;

	if (!trace_name_expand(config_get()->trace, file->path, sizeof(file->path) - SUFFIX_ROOM))
		return -1;
	length = strlen(file->path);
	file->has_name = is_first_to_make(file->generation);
	suffix = file->has_name ? 0 : (unsigned int)syscall(SYS_gettid);
	last = suffix + SUFFIXES;
	do {
		if (suffix)
			write_suffix(file->path + length, suffix);
		fd = open_file(file->path, O_CREAT | O_EXCL);
	} while (fd < 0 && errno == EEXIST && ++suffix < last);
	return fd;
}

/* Space for the tables and a first step, and the mapping; 0, or an errno. */
static int furnish(struct trace_file *file, int fd, uint64_t start)
{
	const struct config *config = config_get();
	struct ibvbuf_trace_header layout = {
		.records_offset = RECORDS_OFFSET,
		.record_size = record_size(config->trace_stack),
		.stack_capacity = config->trace_stack,
		.keep = config->trace_keep,
	};
	uint64_t first = slots_of_a_step(&layout);
	struct stat status;
	void *mapped;
	int error;

	layout.record_capacity = config->trace_limit / layout.record_size;
	if (!layout.record_capacity)
		layout.record_capacity = 1;
	if (first > layout.record_capacity)
		first = layout.record_capacity;
	if (fstat(fd, &status))
		return errno;
	file->device = status.st_dev;
	file->inode = status.st_ino;
	file->half_step = slots_of_a_step(&layout) / 2;

	error = allocate(fd, 0, end_of(&layout, first));
	if (cannot_be_asked(error)) {
		file->is_filled = true;
		error = fill(fd, end_of(&layout, first));
	}
	if (error)
		return error;
	/* What has no space yet is mapped, too. */
	mapped = mmap(NULL, end_of(&layout, layout.record_capacity), PROT_NONE, MAP_SHARED, fd, 0);
	if (mapped == MAP_FAILED)
		return errno;
	error = give_access(mapped, 0, end_of(&layout, first));
	if (error) {
		munmap(mapped, end_of(&layout, layout.record_capacity));
		return error;
	}
	file->header = mapped;
	file->devices = (struct ibvbuf_trace_device *)((char *)mapped + DEVICES_OFFSET);
	file->modules = (struct ibvbuf_trace_module *)((char *)mapped + MODULES_OFFSET);
	file->records = (char *)mapped + RECORDS_OFFSET;
	*file->header = layout;
	file->header->slots_allocated = first;
	describe(file->header, start);
	/* Before any record is in it. release: who finds the magic finds the rest of the header */
	__atomic_store_n((uint64_t *)(void *)file->header->magic, magic(), __ATOMIC_RELEASE);
	return 0;
}

/*
 * Of threads that made a file at the same time, the one whose file is kept need not be the one that
 * took the name, which gives it then, in the place of its own file. False for all others.
 */
static bool give_name(struct trace_file *kept, struct trace_file *file)
{
	if (!kept->header || !file->has_name || rename(kept->path, file->path))
		return false;
	/* release: pairs with the acquire in reopen() */
	__atomic_store_n(&kept->named, file, __ATOMIC_RELEASE);
	return true;
}

/* A file that is not wanted; its name may be. */
static void give_up(struct trace_file *kept, struct trace_file *file)
{
	if (file->header)
		munmap(file->header, end_of(file->header, file->header->record_capacity));
	/* What holds the name stays as long as the file. */
	if (give_name(kept, file))
		return;
	unlink(file->path);
	munmap(file, sizeof(*file));
}

/*
 * Nothing is traced in this process; that is no reason to stop it. Its children do not repeat it.
 */
static void report_failure(const struct trace_file *file, int error)
{
	struct text text = {.length = 0};
	static bool said;

	if (config_get()->diagnostics == DIAGNOSTICS_OFF ||
	    __atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		return;
	text_string(&text, "ibvbuf-preload: nothing is traced: ");
	text_string(&text, text_error_name(error));
	/* Last, since a long one is cut. */
	text_string(&text, " for the file '");
	text_string(&text, *file->path ? file->path : config_get()->trace);
	text_string(&text, "'");
	text_end_line(&text);
	report_text(&text);
}

/* Publish what was made; of several threads, the first to finish makes the file of all. */
static struct trace_file *publish(struct trace_file *file)
{
	struct trace_file *current = __atomic_load_n(&trace_file_current, __ATOMIC_ACQUIRE);

	/* Also after another that could make none: what it lacked may be there again. */
	while (!current || current->generation != file->generation ||
	       (!current->header && file->header))
		/* release: pairs with the acquire in trace_file_get() */
		if (__atomic_compare_exchange_n(&trace_file_current, &current, file, false,
						__ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
			return file;
	return current;
}

struct trace_file *trace_file_make(uint64_t generation, uint64_t start)
{
	int saved_errno = errno;
	struct trace_file *file, *published;
	int fd, error = 0;

	file = mmap(NULL, sizeof(*file), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (file == MAP_FAILED) {
		errno = saved_errno;
		return NULL;
	}
	file->generation = generation;
	file->named = file;
	fd = create(file);
	if (fd < 0) {
		error = errno;
	} else {
		error = furnish(file, fd, start);
		close_file(fd);
		if (error)
			unlink(file->path);
	}
	published = publish(file);
	if (published == file) {
		if (error)
			report_failure(file, error);
	} else if (error) {
		munmap(file, sizeof(*file));
	} else {
		give_up(published, file);
	}
	errno = saved_errno;
	return published;
}
