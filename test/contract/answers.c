// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibv_reg_mr_ex() against the table of the contract: each combination of the mask, with and without
 * a buffer, at each generation.
 */
#include "registrations.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define IOVA	  IBV_REG_MR_MASK_IOVA
#define ADDR	  IBV_REG_MR_MASK_ADDR
#define FD	  IBV_REG_MR_MASK_FD
#define FD_OFFSET IBV_REG_MR_MASK_FD_OFFSET
#define DMAH	  IBV_REG_MR_MASK_DMAH
#define BUF	  IBV_REG_MR_MASK_BUF

/* IBV_ACCESS_RELAXED_ORDERING, one of IBV_ACCESS_OPTIONAL_RANGE. */
#define OPTIONAL_ACCESS (1 << 20)
#define ACCESS		(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | OPTIONAL_ACCESS)

enum answer {
	BY_ADDRESS,
	BY_DMABUF,
	BY_ATTRIBUTES,
	INVALID,
	UNSUPPORTED,
	/* Rows of the table that say both: an invalid combination, with DMAH or an unknown bit. */
	INVALID_OR_UNSUPPORTED,
};

static bool provider_has_reg_mr_ex;

/* What the contract says of a mask without BUF, for a library that leaves it to others. */
static enum answer answer_of_table(uint64_t mask)
{
	uint64_t sources = mask & (ADDR | FD | FD_OFFSET | IOVA);
	bool unknown = mask & ~(uint64_t)(ADDR | FD | FD_OFFSET | IOVA);
	enum answer answer;

	if (sources == ADDR || sources == (ADDR | IOVA))
		answer = BY_ADDRESS;
	else if (sources == (FD | FD_OFFSET | IOVA))
		answer = BY_DMABUF;
	else
		answer = INVALID;
	if (unknown)
		return answer == INVALID ? INVALID_OR_UNSUPPORTED : UNSUPPORTED;
	return answer;
}

/* What it says of a mask with BUF, for an ordinary buffer of that domain and a range inside it. */
static enum answer answer_of_checks(uint64_t mask)
{
	if (!(mask & ADDR) || (mask & FD) || (mask & FD_OFFSET))
		return INVALID;
	if (provider_has_reg_mr_ex)
		return BY_ATTRIBUTES;
	return answer_of_table(mask & ~(uint64_t)BUF);
}

static enum answer answer_of_contract(uint64_t mask, bool iova_is_address)
{
	enum answer answer;

	if (mask & BUF)
		answer = answer_of_checks(mask);
	else
		answer = provider_has_reg_mr_ex ? BY_ATTRIBUTES : answer_of_table(mask);
	if (answer == BY_DMABUF && standin_generation() < 34)
		return UNSUPPORTED;
	if (answer == BY_ADDRESS && standin_generation() < 25 && (mask & IOVA) && !iova_is_address)
		return UNSUPPORTED;
	return answer;
}

static void assert_by_address(const struct ibv_mr_init_attr *attr, struct ibv_pd *pd)
{
	struct registration made = last_registration();
	uint64_t iova = attr->comp_mask & IOVA ? attr->iova : WORD(attr->addr);

	cr_assert_eq(made.pd, WORD(pd));
	cr_assert_eq(made.addr, WORD(attr->addr));
	cr_assert_eq(made.length, attr->length);
	cr_assert_eq(made.iova, iova);
	if (standin_generation() >= 28) {
		cr_assert(CALLS(ibv_reg_mr_iova2));
		cr_assert_eq(made.via, library_registers_by_iova2() ? STANDIN_ibv_reg_mr_iova2
								    : STANDIN_ibv_reg_mr_iova);
		cr_assert_eq(made.access, WORD(ACCESS));
	} else {
		cr_assert_eq(made.via, iova == WORD(attr->addr) ? STANDIN_ibv_reg_mr
								: STANDIN_ibv_reg_mr_iova);
		cr_assert_eq(made.access, WORD(ACCESS & ~OPTIONAL_ACCESS));
	}
}

static void assert_by_dmabuf(const struct ibv_mr_init_attr *attr, struct ibv_pd *pd)
{
	struct registration made = last_registration();

	cr_assert_eq(made.via, STANDIN_ibv_reg_dmabuf_mr);
	cr_assert_eq(made.pd, WORD(pd));
	cr_assert_eq(made.offset, attr->fd_offset);
	cr_assert_eq(made.length, attr->length);
	cr_assert_eq(made.iova, attr->iova);
	cr_assert_eq(made.fd, WORD(attr->fd));
	cr_assert_eq(made.access, WORD(ACCESS));
}

