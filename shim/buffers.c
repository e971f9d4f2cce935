// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "buffers.h"
#include "backing.h"
#include "config.h"
#include "domains.h"
#include "fork_protection.h"
#include "handle_table.h"
#include "native_buffers.h"
#include "originals.h"
#include "process.h"
#include "raw_file.h"
#include "report.h"

#include <errno.h>
#include <string.h>

/*
 * The upper 16 bits of a handle. As an address they are outside of what a process can have, on
 * x86-64 (4 and 5 levels) and on aarch64 (48 and 52 bits, the top byte ignored or not).
 */
#define HANDLE_MARK	 (UINT64_C(0x1b5f) << 48)
#define HANDLE_MARK_MASK (UINT64_C(0xffff) << 48)
#define HANDLE_SERIALS	 (UINT64_C(1) << 48)

#define BUFFER_WORDS (sizeof(struct buffer) / sizeof(uint64_t))

_Static_assert(sizeof(struct ibv_buf *) == sizeof(uint64_t), "a handle holds a mark and a serial");
_Static_assert(sizeof(struct buffer) % sizeof(uint64_t) == 0, "a record is whole words");

/* From handle to struct buffer. */
static struct handle_table buffers = HANDLE_TABLE_INITIALIZER(BUFFER_WORDS);

static uint64_t serials_used;

static uint64_t handle_value(const struct ibv_buf *buf)
{
	return (uint64_t)(uintptr_t)buf;
}

static enum handle_state state_if_not_live(uint64_t handle)
{
	uint64_t serial = handle & ~HANDLE_MARK_MASK;

	if ((handle & HANDLE_MARK_MASK) == HANDLE_MARK && serial &&
	    serial <= __atomic_load_n(&serials_used, __ATOMIC_RELAXED))
		return HANDLE_FREED;
	return HANDLE_FOREIGN;
}

