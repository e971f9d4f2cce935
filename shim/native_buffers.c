// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * rdma-core 64 allocates buffers but cannot export them, and its handle is its own secret. So the
 * address of each is remembered here. Where the kernel says that a file is mapped there, that file
 * is the DMA-buf, and the library holds a descriptor of it: it is the one with the same inode.
 */
#define _GNU_SOURCE
#include "native_buffers.h"
#include "config.h"
#include "handle_table.h"
#include "mapping.h"
#include "report.h"

#include <errno.h>

/* From a handle of the library to the address of its buffer; in use with 64 only. */
static struct handle_table addresses = HANDLE_TABLE_INITIALIZER(1);

bool native_buffers_are_used(void)
{
	return original(ibv_alloc_buf) && !config_get()->cc_rehearsal &&
	       config_get()->backing.kind == BACKING_AUTO;
}

void *native_buffer_alloc(original_ibv_alloc_buf_function *native, struct ibv_pd *pd, size_t size,
			  struct ibv_buf **buf)
{
	int saved_errno = errno;
	uint64_t address, old;
	void *allocated = native(pd, size, buf);

	if (!allocated || original(ibv_export_buf_dmabuf_fd))
		return allocated;
	address = (uintptr_t)allocated;
	handle_table_remove(&addresses, (uintptr_t)*buf, &old);
	/* Without memory for the record the buffer works; it cannot be exported. */
	handle_table_insert(&addresses, (uintptr_t)*buf, &address);
	errno = saved_errno;
	return allocated;
}

void native_buffer_free(original_ibv_free_buf_function *native, struct ibv_buf *buf)
{
	uint64_t address;

	/* Before the call: after it, another thread may be given the handle. */
	handle_table_remove(&addresses, (uintptr_t)buf, &address);
	native(buf);
}

int native_buffer_export_dmabuf_fd(struct ibv_buf *buf, const void *caller)
{
	original_ibv_export_buf_dmabuf_fd_function *native = original(ibv_export_buf_dmabuf_fd);
	uint64_t address;

	if (native)
		return native(buf);
	if (handle_table_lookup(&addresses, (uintptr_t)buf, &address))
		return mapping_duplicate_file((const void *)(uintptr_t)address);
	if (buf)
		report_problem(PROBLEM_EXPORT_OF_FOREIGN, (uintptr_t)buf, caller);
	errno = EINVAL;
	return -1;
}
