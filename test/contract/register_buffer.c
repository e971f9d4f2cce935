// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Registration of buffers: the checks of the contract, and what the library is asked to do. Each
 * check is tried with all later ones violated as well.
 */
#include "registrations.h"

#define SIZE 10000

#define ALL_LATER_MASKS (IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_IOVA)

static struct ibv_mr_init_attr attr_of(const struct memory *memory)
{
	return (struct ibv_mr_init_attr){
		.length = memory->size,
		.access = IBV_ACCESS_LOCAL_WRITE,
		.comp_mask = IBV_REG_MR_MASK_BUF | IBV_REG_MR_MASK_ADDR,
		.addr = memory->address,
		.buf = memory->buf,
	};
}

static void assert_invalid(struct ibv_pd *pd, struct ibv_mr_init_attr attr)
{
	uint64_t before = registrations();

	assert_null_with(EINVAL, ibv_reg_mr_ex(pd, &attr));
	cr_assert_eq(registrations(), before, "the library was asked nevertheless");
}

Test(supplied_register, check_1_an_unknown_handle)
{
	struct memory memory = make_buffer(SIZE);
	struct ibv_mr_init_attr attr = attr_of(&memory);

	capture_errors();
	attr.buf = (struct ibv_buf *)memory.address;
	assert_invalid(memory.pd, attr);
	cr_assert_eq(occurrences(captured_errors(), "never given out"), 1);
}

Test(supplied_register, check_1_a_null_handle)
{
	struct memory memory = make_buffer(SIZE);
	struct ibv_mr_init_attr attr = attr_of(&memory);

	attr.buf = NULL;
	assert_invalid(memory.pd, attr);
}

Test(supplied_register, check_1_a_freed_handle)
{
	struct memory memory = make_buffer(SIZE);

	capture_errors();
	ibv_free_buf(memory.buf);
	assert_invalid(memory.pd, attr_of(&memory));
	cr_assert_eq(occurrences(captured_errors(), "freed before"), 1);
}

Test(supplied_register, check_1_comes_before_all_others)
{
	struct memory memory = make_buffer(SIZE);
	struct ibv_mr_init_attr attr = attr_of(&memory);

	capture_errors();
	ibv_free_buf(memory.buf);
	attr.comp_mask = IBV_REG_MR_MASK_BUF | ALL_LATER_MASKS;
	attr.addr = NULL;
	assert_invalid(NULL, attr);
	cr_assert_eq(occurrences(captured_errors(), "freed before"), 1);
}

/* What comes after is a fault of the call, not of the handle, and is not reported. */
Test(supplied_register, check_2_another_domain)
{
	struct memory memory = make_buffer(SIZE);

	capture_errors();
	assert_invalid(make_domain(), attr_of(&memory));
	cr_assert_str_eq(captured_errors(), "");
}

Test(supplied_register, check_2_a_null_domain)
{
	struct memory memory = make_buffer(SIZE);

	assert_invalid(NULL, attr_of(&memory));
}

Test(supplied_register, check_2_with_all_later_ones)
{
	struct memory memory = make_buffer(SIZE);
	struct ibv_mr_init_attr attr = attr_of(&memory);

	attr.comp_mask = IBV_REG_MR_MASK_BUF | ALL_LATER_MASKS;
	attr.addr = NULL;
	assert_invalid(make_domain(), attr);
}

Test(supplied_register, check_3_without_an_address)
{
	struct memory memory = make_buffer(SIZE);
	struct ibv_mr_init_attr attr = attr_of(&memory);

	attr.comp_mask = IBV_REG_MR_MASK_BUF;
	assert_invalid(memory.pd, attr);
}

Test(supplied_register, check_3_with_all_later_ones)
{
	struct memory memory = make_buffer(SIZE);
	struct ibv_mr_init_attr attr = attr_of(&memory);

	attr.comp_mask = IBV_REG_MR_MASK_BUF | ALL_LATER_MASKS;
	attr.addr = NULL;
	assert_invalid(memory.pd, attr);
}

