// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which domain a buffer is of, where the shim has to know. */
#include "registrations.h"

Test(supplied_domains, another_domain_at_the_same_address_is_another_domain)
{
	struct memory memory = make_buffer(100);
	struct ibv_pd *next;

	capture_errors();
	cr_assert_eq(ibv_dealloc_pd(memory.pd), 0);
	next = make_domain();
	cr_assert_eq(next, memory.pd, "the address did not come again: the test tests nothing");
	assert_null_with(EINVAL, ibv_reg_buf_mr(next, memory.buf, memory.address, 100, 0));
}

Test(supplied_domains, a_deallocated_domain_is_no_domain)
{
	struct memory memory = make_buffer(100);

	capture_errors();
	cr_assert_eq(ibv_dealloc_pd(memory.pd), 0);
	assert_null_with(EINVAL, ibv_reg_buf_mr(memory.pd, memory.buf, memory.address, 100, 0));
}

Test(supplied_domains, a_new_domain_has_buffers_of_its_own)
{
	struct memory memory = make_buffer(100);
	struct memory next;

	capture_errors();
	cr_assert_eq(ibv_dealloc_pd(memory.pd), 0);
	next = make_buffer(100);
	cr_assert_eq(next.pd, memory.pd);
	cr_assert(is_registrable(&next));
	ibv_free_buf(memory.buf);
	cr_assert(is_registrable(&next));
}

Test(supplied_domains, the_others_stay_when_one_goes)
{
	struct memory older = make_buffer(100);
	struct memory going = make_buffer(100);
	struct memory newer;

	capture_errors();
	cr_assert_eq(ibv_dealloc_pd(going.pd), 0);
	newer = make_buffer(100);
	cr_assert(is_registrable(&older));
	cr_assert(is_registrable(&newer));
	assert_null_with(EINVAL, ibv_reg_buf_mr(going.pd, going.buf, going.address, 100, 0));
	cr_assert_eq(ibv_dealloc_pd(older.pd), 0);
	assert_null_with(EINVAL, ibv_reg_buf_mr(older.pd, older.buf, older.address, 100, 0));
	cr_assert(is_registrable(&newer));
}

Test(supplied_domains, a_deallocation_that_fails_changes_nothing)
{
	struct memory memory = make_buffer(100);

	capture_errors();
	standin_fail(STANDIN_ibv_dealloc_pd, EBUSY);
	cr_assert_eq(ibv_dealloc_pd(memory.pd), EBUSY);
	cr_assert(is_registrable(&memory));
	standin_fail(STANDIN_ibv_dealloc_pd, 0);
	cr_assert_eq(ibv_dealloc_pd(memory.pd), 0);
	assert_null_with(EINVAL, ibv_reg_buf_mr(memory.pd, memory.buf, memory.address, 100, 0));
}

static struct memory made_meanwhile;

static void make_meanwhile(const struct standin_call *call)
{
	made_meanwhile = make_buffer_in((struct ibv_pd *)(uintptr_t)call->arguments[0], 100);
}

/* Because others use the domain, who may go on to do so. */
Test(supplied_domains, a_buffer_made_while_a_deallocation_fails_is_one_of_it)
{
	struct memory memory = make_buffer(100);

	standin_interrupt(STANDIN_ibv_dealloc_pd, make_meanwhile);
	standin_fail(STANDIN_ibv_dealloc_pd, EBUSY);
	cr_assert_eq(ibv_dealloc_pd(memory.pd), EBUSY);
	cr_assert(is_registrable(&made_meanwhile));
	cr_assert(is_registrable(&memory));
	ibv_free_buf(made_meanwhile.buf);
	ibv_free_buf(memory.buf);
}

static void make_another_there(const struct standin_call *call)
{
	(void)call;
	made_meanwhile = make_buffer(100);
}

/* The library has let go of the domain, and the thread that asked it to has yet to note it. */
Test(supplied_domains, one_may_be_made_at_the_address_of_one_that_is_just_going)
{
	struct memory memory = make_buffer(100);

	capture_errors();
	standin_interrupt(STANDIN_ibv_unimport_pd, make_another_there);
	if (!library_has(STANDIN_ibv_unimport_pd))
		return;
	standin_turn(STANDIN_GIVES_DOMAINS_FIRST, true);
	ibv_unimport_pd(memory.pd);
	cr_assert_eq(made_meanwhile.pd, memory.pd);
	cr_assert(is_registrable(&made_meanwhile));
	assert_null_with(EINVAL, ibv_reg_buf_mr(memory.pd, memory.buf, memory.address, 100, 0));
}

