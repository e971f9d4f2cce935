// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Over a library with buffers of its own: where the configuration says what buffers are made of,
 * they are the shim's.
 */
#define _GNU_SOURCE
#include "configuration.h"
#include "registrations.h"

#include <stdlib.h>
#include <string.h>

Test(native_choice, auto_leaves_buffers_to_the_library)
{
	configure("backing = auto\n");
	ibv_free_buf(make_buffer(100).buf);
	cr_assert_eq(CALLS(ibv_alloc_buf), 1);
	cr_assert_eq(CALLS(ibv_free_buf), 1);
}

Test(native_choice, a_configured_backing_is_the_shims)
{
	struct memory memory;

	configure("backing = anonymous\n");
	memory = make_buffer(KEPT_MOST + 1);
	cr_assert_eq(WORD(memory.address) % page_size(), 0);
	cr_assert(is_mapped(memory.address, page_size()));
	errno = 0;
	cr_assert_eq(ibv_export_buf_dmabuf_fd(memory.buf), -1);
	cr_assert_eq(errno, ENODATA);
	ibv_free_buf(memory.buf);
	cr_assert(is_unmapped(memory.address, page_size()));
	cr_assert_eq(CALLS(ibv_alloc_buf), 0);
	cr_assert_eq(CALLS(ibv_free_buf), 0);
	cr_assert_eq(CALLS(ibv_export_buf_dmabuf_fd), 0);
}

Test(native_choice, it_is_registered_as_plain_memory)
{
	struct registration seen;
	struct memory memory;
	struct ibv_mr *mr;

	configure("backing = anonymous\n");
	memory = make_buffer(100);
	mr = ibv_reg_buf_mr(memory.pd, memory.buf, memory.address + 3, 50, 7);
	cr_assert_not_null(mr);
	cr_assert_eq(CALLS(ibv_reg_buf_mr), 0);
	cr_assert_eq(registrations(), 1);
	seen = last_registration();
	cr_assert(!seen.by_fd);
	cr_assert_eq(seen.addr, WORD(memory.address + 3));
	cr_assert_eq(seen.length, 50);
	cr_assert_eq(seen.access, 7);
	ibv_dereg_mr(mr);
}

Test(native_choice, its_handle_is_checked)
{
	struct ibv_pd *other;
	struct memory memory;

	configure("backing = anonymous\n");
	capture_errors();
	memory = make_buffer(100);
	other = make_domain();
	assert_null_with(EINVAL, ibv_reg_buf_mr(other, memory.buf, memory.address, 1, 0));
	assert_null_with(EINVAL, ibv_reg_buf_mr(memory.pd, memory.buf, memory.address + 99, 2, 0));
	ibv_free_buf(memory.buf);
	assert_null_with(EINVAL, ibv_reg_buf_mr(memory.pd, memory.buf, memory.address, 1, 0));
	ibv_free_buf(memory.buf);
	cr_assert_eq(occurrences(captured_errors(), "freed before"), 2);
	cr_assert_eq(registrations(), 0);
	cr_assert_eq(CALLS(ibv_free_buf), 0);
}

/* The library would follow it. */
Test(native_choice, a_foreign_handle_is_kept_from_the_library)
{
	struct ibv_buf *foreign = (struct ibv_buf *)(uintptr_t)0x1000;
	struct ibv_pd *pd;

	configure("backing = anonymous\n");
	capture_errors();
	pd = make_buffer(100).pd;
	ibv_free_buf(foreign);
	errno = 0;
	cr_assert_eq(ibv_export_buf_dmabuf_fd(foreign), -1);
	cr_assert_eq(errno, EINVAL);
	assert_null_with(EINVAL, ibv_reg_buf_mr(pd, foreign, NULL, 1, 0));
	cr_assert_eq(occurrences(captured_errors(), "0x1000 was never given out"), 3);
	cr_assert_eq(CALLS(ibv_free_buf), 0);
	cr_assert_eq(CALLS(ibv_export_buf_dmabuf_fd), 0);
	cr_assert_eq(CALLS(ibv_reg_buf_mr), 0);
	cr_assert_eq(registrations(), 0);
}

Test(native_choice, a_backing_that_cannot_be_had_fails_with_its_errno)
{
	struct ibv_buf *buf = (struct ibv_buf *)(uintptr_t)0x5eed;

	configure("backing = dma_heap:no such heap\n");
	capture_errors();
	assert_null_with(ENOENT, ibv_alloc_buf(make_domain(), 100, &buf));
	cr_assert_eq(buf, (struct ibv_buf *)(uintptr_t)0x5eed);
	cr_assert_eq(CALLS(ibv_alloc_buf), 0);
	cr_assert_eq(occurrences(captured_errors(), "/dev/dma_heap/no such heap, which"), 1);
}