Test(supplied_register, check_4_with_all_later_ones)
{
	struct memory memory = make_buffer(SIZE);
	struct ibv_mr_init_attr attr = attr_of(&memory);

	attr.comp_mask |= ALL_LATER_MASKS;
	attr.length++;
	assert_invalid(memory.pd, attr);
}

Test(supplied_register, check_5_an_fd)
{
	struct memory memory = make_buffer(SIZE);
	struct ibv_mr_init_attr attr = attr_of(&memory);

	attr.comp_mask |= IBV_REG_MR_MASK_FD;
	assert_invalid(memory.pd, attr);
}

Test(supplied_register, check_5_an_fd_offset)
{
	struct memory memory = make_buffer(SIZE);
	struct ibv_mr_init_attr attr = attr_of(&memory);

	attr.comp_mask |= IBV_REG_MR_MASK_FD_OFFSET;
	assert_invalid(memory.pd, attr);
}

Test(supplied_register, check_5_with_all_later_ones)
{
	struct memory memory = make_buffer(SIZE);
	struct ibv_mr_init_attr attr = attr_of(&memory);

	attr.comp_mask |= ALL_LATER_MASKS;
	assert_invalid(memory.pd, attr);
}

/* Registers [offset, offset + length) of a buffer of SIZE bytes by both calls. */
static void assert_range(size_t offset, size_t length, bool is_inside)
{
	struct memory memory = make_buffer(SIZE);
	struct ibv_mr_init_attr attr = attr_of(&memory);
	struct registration made;
	struct ibv_mr *mr;

	attr.addr = (void *)(WORD(memory.address) + offset);
	attr.length = length;
	if (!is_inside) {
		assert_invalid(memory.pd, attr);
		assert_null_with(EINVAL,
				 ibv_reg_buf_mr(memory.pd, memory.buf, attr.addr, length, 0));
		cr_assert_eq(registrations(), 0);
		return;
	}
	mr = ibv_reg_mr_ex(memory.pd, &attr);
	cr_assert_not_null(mr);
	made = last_registration();
	cr_assert_eq(made.addr, WORD(attr.addr));
	cr_assert_eq(made.length, length);
	ibv_dereg_mr(mr);
	mr = ibv_reg_buf_mr(memory.pd, memory.buf, attr.addr, length, 0);
	cr_assert_not_null(mr);
	made = last_registration();
	cr_assert_eq(made.addr, WORD(attr.addr));
	cr_assert_eq(made.length, length);
	ibv_dereg_mr(mr);
}

Test(supplied_range, all_of_it)
{
	assert_range(0, SIZE, true);
}

Test(supplied_range, parts_of_it)
{
	assert_range(0, 1, true);
	assert_range(1, SIZE - 1, true);
	assert_range(4096, 4096, true);
	assert_range(SIZE - 1, 1, true);
}

Test(supplied_range, length_0_inside)
{
	assert_range(0, 0, true);
	assert_range(SIZE - 1, 0, true);
	assert_range(SIZE, 0, true);
}

Test(supplied_range, length_0_outside)
{
	assert_range(SIZE + 1, 0, false);
	assert_range(-(size_t)1, 0, false);
}

/* The page goes on; the size that was asked for does not. */
Test(supplied_range, one_byte_past_the_size_that_was_asked_for)
{
	assert_range(0, SIZE + 1, false);
	assert_range(SIZE, 1, false);
	assert_range(SIZE - 1, 2, false);
}

Test(supplied_range, before_the_start)
{
	assert_range(-(size_t)1, 1, false);
	assert_range(-(size_t)1, 2, false);
	assert_range(-(size_t)1, SIZE, false);
	assert_range(-(size_t)SIZE, SIZE, false);
}

