// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The rehearsal of a confidential guest, on devices that are in none. */
#include "domains.h"

#include <stdint.h>
#include <string.h>

/* verbs.h makes a macro of it. */
#undef ibv_reg_mr

static struct provider_device device;

/* As rxe: no parent domains. */
static struct ibv_pd *rehearse(void)
{
	setenv("IBVBUF_CC_REHEARSAL", "yes", 1);
	capture_errors();
	place_device(&device, 0);
	device.extended.alloc_parent_domain = NULL;
	heap_offer("udmabuf");
	cr_assert_eq(ibv_open_device(&device.opened.device), context_of(&device));
	return new_domain(&device);
}

Test(rehearsal, a_device_reports_that_it_needs_bounce_buffers)
{
	struct ibv_device_attr_ex attr;

	rehearse();
	device.capabilities = 5;
	cr_assert_eq(ibv_query_device_ex(context_of(&device), NULL, &attr), 0);
	cr_assert_eq(attr.device_cap_flags_ex, 5 | IBV_DEVICE_CC_DMA_BOUNCE);
	cr_assert_eq(occurrences(captured_errors(), "rehearsal"), 1);
}

/* Up to 28 most providers refuse the question, with ENOSYS up to 27. */
Test(rehearsal, a_device_that_cannot_be_asked_reports_it_too)
{
	static const int errors[] = {EOPNOTSUPP, ENOSYS};
	struct ibv_device_attr_ex attr;
	size_t i;

	rehearse();
	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		device.query_error = errors[i];
		memset(&attr, 0xff, sizeof(attr));
		cr_assert_eq(ibv_query_device_ex(context_of(&device), NULL, &attr), 0);
		cr_assert_eq(attr.device_cap_flags_ex, IBV_DEVICE_CC_DMA_BOUNCE);
		cr_assert_eq(attr.orig_attr.vendor_id, LIBRARY_VENDOR);
	}
	device.query_error = EIO;
	cr_assert_eq(ibv_query_device_ex(context_of(&device), NULL, &attr), EIO);
}

Test(rehearsal, such_a_device_has_unprotected_buffers_too)
{
	struct ibv_pd *pd = rehearse();
	struct ibv_buf *buf;

	device.query_error = EOPNOTSUPP;
	pd = parent_with(&device, pd, ALLOW_UNPROTECTED);
	cr_assert_not_null(ibv_alloc_buf(pd, 1, &buf));
	cr_assert_geq(ibv_export_buf_dmabuf_fd(buf), 3);
	ibv_free_buf(buf);
}

/* A device, or a kernel, that cannot register descriptors: the pages of a udmabuf can be pinned. */
Test(rehearsal, without_dma_bufs_a_buffer_is_registered_by_its_address)
{
	static const int errors[] = {EOPNOTSUPP, EPROTONOSUPPORT};
	struct library_registration seen;
	struct ibv_pd *pd = parent_with(&device, rehearse(), ALLOW_UNPROTECTED);
	struct ibv_buf *buf;
	char *address = ibv_alloc_buf(pd, 1, &buf);
	size_t i;

	cr_assert_not_null(address);
	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		library_refuse_dmabuf(errors[i]);
		cr_assert_not_null(ibv_reg_buf_mr(pd, buf, address, 1, 0));
		cr_assert_eq(library_registrations(&seen), i + 1);
		cr_assert_eq(seen.fd, -1);
		cr_assert_eq(seen.addr, address);
	}
	library_refuse_dmabuf(EIO);
	assert_fails_with(EIO, ibv_reg_buf_mr(pd, buf, address, 1, 0));
	ibv_free_buf(buf);
}

Test(rehearsal, a_parent_domain_may_be_the_domain_itself)
{
	struct ibv_pd *pd = rehearse();

	cr_assert_eq(parent_with(&device, pd, ALLOW_UNPROTECTED), pd);
	cr_assert_eq(parent_with(&device, pd, 0), pd);
	cr_assert_eq(library_domains(), 1);
	cr_assert_eq(ibv_dealloc_pd(pd), 0);
	cr_assert_eq(ibv_dealloc_pd(pd), 0);
	cr_assert_eq(library_domains(), 1);
	cr_assert_eq(ibv_dealloc_pd(pd), 0);
	cr_assert_eq(library_domains(), 0);
}

Test(rehearsal, parent_domains_of_two_domains_are_two)
{
	struct ibv_pd *pd = rehearse();
	struct ibv_pd *other = new_domain(&device);

	cr_assert_neq(parent_with(&device, pd, ALLOW_UNPROTECTED),
		      parent_with(&device, other, ALLOW_UNPROTECTED));
}

Test(rehearsal, a_provider_that_answers_eopnotsupp_or_enosys_has_none_either)
{
	struct ibv_pd *pd;

	setenv("IBVBUF_CC_REHEARSAL", "yes", 1);
	capture_errors();
	place_device(&device, 0);
	heap_offer("udmabuf");
	pd = new_domain(&device);
	providers_fail(EOPNOTSUPP);
	cr_assert_eq(parent_with(&device, pd, ALLOW_UNPROTECTED), pd);
	providers_fail(ENOSYS);
	cr_assert_eq(parent_with(&device, pd, ALLOW_UNPROTECTED), pd);
	providers_fail(EPERM);
	assert_fails_with(EPERM, parent_with(&device, pd, ALLOW_UNPROTECTED));
	providers_fail(0);
	cr_assert_neq(parent_with(&device, pd, ALLOW_UNPROTECTED), pd);
}

