// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "trace_file.h"
#include "config.h"
#include "originals.h"
#include "process.h"
#include "raw_file.h"
#include "report.h"
#include "trace_clock.h"
#include "trace_name.h"
#include "trace_space.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define MODULES	 256
#define PAGE	 4096
#define SUFFIXES 1000

#define DEVICES_OFFSET ((uint64_t)PAGE)
#define MODULES_OFFSET (DEVICES_OFFSET + TRACE_DEVICES * sizeof(struct ibvbuf_trace_device))
#define RECORDS_OFFSET (MODULES_OFFSET + MODULES * sizeof(struct ibvbuf_trace_module))

_Static_assert(sizeof(struct ibvbuf_trace_header) <= PAGE, "the header has a page");
_Static_assert(sizeof(struct ibvbuf_trace_record) == 128, "as the header says");
_Static_assert(sizeof(struct ibvbuf_trace_device) == 128, "as the header says");
_Static_assert(sizeof(struct ibvbuf_trace_module) == 256, "as the header says");
_Static_assert(RECORDS_OFFSET % PAGE == 0, "records start on a page");

struct trace_file *trace_file_current;

static uint64_t magic(void)
{
	uint64_t word;

	memcpy(&word, IBVBUF_TRACE_MAGIC, sizeof(word));
	return word;
}

/* What a record takes, in whole cache lines. */
static uint32_t record_size(unsigned int stack_capacity)
{
	size_t size = sizeof(struct ibvbuf_trace_record) + stack_capacity * sizeof(uint64_t);

	return (uint32_t)((size + 63) & ~(size_t)63);
}

static void describe(struct ibvbuf_trace_header *header, uint64_t start)
{
	const char *library = original_library_path();
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
	header->process = (uint32_t)process_id();
	header->parent = (uint32_t)getppid();
	header->user = geteuid();
	header->rank = rank.rank;
	trace_name_copy(header->rank_variable, sizeof(header->rank_variable), rank.variable);
	trace_name_copy(header->writer, sizeof(header->writer), IBVBUF_VERSION);
	trace_name_copy(header->host, sizeof(header->host), uname(&system) ? "" : system.nodename);
	program[length < 0 ? 0 : length] = '\0';
	trace_name_copy(header->program, sizeof(header->program), program);
	trace_name_copy(header->library, sizeof(header->library), library ? library : "");
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

	if (!trace_name_expand(config_get()->trace, file->path,
			       sizeof(file->path) - TRACE_NAME_SUFFIX))
		return -1;
	length = strlen(file->path);
	file->has_name = is_first_to_make(file->generation);
	suffix = file->has_name ? 0 : (unsigned int)syscall(SYS_gettid);
	last = suffix + SUFFIXES;
	do {
		if (suffix)
			trace_name_add_suffix(file->path + length, suffix);
		fd = raw_open(file->path, TRACE_FILE_FLAGS | O_CREAT | O_EXCL, 0600);
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
	uint64_t first = trace_space_step(&layout);
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
	file->half_step = trace_space_step(&layout) / 2;

	error = trace_space_take(fd, 0, trace_space_end(&layout, first), &file->is_filled);
	if (error)
		return error;
	/* What has no space yet is mapped, too. */
	mapped = mmap(NULL, trace_space_end(&layout, layout.record_capacity), PROT_NONE, MAP_SHARED,
		      fd, 0);
	if (mapped == MAP_FAILED)
		return errno;
	error = trace_space_open(mapped, 0, trace_space_end(&layout, first));
	if (error) {
		munmap(mapped, trace_space_end(&layout, layout.record_capacity));
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
		munmap(file->header, trace_space_end(file->header, file->header->record_capacity));
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
		raw_close(fd);
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
