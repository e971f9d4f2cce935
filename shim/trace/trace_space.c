// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "trace_space.h"
#include "populate.h"
#include "quiet.h"
#include "raw_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define BLOCK  4096
#define SECOND UINT64_C(1000000000)

_Static_assert(sizeof(long) == sizeof(uint64_t), "an offset is one argument of a system call");

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
	static char zeros[BLOCK];

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
		/* The last block is whole. */
		uint64_t count = (left + BLOCK - 1) / BLOCK;

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

int trace_space_take(int fd, uint64_t start, uint64_t end, bool *is_filled)
{
	int error;

	if (!__atomic_load_n(is_filled, __ATOMIC_RELAXED)) {
		error = allocate(fd, start, end - start);
		if (error != EOPNOTSUPP && error != ENOSYS)
			return error;
		__atomic_store_n(is_filled, true, __ATOMIC_RELAXED);
	}
	return fill(fd, end);
}

int trace_space_open(void *mapped, uint64_t start, uint64_t end)
{
	/* A page that holds the end of what was open before is open already. */
	uint64_t first = start & ~((uint64_t)getpagesize() - 1);
	char *part = (char *)mapped + first;

	if (mprotect(part, end - first, PROT_READ | PROT_WRITE))
		return errno;
	populate(part, end - first);
	return 0;
}

uint64_t trace_space_end(const struct ibvbuf_trace_header *header, uint64_t slots)
{
	return header->records_offset + slots * header->record_size;
}

uint64_t trace_space_step(const struct ibvbuf_trace_header *header)
{
	return TRACE_STEP / header->record_size;
}

/* The file, if its name still is its own; -1 with errno set. */
static int reopen(const struct trace_file *file)
{
	/* acquire: pairs with the release in give_name() */
	const struct trace_file *named = __atomic_load_n(&file->named, __ATOMIC_ACQUIRE);
	const struct trace_file *before;
	struct stat status;
	int error = ESTALE;
	int fd;

	do {
		before = named;
		fd = raw_open(named->path, TRACE_FILE_FLAGS | O_NOCTTY | O_NONBLOCK, 0);
		named = __atomic_load_n(&file->named, __ATOMIC_ACQUIRE);
	} while (fd < 0 && named != before);
	if (fd < 0)
		return -1;
	if (fstat(fd, &status))
		error = errno;
	else if (status.st_dev == file->device && status.st_ino == file->inode)
		return fd;
	raw_close(fd);
	errno = error;
	return -1;
}

static int extend(struct trace_file *file)
{
	struct ibvbuf_trace_header *header = file->header;
	uint64_t from, to, seen, start, end;
	int fd = reopen(file);
	int error;

	if (fd < 0)
		return errno;
	from = __atomic_load_n(&header->slots_allocated, __ATOMIC_RELAXED);
	to = from + trace_space_step(header);
	if (to > header->record_capacity)
		to = header->record_capacity;
	start = trace_space_end(header, from);
	end = trace_space_end(header, to);
	error = trace_space_take(fd, start, end, &file->is_filled);
	raw_close(fd);
	if (!error)
		error = trace_space_open(header, start, end);
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

void trace_space_extend(struct trace_file *file, uint64_t now, bool is_ahead)
{
	bool is_filled = __atomic_load_n(&file->is_filled, __ATOMIC_RELAXED);
	int saved_errno = errno;

	if (now < __atomic_load_n(&file->retry_after, __ATOMIC_RELAXED))
		return;
	/* Where several would take more than one step, only who needs it joins in. */
	if (is_filled && is_ahead && __atomic_load_n(&file->extending, __ATOMIC_RELAXED))
		return;
	__atomic_add_fetch(&file->extending, 1, __ATOMIC_RELAXED);
	if (extend(file))
		__atomic_store_n(&file->retry_after, now + SECOND, __ATOMIC_RELAXED);
	__atomic_sub_fetch(&file->extending, 1, __ATOMIC_RELAXED);
	errno = saved_errno;
}