/* As it was given, field by field of the mask; a buffer became its address. */
static void assert_by_attributes(const struct ibv_mr_init_attr *attr, struct ibv_pd *pd)
{
	const struct standin_call *call = standin_last(STANDIN_FUNCTIONS);

	cr_assert_eq(call->function, STANDIN_ibv_reg_mr_ex);
	cr_assert_eq(call->arguments[0], WORD(pd));
	cr_assert_eq(call->attr.comp_mask, attr->comp_mask & ~(uint64_t)BUF);
	cr_assert_eq(call->attr.length, attr->length);
	cr_assert_eq(call->attr.access, attr->access);
	if (attr->comp_mask & IOVA)
		cr_assert_eq(call->attr.iova, attr->iova);
	if (attr->comp_mask & ADDR)
		cr_assert_eq(call->attr.addr, attr->addr);
	if (attr->comp_mask & FD)
		cr_assert_eq(call->attr.fd, attr->fd);
	if (attr->comp_mask & FD_OFFSET)
		cr_assert_eq(call->attr.fd_offset, attr->fd_offset);
	if (attr->comp_mask & DMAH)
		cr_assert_eq(call->attr.dmah, attr->dmah);
}

static void assert_answer(struct ibv_pd *pd, const struct ibv_mr_init_attr *attr)
{
	enum answer expected = answer_of_contract(attr->comp_mask, attr->iova == WORD(attr->addr));
	unsigned long long mask = attr->comp_mask;
	struct ibv_mr_init_attr given;
	uint64_t before = registrations();
	struct ibv_mr *mr;
	int error;

	memcpy(&given, attr, sizeof(given));
	errno = ERRNO_BEFORE;
	mr = ibv_reg_mr_ex(pd, &given);
	error = errno;
	cr_assert_eq(memcmp(&given, attr, sizeof(given)), 0, "mask %#llx: the struct changed",
		     mask);

	switch (expected) {
	case BY_ADDRESS:
		cr_assert_not_null(mr, "mask %#llx: errno %d", mask, error);
		assert_by_address(attr, pd);
		break;
	case BY_DMABUF:
		cr_assert_not_null(mr, "mask %#llx: errno %d", mask, error);
		assert_by_dmabuf(attr, pd);
		break;
	case BY_ATTRIBUTES:
		cr_assert_not_null(mr, "mask %#llx: errno %d", mask, error);
		assert_by_attributes(attr, pd);
		break;
	case INVALID:
		cr_assert_null(mr, "mask %#llx", mask);
		cr_assert_eq(error, EINVAL, "mask %#llx: errno %d", mask, error);
		break;
	case UNSUPPORTED:
		cr_assert_null(mr, "mask %#llx", mask);
		cr_assert_eq(error, EOPNOTSUPP, "mask %#llx: errno %d", mask, error);
		break;
	case INVALID_OR_UNSUPPORTED:
		cr_assert_null(mr, "mask %#llx", mask);
		cr_assert(error == EINVAL || error == EOPNOTSUPP, "mask %#llx: errno %d", mask,
			  error);
		break;
	}
	if (mr) {
		cr_assert_eq(error, ERRNO_BEFORE, "mask %#llx: errno became %d", mask, error);
		ibv_dereg_mr(mr);
	} else if (!library_has(STANDIN_ibv_reg_mr_ex)) {
		cr_assert_eq(registrations(), before);
	}
}

static void assert_all_answers(void)
{
	static const uint64_t unknown[] = {0, UINT64_C(1) << 6, UINT64_C(1) << 31,
					   UINT64_C(1) << 63};
	struct memory memory = make_buffer(5000);
	struct ibv_mr_init_attr attr = {
		.length = 4321,
		.access = ACCESS,
		.fd = open("/dev/null", O_RDONLY | O_CLOEXEC),
		.fd_offset = 8192,
		.dmah = (struct ibv_dmah *)(uintptr_t)0xd0a0,
		.addr = memory.address + 17,
		.buf = memory.buf,
	};
	uint64_t mask;
	size_t i;

	for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		for (mask = 0; mask < 1 << 6; mask++) {
			attr.comp_mask = mask | unknown[i];
			attr.iova = 0xabc000;
			assert_answer(memory.pd, &attr);
			attr.iova = WORD(attr.addr);
			assert_answer(memory.pd, &attr);
		}
	}
	close(attr.fd);
}

/* Every library before 59; at 59 the provider has no such operation. */
Test(supplied_answers, of_all_masks_without_the_operation)
{
	standin_turn(STANDIN_PROVIDER_LACKS_REG_MR_EX, true);
	provider_has_reg_mr_ex = false;
	assert_all_answers();
}

/* One that has the operation, over a kernel that lacks it, says it in another way. */
Test(supplied_answers, of_all_masks_without_the_kernels_help)
{
	static const int errors[] = {EPROTONOSUPPORT, ENOTTY, ENOSYS};
	size_t i;

	provider_has_reg_mr_ex = false;
	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		standin_fail(STANDIN_ibv_reg_mr_ex, errors[i]);
		assert_all_answers();
	}
}

Test(supplied_answers, of_all_masks_with_what_the_provider_has)
{
	provider_has_reg_mr_ex = library_has(STANDIN_ibv_reg_mr_ex);
	assert_all_answers();
}