Test(rehearsal, bits_that_nobody_knows_are_refused)
{
	assert_fails_with(EINVAL, parent_with(&device, rehearse(), UNKNOWN_BIT));
}

Test(rehearsal, buffers_are_udmabufs)
{
	struct ibv_pd *pd = rehearse();
	struct library_registration seen;
	struct ibv_buf *buf;
	char *address;

	pd = parent_with(&device, pd, ALLOW_UNPROTECTED);
	address = ibv_alloc_buf(pd, 5000, &buf);
	cr_assert_not_null(address);
	cr_assert_geq(ibv_export_buf_dmabuf_fd(buf), 3);
	cr_assert_not_null(ibv_reg_buf_mr(pd, buf, address, 5000, 0));
	cr_assert_eq(library_registrations(&seen), 1);
	cr_assert_geq(seen.fd, 0);
	/* A plain registration of such memory is one that a guest allows. */
	cr_assert_not_null(ibv_reg_mr(pd, address + 10, 20, 0));
	assert_fails_with(EOPNOTSUPP, ibv_reg_mr(pd, address + 10, 8192, 0));
	ibv_free_buf(buf);
	assert_fails_with(EOPNOTSUPP, ibv_reg_mr(pd, address + 10, 20, 0));
}

Test(rehearsal, nothing_is_left_of_a_missing_udmabuf)
{
	static struct possessions before;
	struct ibv_pd *pd = rehearse();

	parent_with(&device, pd, ALLOW_UNPROTECTED);
	ibv_dealloc_pd(pd);
	heap_offer(NULL);
	pd = new_domain(&device);
	note_possessions(&before);
	assert_fails_with(ENOENT, parent_with(&device, pd, ALLOW_UNPROTECTED));
	assert_possessions(&before);
}

/* In the dynamic symbol table, for the test to find what was called from where. */
struct ibv_mr *register_protected_memory(struct ibv_pd *pd);
__attribute__((noinline)) struct ibv_mr *register_protected_memory(struct ibv_pd *pd)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, &device, 100, 0);

	__asm__ volatile("" : : "r"(mr));
	return mr;
}

Test(rehearsal, who_registers_protected_memory_is_named_once_a_place)
{
	struct ibv_pd *pd = rehearse();
	int i;

	for (i = 0; i < 3; i++)
		assert_fails_with(EOPNOTSUPP, register_protected_memory(pd));
	cr_assert_eq(library_registrations(NULL), 0);
	cr_assert_eq(occurrences(captured_errors(), "protected in a confidential guest"), 1);
	assert_names_caller(strstr(captured_errors(), "registration of"),
			    (const void *)register_protected_memory);
	assert_fails_with(EOPNOTSUPP, ibv_reg_mr_iova2(pd, &device, 100, 0, 0));
	cr_assert_eq(occurrences(captured_errors(), "protected in a confidential guest"), 2);
}

Test(rehearsal, protected_memory_cannot_be_registered_anew_either)
{
	struct ibv_pd *pd = parent_with(&device, rehearse(), ALLOW_UNPROTECTED);
	struct ibv_buf *buf;
	char *address = ibv_alloc_buf(pd, 4096, &buf);
	struct ibv_mr *mr = ibv_reg_buf_mr(pd, buf, address, 4096, 0);

	cr_assert_not_null(mr);
	errno = 0;
	cr_assert_eq(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, &device, 100, 0),
		     IBV_REREG_MR_ERR_INPUT);
	cr_assert_eq(errno, EOPNOTSUPP);
	cr_assert_neq(mr->addr, &device);
	cr_assert_eq(occurrences(captured_errors(), "protected in a confidential guest"), 1);
	cr_assert_eq(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, &device, 100, 0), 0);
	cr_assert_eq(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, address, 100, 0), 0);
}

Test(rehearsal, off_is_the_default)
{
	struct ibv_device_attr_ex attr;
	struct ibv_pd *pd;

	place_device(&device, 0);
	pd = new_domain(&device);
	cr_assert_eq(ibv_query_device_ex(context_of(&device), NULL, &attr), 0);
	cr_assert_eq(attr.device_cap_flags_ex, 0);
	cr_assert_not_null(register_protected_memory(pd));
}

static struct ibv_cq_init_attr_ex queue_seen;
static struct ibv_cq_ex queue;

static struct ibv_cq_ex *create_queue(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	(void)context;
	queue_seen = *attr;
	return &queue;
}

Test(rehearsal, a_completion_queue_may_name_a_parent_domain)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 10,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
	};
	struct ibv_pd *pd, *parent;

	setenv("IBVBUF_CC_REHEARSAL", "yes", 1);
	capture_errors();
	place_device(&device, 0);
	device.extended.alloc_parent_domain = NULL;
	device.extended.create_cq_ex = create_queue;
	heap_offer("udmabuf");
	pd = new_domain(&device);
	parent = parent_with(&device, pd, ALLOW_UNPROTECTED);
	attr.parent_domain = parent;
	cr_assert_eq(ibv_create_cq_ex(context_of(&device), &attr), &queue);
	cr_assert_eq(queue_seen.cqe, 10);
	cr_assert_eq(queue_seen.comp_mask, 0);
	/* One that is none is the provider's to refuse. */
	attr.parent_domain = new_domain(&device);
	cr_assert_eq(ibv_create_cq_ex(context_of(&device), &attr), &queue);
	cr_assert_eq(queue_seen.comp_mask, IBV_CQ_INIT_ATTR_MASK_PD);
	cr_assert_eq(queue_seen.parent_domain, attr.parent_domain);
}
