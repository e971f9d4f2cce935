// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The struct of ibv_reg_mr_ex() is read where its mask says so, and written nowhere; and what the
 * library answers is what the program gets.
 */
#include "registrations.h"

#include <string.h>
#include <sys/mman.h>

/* Where the struct of rdma-core 59 to 63 ends. */
#define SHORT_STRUCT offsetof(struct ibv_mr_init_attr, buf)

static char plain[4096];

static struct ibv_mr_init_attr attr_of_plain(void)
{
	return (struct ibv_mr_init_attr){
		.length = sizeof(plain),
		.comp_mask = IBV_REG_MR_MASK_ADDR,
		.addr = plain,
	};
}

/* The first bytes of a struct, at the very end of a page that cannot be written; none follows. */
static struct ibv_mr_init_attr *guarded(const struct ibv_mr_init_attr *attr, size_t length)
{
	char *pages = mmap(NULL, 2 * page_size(), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *place = pages + page_size() - length;

	cr_assert_neq(pages, MAP_FAILED);
	memcpy(place, attr, length);
	cr_assert_eq(mprotect(pages, page_size(), PROT_READ), 0);
	cr_assert_eq(mprotect(pages + page_size(), page_size(), PROT_NONE), 0);
	return (struct ibv_mr_init_attr *)(void *)place;
}

static void assert_registers(struct ibv_pd *pd, struct ibv_mr_init_attr *attr)
{
	struct ibv_mr *mr = ibv_reg_mr_ex(pd, attr);

	cr_assert_not_null(mr, "errno %d", errno);
	ibv_dereg_mr(mr);
}

Test(supplied_attributes, are_not_written_when_it_succeeds)
{
	struct ibv_mr_init_attr attr = attr_of_plain();

	assert_registers(make_domain(), guarded(&attr, sizeof(attr)));
}

Test(supplied_attributes, are_not_written_with_a_buffer)
{
	struct memory memory = make_buffer(100);
	struct ibv_mr_init_attr attr = {
		.length = 100,
		.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_BUF,
		.addr = memory.address,
		.buf = memory.buf,
	};

	assert_registers(memory.pd, guarded(&attr, sizeof(attr)));
}

Test(supplied_attributes, are_not_written_when_it_fails)
{
	struct ibv_mr_init_attr attr = attr_of_plain();
	struct ibv_pd *pd = make_domain();
	uint64_t mask;

	standin_turn(STANDIN_PROVIDER_LACKS_REG_MR_EX, true);
	standin_fail(STANDIN_ibv_reg_mr, EFAULT);
	standin_fail(STANDIN_ibv_reg_mr_iova, EFAULT);
	standin_fail(STANDIN_ibv_reg_mr_iova2, EFAULT);
	standin_fail(STANDIN_ibv_reg_dmabuf_mr, EFAULT);
	for (mask = 0; mask < 1 << 7; mask++) {
		attr.comp_mask = mask;
		cr_assert_null(ibv_reg_mr_ex(pd, guarded(&attr, sizeof(attr))));
	}
}

Test(any_attributes, of_59_end_before_the_buffer)
{
	struct ibv_mr_init_attr attr = attr_of_plain();
	struct ibv_pd *pd = make_domain();

	assert_registers(pd, guarded(&attr, SHORT_STRUCT));
}

Test(supplied_attributes, of_59_end_before_the_buffer_whatever_the_mask)
{
	struct ibv_mr_init_attr attr = attr_of_plain();
	struct ibv_pd *pd = make_domain();
	struct ibv_mr *mr;
	uint64_t mask;

	for (mask = 0; mask < 1 << 7; mask++) {
		if (mask & IBV_REG_MR_MASK_BUF)
			continue;
		attr.comp_mask = mask;
		mr = ibv_reg_mr_ex(pd, guarded(&attr, SHORT_STRUCT));
		if (mr)
			ibv_dereg_mr(mr);
	}
	standin_turn(STANDIN_PROVIDER_LACKS_REG_MR_EX, true);
	attr.comp_mask = IBV_REG_MR_MASK_ADDR;
	assert_registers(pd, guarded(&attr, SHORT_STRUCT));
}

/* No provider can look at a field that was not given. */
Test(supplied_attributes, that_were_not_given_reach_nobody)
{
	struct ibv_mr_init_attr attr;
	struct ibv_mr *mr;

	memset(&attr, 0xee, sizeof(attr));
	attr.length = sizeof(plain);
	attr.access = 0;
	attr.comp_mask = IBV_REG_MR_MASK_ADDR;
	attr.addr = plain;
	mr = ibv_reg_mr_ex(make_domain(), &attr);
	cr_assert_not_null(mr);
	cr_assert_eq(last_registration().iova, WORD(plain));
	if (last_registration().via == STANDIN_ibv_reg_mr_ex) {
		cr_assert_eq(standin_last(STANDIN_ibv_reg_mr_ex)->attr.fd_offset, 0);
		cr_assert_null(standin_last(STANDIN_ibv_reg_mr_ex)->attr.dmah);
	}
	ibv_dereg_mr(mr);
}

Test(supplied_attributes, that_were_not_given_with_a_buffer_reach_nobody)
{
	struct memory memory = make_buffer(100);
	struct ibv_mr_init_attr attr;
	struct ibv_mr *mr;

	memset(&attr, 0xee, sizeof(attr));
	attr.length = 100;
	attr.access = 0;
	attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_BUF;
	attr.addr = memory.address;
	attr.buf = memory.buf;
	mr = ibv_reg_mr_ex(memory.pd, &attr);
	cr_assert_not_null(mr);
	cr_assert_eq(last_registration().iova, WORD(memory.address));
	if (last_registration().via == STANDIN_ibv_reg_mr_ex) {
		cr_assert_eq(standin_last(STANDIN_ibv_reg_mr_ex)->attr.fd_offset, 0);
		cr_assert_null(standin_last(STANDIN_ibv_reg_mr_ex)->attr.dmah);
	}
	ibv_dereg_mr(mr);
}

Test(supplied_attributes, null_ones_are_refused)
{
	assert_null_with(EINVAL, ibv_reg_mr_ex(make_domain(), NULL));
}

Test(supplied_attributes, with_a_null_domain_are_refused)
{
	struct ibv_mr_init_attr attr = attr_of_plain();

	assert_null_with(EINVAL, ibv_reg_mr_ex(NULL, &attr));
}

static const int errors[] = {EPERM,  ENOMEM, EACCES, EFAULT,	 EBUSY, EINVAL,
			     EMFILE, ENOSYS, EBADF,  EOPNOTSUPP, EIO,	ENOSPC};

static void assert_error_passes(enum standin_function function, struct ibv_mr_init_attr *attr)
{
	struct ibv_pd *pd = make_domain();
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		standin_fail(function, errors[i]);
		assert_null_with(errors[i], ibv_reg_mr_ex(pd, attr));
	}
	cr_assert_eq(standin_count(function), sizeof(errors) / sizeof(errors[0]));
}

