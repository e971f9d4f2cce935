// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What errno is after calls that succeed: what it was before, also when the library changes it. */
#include "contract.h"

/* The first call of a process finds the originals and reads the configuration. */
#define ASSERT_KEEPS_ERRNO(call)                                                                   \
	do {                                                                                       \
		errno = ERRNO_BEFORE;                                                              \
		call;                                                                              \
		cr_assert_eq(errno, ERRNO_BEFORE, "errno is %d after " #call, errno);              \
	} while (0)

Test(any_errno, is_kept_by_the_first_call)
{
	ASSERT_KEEPS_ERRNO(ibv_free_buf(NULL));
}

Test(any_errno, is_kept_by_the_domain_calls)
{
	struct ibv_context context = {0};
	struct ibv_pd *pd;

	ASSERT_KEEPS_ERRNO(pd = ibv_alloc_pd(&context));
	ASSERT_KEEPS_ERRNO(ibv_dealloc_pd(pd));
}

Test(any_errno, is_kept_by_all_buffer_calls)
{
	struct ibv_pd *pd = make_domain();
	struct ibv_buf *buf;
	struct ibv_mr *mr;
	void *address;

	ASSERT_KEEPS_ERRNO(address = ibv_alloc_buf(pd, 100, &buf));
	ASSERT_KEEPS_ERRNO(mr = ibv_reg_buf_mr(pd, buf, address, 100, 0));
	cr_assert_not_null(mr);
	ibv_dereg_mr(mr);
	ASSERT_KEEPS_ERRNO(ibv_free_buf(buf));
	ASSERT_KEEPS_ERRNO(ibv_free_buf(NULL));
}

Test(supplied_errno, is_kept_by_the_domain_calls_although_the_table_is_new)
{
	struct ibv_context context = {0};

	ASSERT_KEEPS_ERRNO(ibv_alloc_pd(&context));
}

Test(supplied_errno, is_kept_by_alloc_although_the_library_changes_it)
{
	struct ibv_pd *pd = make_domain();
	struct ibv_buf *buf;

	standin_turn(STANDIN_CHANGES_ERRNO, true);
	ASSERT_KEEPS_ERRNO(ibv_alloc_buf(pd, 100, &buf));
}

Test(supplied_errno, is_kept_by_free_although_the_library_changes_it)
{
	struct memory memory = make_buffer(1);

	standin_turn(STANDIN_CHANGES_ERRNO, true);
	ASSERT_KEEPS_ERRNO(ibv_free_buf(memory.buf));
}

Test(supplied_errno, is_kept_by_reg_buf_mr_although_the_library_changes_it)
{
	struct memory memory = make_buffer(100);
	struct ibv_mr *mr;

	standin_turn(STANDIN_CHANGES_ERRNO, true);
	ASSERT_KEEPS_ERRNO(mr = ibv_reg_buf_mr(memory.pd, memory.buf, memory.address, 100, 0));
	ibv_dereg_mr(mr);
}

Test(supplied_errno, is_kept_by_reg_mr_ex_although_the_library_changes_it)
{
	char memory[100];
	struct ibv_mr_init_attr attr = {
		.length = sizeof(memory),
		.comp_mask = IBV_REG_MR_MASK_ADDR,
		.addr = memory,
	};
	struct ibv_pd *pd = make_domain();
	struct ibv_mr *mr;

	standin_turn(STANDIN_CHANGES_ERRNO, true);
	ASSERT_KEEPS_ERRNO(mr = ibv_reg_mr_ex(pd, &attr));
	ibv_dereg_mr(mr);
}

Test(supplied_errno, is_kept_by_reg_mr_ex_although_the_provider_lacks_it)
{
	char memory[100];
	struct ibv_mr_init_attr attr = {
		.length = sizeof(memory),
		.comp_mask = IBV_REG_MR_MASK_ADDR,
		.addr = memory,
	};
	struct ibv_pd *pd = make_domain();
	struct ibv_mr *mr;

	standin_turn(STANDIN_PROVIDER_LACKS_REG_MR_EX, true);
	ASSERT_KEEPS_ERRNO(mr = ibv_reg_mr_ex(pd, &attr));
	ibv_dereg_mr(mr);
}

Test(supplied_errno, is_kept_by_free_of_what_is_not_live)
{
	struct memory memory = make_buffer(1);

	capture_errors();
	ibv_free_buf(memory.buf);
	ASSERT_KEEPS_ERRNO(ibv_free_buf(memory.buf));
	ASSERT_KEEPS_ERRNO(ibv_free_buf((struct ibv_buf *)(uintptr_t)1));
}