/* A handle that was never given out, or 0 after the last of 2^48 - 1. */
static uint64_t next_handle(void)
{
	uint64_t used = __atomic_load_n(&serials_used, __ATOMIC_RELAXED);

	do {
		if (used + 1 >= HANDLE_SERIALS)
			return 0;
	} while (!__atomic_compare_exchange_n(&serials_used, &used, used + 1, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return HANDLE_MARK | (used + 1);
}

static int insert(uint64_t handle, const struct buffer *buffer)
{
	uint64_t record[BUFFER_WORDS];

	memcpy(record, buffer, sizeof(record));
	return handle_table_insert(&buffers, (uintptr_t)handle, record);
}

enum handle_state buffer_find(const struct ibv_buf *buf, struct buffer *buffer)
{
	uint64_t record[BUFFER_WORDS];

	if (!handle_table_lookup(&buffers, (uintptr_t)buf, record))
		return state_if_not_live(handle_value(buf));
	memcpy(buffer, record, sizeof(record));
	return HANDLE_LIVE;
}

/* As buffer_find(), and of several threads only one finds it. */
static enum handle_state take(const struct ibv_buf *buf, struct buffer *buffer)
{
	uint64_t record[BUFFER_WORDS];

	if (!handle_table_remove(&buffers, (uintptr_t)buf, record))
		return state_if_not_live(handle_value(buf));
	memcpy(buffer, record, sizeof(record));
	return HANDLE_LIVE;
}

void *buffer_alloc(struct ibv_pd *pd, size_t size, struct ibv_buf **buf)
{
	original_ibv_alloc_buf_function *native = original(ibv_alloc_buf);
	struct domain_memory source;
	struct backing_memory memory;
	struct buffer buffer;
	int saved_errno = errno;
	bool is_protected = false;
	uint64_t process, handle;
	int error;

	if (native_buffers_are_used())
		return native_buffer_alloc(native, pd, size, buf);
	if (!pd || !buf || !size) {
		errno = EINVAL;
		return NULL;
	}
	/* First: a child that a signal handler makes from now on may not have the memory. */
	process = process_generation();
	source = domain_memory(pd);
	if (source.backing->allocate(source.choice, source.device_fd, size, &memory))
		return NULL;

	if (source.backing->is_private) {
		error = fork_protect(memory.address, memory.length, &is_protected);
		if (error)
			goto err_release;
	}

	buffer = (struct buffer){
		.pd = pd,
		.domain = domain_add_buffer(pd),
		.address = memory.address,
		.size = size,
		.length = memory.length,
		.process = process,
		.kind = (uint16_t)source.backing->kind,
		.is_protected = is_protected,
		.dmabuf_fd = memory.dmabuf_fd,
	};
	handle = next_handle();
	error = handle ? insert(handle, &buffer) : ENOMEM;
	if (error)
		goto err_unprotect;

	*buf = (struct ibv_buf *)(uintptr_t)handle;
	errno = saved_errno;
	return memory.address;

err_unprotect:
	domain_drop_buffer(pd, buffer.domain);
	if (is_protected)
		fork_unprotect(memory.address, memory.length);
err_release:
	backing_release(&memory);
	errno = error;
	return NULL;
}

static void release(const struct buffer *buffer)
{
	struct backing_memory memory = {
		.address = buffer->address,
		.length = buffer->length,
		.dmabuf_fd = buffer->dmabuf_fd,
	};

	domain_drop_buffer(buffer->pd, buffer->domain);
	/*
	 * In a child, memory that was kept from it may have left its place to something else, which
	 * is not ours to unmap.
	 */
	if (buffer->process != process_generation() && fork_may_have_protected()) {
		memory.length = 0;
	} else if (buffer->is_protected) {
		fork_unprotect(memory.address, memory.length);
	}
	backing_release(&memory);
}

/* What buffer_is_shared_memory() looks for, and whether it was found. */
struct range {
	uintptr_t start;
	size_t length;
	bool found;
};

static bool visit_buffer(uintptr_t key, const uint64_t *record, void *argument)
{
	struct range *range = argument;
	struct buffer buffer;
	size_t offset;

	(void)key;
	memcpy(&buffer, record, sizeof(buffer));
	offset = range->start - (uintptr_t)buffer.address;
	range->found = buffer.dmabuf_fd >= 0 && range->start >= (uintptr_t)buffer.address &&
		       offset <= buffer.length && range->length <= buffer.length - offset;
	return !range->found;
}

bool buffer_is_shared_memory(const void *addr, size_t length)
{
	struct range range = {(uintptr_t)addr, length, false};

	handle_table_for_each(&buffers, visit_buffer, &range);
	return range.found;
}

void buffer_free(struct ibv_buf *buf, const void *caller)
{
	original_ibv_free_buf_function *native = original(ibv_free_buf);
	int saved_errno = errno;
	struct buffer buffer;

	config_get();
	if (!buf)
		return;
	switch (take(buf, &buffer)) {
	case HANDLE_LIVE:
		release(&buffer);
		break;
	case HANDLE_FREED:
		report_problem(PROBLEM_FREE_OF_FREED, handle_value(buf), caller);
		break;
	case HANDLE_FOREIGN:
		if (native && native_buffers_are_used())
			native_buffer_free(native, buf);
		else
			report_problem(PROBLEM_FREE_OF_FOREIGN, handle_value(buf), caller);
		break;
	}
	errno = saved_errno;
}

int buffer_export_dmabuf_fd(struct ibv_buf *buf, const void *caller)
{
	int saved_errno = errno;
	struct buffer buffer;
	int fd;

	config_get();
	switch (buffer_find(buf, &buffer)) {
	case HANDLE_LIVE:
		if (buffer.dmabuf_fd < 0) {
			errno = ENODATA;
			return -1;
		}
		fd = raw_duplicate(buffer.dmabuf_fd);
		if (fd >= 0)
			errno = saved_errno;
		return fd;
	case HANDLE_FREED:
		report_problem(PROBLEM_EXPORT_OF_FREED, handle_value(buf), caller);
		break;
	case HANDLE_FOREIGN:
		if (native_buffers_are_used())
			return native_buffer_export_dmabuf_fd(buf, caller);
		if (buf)
			report_problem(PROBLEM_EXPORT_OF_FOREIGN, handle_value(buf), caller);
		break;
	}
	errno = EINVAL;
	return -1;
}