Test(supplied_failures, of_registration_by_address_pass_through)
{
	struct ibv_mr_init_attr attr = attr_of_plain();

	standin_turn(STANDIN_PROVIDER_LACKS_REG_MR_EX, true);
	assert_error_passes(library_has(STANDIN_ibv_reg_mr_iova2) ? STANDIN_ibv_reg_mr_iova2
								  : STANDIN_ibv_reg_mr,
			    &attr);
}

Test(supplied_failures, of_registration_with_an_iova_pass_through)
{
	struct ibv_mr_init_attr attr = attr_of_plain();

	attr.comp_mask |= IBV_REG_MR_MASK_IOVA;
	attr.iova = 0x1000;
	standin_turn(STANDIN_PROVIDER_LACKS_REG_MR_EX, true);
	if (library_has(STANDIN_ibv_reg_mr_iova))
		assert_error_passes(library_has(STANDIN_ibv_reg_mr_iova2) ? STANDIN_ibv_reg_mr_iova2
									  : STANDIN_ibv_reg_mr_iova,
				    &attr);
}

static struct ibv_mr_init_attr attr_of_fd(int fd)
{
	return (struct ibv_mr_init_attr){
		.length = sizeof(plain),
		.comp_mask = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_IOVA,
		.fd = fd,
	};
}

Test(supplied_failures, of_registration_by_dmabuf_pass_through)
{
	struct ibv_mr_init_attr attr = attr_of_fd(0);

	standin_turn(STANDIN_PROVIDER_LACKS_REG_MR_EX, true);
	if (library_has(STANDIN_ibv_reg_dmabuf_mr))
		assert_error_passes(STANDIN_ibv_reg_dmabuf_mr, &attr);
	else
		assert_null_with(EOPNOTSUPP, ibv_reg_mr_ex(make_domain(), &attr));
}

Test(supplied_failures, of_the_probe_with_fd_minus_1_pass_through)
{
	struct ibv_mr_init_attr attr = attr_of_fd(-1);

	standin_turn(STANDIN_PROVIDER_LACKS_REG_MR_EX, true);
	capture_errors();
	assert_null_with(library_has(STANDIN_ibv_reg_dmabuf_mr) ? EBADF : EOPNOTSUPP,
			 ibv_reg_mr_ex(make_domain(), &attr));
	cr_assert_str_eq(captured_errors(), "");
}

/* What says that there is no such operation means that the older calls are to be tried. */
Test(supplied_failures, of_registration_by_attributes_pass_through)
{
	static const int unsupported[] = {EOPNOTSUPP, ENOSYS, EPROTONOSUPPORT, ENOTTY};
	struct ibv_mr_init_attr attr = attr_of_plain();
	struct ibv_pd *pd = make_domain();
	size_t i;

	if (!library_has(STANDIN_ibv_reg_mr_ex))
		return;
	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (errors[i] == EOPNOTSUPP || errors[i] == ENOSYS)
			continue;
		standin_fail(STANDIN_ibv_reg_mr_ex, errors[i]);
		assert_null_with(errors[i], ibv_reg_mr_ex(pd, &attr));
		cr_assert_eq(registrations(), CALLS(ibv_reg_mr_ex));
	}
	for (i = 0; i < sizeof(unsupported) / sizeof(unsupported[0]); i++) {
		standin_fail(STANDIN_ibv_reg_mr_ex, unsupported[i]);
		assert_registers(pd, &attr);
	}
}

Test(supplied_failures, of_a_buffers_registration_pass_through)
{
	struct memory memory = make_buffer(100);
	size_t i;

	standin_turn(STANDIN_PROVIDER_LACKS_REG_MR_EX, true);
	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		standin_fail(STANDIN_ibv_reg_mr, errors[i]);
		standin_fail(STANDIN_ibv_reg_mr_iova2, errors[i]);
		assert_null_with(errors[i], ibv_reg_buf_mr(memory.pd, memory.buf, memory.address,
							   memory.size, 0));
	}
}