Test(supplied_range, sums_that_wrap)
{
	assert_range(0, SIZE_MAX, false);
	assert_range(1, SIZE_MAX, false);
	assert_range(SIZE - 1, SIZE_MAX, false);
	assert_range(SIZE, SIZE_MAX, false);
	assert_range(1, SIZE_MAX - 1, false);
	assert_range(SIZE, SIZE_MAX - SIZE + 1, false);
	assert_range(SIZE_MAX / 2, SIZE_MAX / 2 + 2, false);
	assert_range(-(size_t)1, SIZE_MAX, false);
}

Test(supplied_range, the_null_address)
{
	struct memory memory = make_buffer(SIZE);
	struct ibv_mr_init_attr attr = attr_of(&memory);

	attr.addr = NULL;
	assert_invalid(memory.pd, attr);
	attr.length = 0;
	assert_invalid(memory.pd, attr);
	attr.length = SIZE_MAX;
	assert_invalid(memory.pd, attr);
}

Test(supplied_range, the_address_of_another_buffer_of_the_domain)
{
	struct memory memory = make_buffer(SIZE);
	struct memory other = make_buffer_in(memory.pd, SIZE);
	struct ibv_mr_init_attr attr = attr_of(&memory);

	attr.addr = other.address;
	assert_invalid(memory.pd, attr);
}

Test(supplied_register, reg_buf_mr_passes_all_that_it_was_given)
{
	struct memory memory = make_buffer(SIZE);
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	struct ibv_mr *mr = ibv_reg_buf_mr(memory.pd, memory.buf, memory.address + 7, 99, access);
	struct registration made = last_registration();

	cr_assert_not_null(mr);
	cr_assert_eq(registrations(), 1);
	cr_assert_eq(made.pd, WORD(memory.pd));
	cr_assert_eq(made.addr, WORD(memory.address + 7));
	cr_assert_eq(made.length, 99);
	cr_assert_eq(made.iova, WORD(memory.address + 7));
	cr_assert_eq(made.access, WORD(access));
	cr_assert(!made.by_fd);
	ibv_dereg_mr(mr);
}

Test(supplied_register, a_buffer_may_have_an_iova_of_its_own)
{
	struct memory memory = make_buffer(SIZE);
	struct ibv_mr_init_attr attr = attr_of(&memory);
	struct ibv_mr *mr;

	attr.comp_mask |= IBV_REG_MR_MASK_IOVA;
	attr.iova = 0x123456789000;
	if (!library_has(STANDIN_ibv_reg_mr_iova)) {
		assert_null_with(EOPNOTSUPP, ibv_reg_mr_ex(memory.pd, &attr));
		return;
	}
	mr = ibv_reg_mr_ex(memory.pd, &attr);
	cr_assert_not_null(mr);
	cr_assert(last_registration().has_iova);
	cr_assert_eq(last_registration().iova, 0x123456789000);
	cr_assert_eq(last_registration().addr, WORD(memory.address));
	ibv_dereg_mr(mr);
}

Test(supplied_register, the_same_buffer_as_often_as_one_likes)
{
	struct memory memory = make_buffer(SIZE);
	struct ibv_mr *mr[50];
	size_t i;

	for (i = 0; i < 50; i++) {
		mr[i] = ibv_reg_buf_mr(memory.pd, memory.buf, memory.address + i, 1, 0);
		cr_assert_not_null(mr[i]);
	}
	cr_assert_eq(registrations(), 50);
	for (i = 0; i < 50; i++)
		ibv_dereg_mr(mr[i]);
}

/* The handle is no part of what the library gets to see: it would not know it. */
Test(supplied_register, the_library_never_sees_the_handle)
{
	struct memory memory = make_buffer(SIZE);
	const struct standin_call *call;
	struct ibv_mr *mr = ibv_reg_buf_mr(memory.pd, memory.buf, memory.address, SIZE, 0);

	cr_assert_not_null(mr);
	call = standin_last(STANDIN_ibv_reg_mr_ex);
	if (call) {
		cr_assert_eq(call->attr.comp_mask & IBV_REG_MR_MASK_BUF, 0);
		cr_assert_neq(call->attr.buf, memory.buf);
	}
	ibv_dereg_mr(mr);
}
