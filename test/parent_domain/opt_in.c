// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a provider is asked for, and what is kept from it. */
#include "domains.h"

static struct provider_device device;

Test(opt_in, the_bit_is_taken_off)
{
	struct ibv_pd *pd, *parent;

	place_device(&device, 0);
	pd = new_domain(&device);
	parent = parent_with(&device, pd, ALLOW_UNPROTECTED);
	cr_assert_not_null(parent);
	cr_assert_neq(parent, pd);
	cr_assert_eq(device.parents_made, 1);
	cr_assert_eq(device.seen.comp_mask, 0);
	cr_assert_eq(device.seen.pd, pd);
}

Test(opt_in, the_callers_struct_is_not_written_to)
{
	struct ibv_td *td = (struct ibv_td *)&device;
	struct ibv_parent_domain_init_attr attr, before;

	place_device(&device, 0);
	memset(&attr, 0x5a, sizeof(attr));
	attr.pd = new_domain(&device);
	attr.td = td;
	attr.comp_mask = ALLOW_UNPROTECTED;
	before = attr;
	cr_assert_not_null(ibv_alloc_parent_domain(context_of(&device), &attr));
	cr_assert_eq(memcmp(&attr, &before, sizeof(attr)), 0);
	cr_assert_eq(device.seen.td, td);
}

Test(opt_in, other_unknown_bits_are_the_providers_to_refuse)
{
	struct ibv_pd *pd;

	place_device(&device, 0);
	pd = new_domain(&device);
	assert_fails_with(EINVAL, parent_with(&device, pd, ALLOW_UNPROTECTED | UNKNOWN_BIT));
	cr_assert_eq(device.seen.comp_mask, UNKNOWN_BIT);
	assert_fails_with(EINVAL, parent_with(&device, pd, UNKNOWN_BIT));
	cr_assert_eq(device.seen.comp_mask, UNKNOWN_BIT);
}

Test(opt_in, errno_of_the_provider_passes)
{
	struct ibv_pd *pd;

	place_device(&device, 0);
	pd = new_domain(&device);
	providers_fail(EXDEV);
	assert_fails_with(EXDEV, parent_with(&device, pd, ALLOW_UNPROTECTED));
	assert_fails_with(EXDEV, parent_with(&device, pd, 0));
}

Test(opt_in, errno_is_kept_on_success)
{
	struct ibv_pd *pd;

	pd = domain_in_guest(&device);
	errno = ERRNO_BEFORE;
	cr_assert_not_null(parent_with(&device, pd, ALLOW_UNPROTECTED));
	cr_assert_eq(errno, ERRNO_BEFORE);
}

/* Whatever it holds: fields of a later release may follow, which an unknown bit names. */
Test(opt_in, a_request_without_the_bit_is_passed_as_it_is)
{
	struct ibv_parent_domain_init_attr attr;

	place_device(&device, 0);
	memset(&attr, 0x5a, sizeof(attr));
	attr.pd = new_domain(&device);
	attr.comp_mask = 0;
	cr_assert(is_hooked(&device));
	cr_assert_not_null(ibv_alloc_parent_domain(context_of(&device), &attr));
	cr_assert_eq(device.seen_at, &attr);
	cr_assert_eq(memcmp(&device.seen, &attr, sizeof(attr)), 0);
}

static struct ibv_pd *asking;
static void *context_given;
static unsigned int allocated, freed;
static char memory[64] __attribute__((aligned(16)));

static void *allocate(struct ibv_pd *pd, void *pd_context, size_t size, size_t alignment,
		      uint64_t resource_type)
{
	asking = pd;
	context_given = pd_context;
	allocated++;
	return size == 64 && alignment == 16 && resource_type == 7 ? memory : NULL;
}

static void release(struct ibv_pd *pd, void *pd_context, void *ptr, uint64_t resource_type)
{
	freed += pd == asking && pd_context == context_given && ptr == memory && resource_type == 7;
}

Test(opt_in, custom_allocators_are_passed_on_and_called)
{
	struct ibv_parent_domain_init_attr attr = {
		.comp_mask = ALLOW_UNPROTECTED | IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT,
		.alloc = allocate,
		.free = release,
		.pd_context = &memory,
	};
	struct ibv_pd *parent;

	attr.pd = domain_in_guest(&device);
	parent = ibv_alloc_parent_domain(context_of(&device), &attr);
	cr_assert_not_null(parent);
	cr_assert_eq(device.seen.comp_mask, attr.comp_mask & ~ALLOW_UNPROTECTED);
	cr_assert_eq(allocated, 1);
	cr_assert_eq(freed, 1);
	cr_assert_eq(asking, parent);
	cr_assert_eq(context_given, &memory);
}

Test(opt_in, on_a_device_that_reaches_all_memory_it_is_accepted_and_buffers_are_ordinary)
{
	struct ibv_pd *parent;
	struct ibv_buf *buf;

	place_device(&device, 0);
	parent = parent_with(&device, new_domain(&device), ALLOW_UNPROTECTED);
	cr_assert_not_null(parent);
	cr_assert_not_null(ibv_alloc_buf(parent, 100, &buf));
	errno = 0;
	cr_assert_eq(ibv_export_buf_dmabuf_fd(buf), -1);
	cr_assert_eq(errno, ENODATA);
	cr_assert_eq(heap_openings(), 0);
	ibv_free_buf(buf);
}

Test(opt_in, without_it_buffers_are_ordinary)
{
	struct ibv_pd *pd, *parent;
	struct ibv_buf *buf;

	pd = domain_in_guest(&device);
	parent = parent_with(&device, pd, 0);
	cr_assert_not_null(ibv_alloc_buf(parent, 100, &buf));
	cr_assert_eq(ibv_export_buf_dmabuf_fd(buf), -1);
	ibv_free_buf(buf);
	cr_assert_not_null(ibv_alloc_buf(pd, 100, &buf));
	cr_assert_eq(ibv_export_buf_dmabuf_fd(buf), -1);
	ibv_free_buf(buf);
	cr_assert_eq(heap_openings(), 0);
}
