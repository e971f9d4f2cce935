// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How often the library is asked for its fork support, and when its answer is final.
 */
#include "registrations.h"

/* How often the library has been asked after ten buffers more. */
static uint64_t asked_after_ten_buffers(void)
{
	int i;

	for (i = 0; i < 10; i++)
		ibv_free_buf(make_buffer(1).buf);
	return CALLS(ibv_is_fork_initialized);
}

/* The library opens a socket to answer. */
Test(supplied_fork_status, fork_support_is_asked_for_once)
{
	if (!library_has(STANDIN_ibv_is_fork_initialized))
		return;
	standin_turn(STANDIN_FORK_SUPPORT, true);
	cr_assert_eq(asked_after_ten_buffers(), 1);
}

Test(supplied_fork_status, fork_support_may_come_until_memory_was_registered)
{
	struct memory memory;
	uint64_t asked;

	if (!library_has(STANDIN_ibv_is_fork_initialized))
		return;
	ibv_free_buf(make_buffer(1).buf);
	cr_assert_eq(CALLS(ibv_dontfork_range), 0);
	standin_turn(STANDIN_FORK_SUPPORT, true);
	memory = make_buffer(1);
	cr_assert_eq(CALLS(ibv_dontfork_range), 1);
	ibv_free_buf(memory.buf);
	asked = CALLS(ibv_is_fork_initialized);
	cr_assert_eq(asked_after_ten_buffers(), asked);
}

Test(supplied_fork_status, without_fork_support_it_is_asked_for_until_memory_was_registered)
{
	struct memory memory;
	uint64_t asked;

	if (!library_has(STANDIN_ibv_is_fork_initialized))
		return;
	ibv_free_buf(make_buffer(1).buf);
	asked = CALLS(ibv_is_fork_initialized);
	memory = make_buffer(1);
	cr_assert_gt(CALLS(ibv_is_fork_initialized), asked);
	cr_assert(is_registrable(&memory));
	ibv_free_buf(memory.buf);
	ibv_free_buf(make_buffer(1).buf);
	asked = CALLS(ibv_is_fork_initialized);
	cr_assert_eq(asked_after_ten_buffers(), asked);
}

/* The library takes neither for a registration after which ibv_fork_init() is refused. */
Test(supplied_fork_status, memory_on_demand_and_dma_bufs_leave_fork_support_open)
{
	struct ibv_mr_init_attr dmabuf = {
		.length = page_size(),
		.access = IBV_ACCESS_LOCAL_WRITE,
		.comp_mask = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_IOVA,
	};
	struct memory memory = make_buffer(page_size());
	struct ibv_mr *on_demand;

	on_demand = ibv_reg_buf_mr(memory.pd, memory.buf, memory.address, memory.size,
				   IBV_ACCESS_ON_DEMAND);
	cr_assert_eq(ibv_dereg_mr(on_demand), 0);
	on_demand = ibv_reg_mr(memory.pd, memory.address, memory.size, IBV_ACCESS_ON_DEMAND);
	cr_assert_eq(ibv_dereg_mr(on_demand), 0);
	if (library_has(STANDIN_ibv_reg_dmabuf_mr))
		cr_assert_eq(ibv_dereg_mr(ibv_reg_mr_ex(memory.pd, &dmabuf)), 0);
	standin_turn(STANDIN_FORK_SUPPORT, true);
	make_buffer(1);
	cr_assert_eq(ARGUMENT(ibv_dontfork_range, 1), page_size());
}

/*
 * It has registrations protected all the same, if ibv_fork_init() was called, before 51. What asks
 * for protection counts as a registration.
 */
Test(supplied_fork_status, where_it_is_not_needed_the_library_is_not_asked_to_protect)
{
	if (!library_has(STANDIN_ibv_is_fork_initialized))
		return;
	standin_turn(STANDIN_FORK_SUPPORT, true);
	standin_turn(STANDIN_FORK_UNNEEDED, true);
	ibv_free_buf(make_buffer(1).buf);
	cr_assert_eq(CALLS(ibv_dontfork_range), 0);
	cr_assert_eq(CALLS(ibv_dofork_range), 0);
}

/* The library counts: what was not protected must not be unprotected. */
Test(supplied_fork_status, what_was_not_protected_is_not_unprotected)
{
	struct memory memory;

	if (!library_has(STANDIN_ibv_is_fork_initialized))
		return;
	memory = make_buffer(1);
	standin_turn(STANDIN_FORK_SUPPORT, true);
	ibv_free_buf(memory.buf);
	cr_assert_eq(CALLS(ibv_dofork_range), 0);
}