Test(supplied_domains, a_domain_that_the_shim_did_not_see_has_buffers_too)
{
	struct ibv_context context = {0};
	struct ibv_pd parent = {.context = &context};
	struct memory memory = make_buffer_in(&parent, 100);

	cr_assert(is_registrable(&memory));
	assert_null_with(EINVAL, ibv_reg_buf_mr(make_domain(), memory.buf, memory.address, 100, 0));
	ibv_free_buf(memory.buf);
}

/* A parent domain and the one it was made from, say. */
Test(supplied_domains, two_domains_that_the_shim_did_not_see_are_two)
{
	struct ibv_pd parents[2] = {{0}};
	struct memory memory = make_buffer_in(&parents[0], 100);

	assert_null_with(EINVAL, ibv_reg_buf_mr(&parents[1], memory.buf, memory.address, 100, 0));
	cr_assert(is_registrable(&memory));
	ibv_free_buf(memory.buf);
}

Test(supplied_domains, one_that_goes_before_its_buffers_is_reported)
{
	struct memory memory = make_buffer(100);

	capture_errors();
	cr_assert_eq(ibv_dealloc_pd(memory.pd), 0);
	cr_assert_eq(occurrences(captured_errors(), "deallocated while buffers of it live"), 1);
	cr_assert_eq(occurrences(captured_errors(), "\n"), 1);
}

Test(supplied_domains, one_that_goes_after_its_buffers_is_not)
{
	struct memory memory = make_buffer(100);

	capture_errors();
	ibv_free_buf(memory.buf);
	cr_assert_eq(ibv_dealloc_pd(memory.pd), 0);
	cr_assert_str_eq(captured_errors(), "");
}

Test(supplied_domains, an_imported_one_has_buffers)
{
	struct ibv_context context = {0};
	struct ibv_pd *pd = ibv_import_pd(&context, 77);
	struct memory memory;

	if (!library_has(STANDIN_ibv_import_pd)) {
		cr_assert_null(pd);
		return;
	}
	cr_assert_eq(ARGUMENT(ibv_import_pd, 0), WORD(&context));
	cr_assert_eq(ARGUMENT(ibv_import_pd, 1), 77);
	memory = make_buffer_in(pd, 100);
	cr_assert(is_registrable(&memory));
	capture_errors();
	ibv_unimport_pd(pd);
	cr_assert_eq(CALLS(ibv_unimport_pd), 1);
	cr_assert_eq(make_domain(), pd, "the address did not come again: the test tests nothing");
	assert_null_with(EINVAL, ibv_reg_buf_mr(pd, memory.buf, memory.address, 100, 0));
}

Test(any_domains, devices_are_the_librarys)
{
	struct ibv_context *context;

	context = ibv_open_device((struct ibv_device *)(uintptr_t)0x1234);
	cr_assert_not_null(context);
	cr_assert_eq(CALLS(ibv_open_device), 1);
	cr_assert_eq(ARGUMENT(ibv_open_device, 0), 0x1234);
	cr_assert_eq(ibv_close_device(context), 0);
	standin_fail(STANDIN_ibv_open_device, EACCES);
	assert_null_with(EACCES, ibv_open_device(NULL));
}

Test(any_domains, the_library_makes_and_unmakes_them)
{
	struct ibv_context context = {0};
	struct ibv_pd *pd = ibv_alloc_pd(&context);

	cr_assert_eq(CALLS(ibv_alloc_pd), 1);
	cr_assert_eq(ARGUMENT(ibv_alloc_pd, 0), WORD(&context));
	cr_assert_eq(pd->context, &context);
	cr_assert_eq(ibv_dealloc_pd(pd), 0);
	cr_assert_eq(CALLS(ibv_dealloc_pd), 1);
	cr_assert_eq(ARGUMENT(ibv_dealloc_pd, 0), WORD(pd));
}

Test(any_domains, failures_of_the_library_pass_through)
{
	struct ibv_pd *pd = make_domain();

	standin_fail(STANDIN_ibv_alloc_pd, EPERM);
	assert_null_with(EPERM, ibv_alloc_pd(pd->context));
	standin_fail(STANDIN_ibv_dealloc_pd, EIO);
	cr_assert_eq(ibv_dealloc_pd(pd), EIO);
}

Test(any_domains, many_come_and_go)
{
	struct ibv_pd *pd[40];
	int round;
	size_t i;

	for (round = 0; round < REPEATS(100); round++) {
		for (i = 0; i < 40; i++)
			pd[i] = make_domain();
		for (i = 0; i < 40; i++)
			cr_assert_eq(ibv_dealloc_pd(pd[(i + (size_t)round) % 40]), 0);
	}
	cr_assert_eq(CALLS(ibv_alloc_pd), 40 * REPEATS(100));
	cr_assert_eq(CALLS(ibv_dealloc_pd), 40 * REPEATS(100));
}
