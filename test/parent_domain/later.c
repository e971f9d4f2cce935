// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Over a library with buffers of its own: its providers know the opt-in, and keep it, also where
 * the configuration makes the buffers the shim's.
 */
#define _GNU_SOURCE
#include "domains.h"

static struct provider_device device;

Test(later, nothing_is_hooked_and_the_buffers_are_the_librarys)
{
	struct ibv_pd *pd = domain_in_guest(&device);
	struct ibv_buf *buf;

	assert_fails_with(EXDEV, ibv_alloc_buf(pd, 100, &buf));
	cr_assert_not(is_hooked(&device));
}

Test(later, the_provider_is_shown_the_opt_in)
{
	struct ibv_pd *pd;

	setenv("IBVBUF_BACKING", "anonymous", 1);
	place_device(&device, 0);
	pd = new_domain(&device);
	cr_assert(is_hooked(&device));
	assert_fails_with(EINVAL, parent_with(&device, pd, ALLOW_UNPROTECTED));
	cr_assert_eq(device.seen.comp_mask, ALLOW_UNPROTECTED);
	providers_know(ALLOW_UNPROTECTED);
	cr_assert_not_null(parent_with(&device, pd, ALLOW_UNPROTECTED));
	cr_assert_eq(device.seen.comp_mask, ALLOW_UNPROTECTED);
}

Test(later, buffers_of_ordinary_domains_are_as_configured)
{
	struct ibv_buf *buf;
	struct ibv_pd *pd;

	setenv("IBVBUF_BACKING", "udmabuf", 1);
	place_device(&device, 0);
	heap_offer("udmabuf");
	pd = new_domain(&device);
	cr_assert_not_null(ibv_alloc_buf(pd, 5000, &buf));
	cr_assert_eq(heap_allocations(), 1);
	cr_assert_geq(ibv_export_buf_dmabuf_fd(buf), 3);
	ibv_free_buf(buf);
}

Test(later, buffers_of_domains_that_opted_in_come_from_the_heap)
{
	struct ibv_pd *pd, *parent;
	struct ibv_buf *buf;

	setenv("IBVBUF_BACKING", "anonymous", 1);
	pd = domain_in_guest(&device);
	providers_know(ALLOW_UNPROTECTED);
	parent = parent_with(&device, pd, ALLOW_UNPROTECTED);
	cr_assert_not_null(parent);
	cr_assert_eq(heap_openings(), 1);
	cr_assert_not_null(ibv_alloc_buf(parent, 5000, &buf));
	cr_assert_eq(heap_allocations(), 1);
	ibv_free_buf(buf);
	cr_assert_eq(ibv_dealloc_pd(parent), 0);
}

Test(later, a_rehearsal_keeps_the_opt_in_from_the_provider)
{
	struct ibv_pd *pd;

	setenv("IBVBUF_CC_REHEARSAL", "yes", 1);
	capture_errors();
	place_device(&device, 0);
	heap_offer("udmabuf");
	pd = new_domain(&device);
	cr_assert_not_null(parent_with(&device, pd, ALLOW_UNPROTECTED));
	cr_assert_eq(device.seen.comp_mask, 0);
}
