// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What is recorded of each call that a symbol leads to. */
#define _GNU_SOURCE
#include "recorder.h"

#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ADDRESS	       ((void *)0x7000100)
#define OTHER_ADDRESS  ((void *)0x9000200)
#define LENGTH	       4321
#define OTHER_LENGTH   8765
#define IOVA	       UINT64_C(0xabc0000100)
#define ACCESS	       (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ)
#define LARGEST_NUMBER 22

static struct ibv_pd *pd;

/* A domain whose record is behind us. */
static void begin(void)
{
	trace_this_process();
	pd = ibv_alloc_pd(fresh_device());
	cr_assert_not_null(pd);
	next_record(IBVBUF_TRACE_ALLOC_PD);
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* What is the same in the records of all calls in the domain. */
static void assert_call_in_domain(const struct ibvbuf_trace_record *record)
{
	cr_assert_eq(record->pd, WORD(pd));
	cr_assert_eq(record->device, 0);
	cr_assert_eq(record->thread, (uint32_t)syscall(SYS_gettid));
	cr_assert_neq(record->caller, 0);
	cr_assert_eq(record->stack_used, 0);
}

static void assert_made(const struct ibvbuf_trace_record *record, const struct ibv_mr *mr)
{
	assert_call_in_domain(record);
	cr_assert_eq(record->error, 0);
	cr_assert_eq(record->object, WORD(mr));
	cr_assert_eq(record->lkey, mr->lkey);
	cr_assert_eq(record->rkey, mr->rkey);
	cr_assert_eq(record->handle, mr->handle);
}

static void assert_failed(const struct ibvbuf_trace_record *record, int error)
{
	assert_call_in_domain(record);
	cr_assert_eq(record->error, error, "error %d", record->error);
	cr_assert_eq(record->object, 0);
	cr_assert_eq(record->lkey, 0);
	cr_assert_eq(record->rkey, 0);
}

static void assert_range(const struct ibvbuf_trace_record *record, const void *address,
			 uint64_t length, uint64_t iova)
{
	cr_assert_eq(record->address, WORD(address));
	cr_assert_eq(record->length, length);
	cr_assert_eq(record->iova, iova);
}

static void assert_no_buffer(const struct ibvbuf_trace_record *record)
{
	cr_assert_eq(record->buffer, 0);
	cr_assert_eq(record->backing, IBVBUF_TRACE_BACKING_NONE);
	cr_assert_eq(record->fd, -1);
	cr_assert_eq(record->offset, 0);
}

Test(any_records, reg_mr)
{
	struct ibvbuf_trace_record record;
	struct ibv_mr *mr;

	begin();
	mr = ibv_reg_mr(pd, ADDRESS, LENGTH, ACCESS);
	record = next_record(IBVBUF_TRACE_REG_MR);
	assert_made(&record, mr);
	assert_range(&record, ADDRESS, LENGTH, WORD(ADDRESS));
	assert_no_buffer(&record);
	cr_assert_eq(record.access, ACCESS);
	cr_assert_eq(record.mask, 0);
}

Test(any_records, reg_mr_iova)
{
	struct ibvbuf_trace_record record;
	struct ibv_mr *mr;

	begin();
	errno = 0;
	mr = ibv_reg_mr_iova(pd, ADDRESS, LENGTH, IOVA, ACCESS);
	record = next_record(IBVBUF_TRACE_REG_MR_IOVA);
	if (mr)
		assert_made(&record, mr);
	else
		assert_failed(&record, EOPNOTSUPP);
	cr_assert_eq(mr == NULL, standin_generation() < 25);
	cr_assert_eq(errno, mr ? 0 : EOPNOTSUPP);
	assert_range(&record, ADDRESS, LENGTH, IOVA);
	assert_no_buffer(&record);
	cr_assert_eq(record.access, ACCESS);
}

Test(any_records, reg_mr_iova2)
{
	struct ibvbuf_trace_record record;
	struct ibv_mr *mr;

	begin();
	mr = ibv_reg_mr_iova2(pd, ADDRESS, LENGTH, WORD(ADDRESS),
			      ACCESS | IBV_ACCESS_RELAXED_ORDERING);
	record = next_record(IBVBUF_TRACE_REG_MR_IOVA2);
	assert_made(&record, mr);
	assert_range(&record, ADDRESS, LENGTH, WORD(ADDRESS));
	assert_no_buffer(&record);
	cr_assert_eq(record.access, ACCESS | IBV_ACCESS_RELAXED_ORDERING);
}

Test(any_records, reg_dmabuf_mr)
{
	int fd = dup(STDERR_FILENO);
	struct ibvbuf_trace_record record;
	struct ibv_mr *mr;

	begin();
	mr = ibv_reg_dmabuf_mr(pd, 0x3000, LENGTH, IOVA, fd, ACCESS);
	record = next_record(IBVBUF_TRACE_REG_DMABUF_MR);
	if (standin_generation() >= 34)
		assert_made(&record, mr);
	else
		assert_failed(&record, EOPNOTSUPP);
	assert_range(&record, NULL, LENGTH, IOVA);
	cr_assert_eq(record.offset, 0x3000);
	cr_assert_eq(record.fd, fd);
	cr_assert_eq(record.access, ACCESS);
	cr_assert_eq(record.buffer, 0);
}

Test(any_records, a_probe_with_descriptor_minus_one)
{
	struct ibvbuf_trace_record record;

	begin();
	cr_assert_null(ibv_reg_dmabuf_mr(pd, 0, 4096, 0, -1, 0));
	record = next_record(IBVBUF_TRACE_REG_DMABUF_MR);
	assert_failed(&record, standin_generation() >= 34 ? EBADF : EOPNOTSUPP);
	cr_assert_eq(record.fd, -1);
}

Test(any_records, reg_mr_ex)
{
	struct ibv_mr_init_attr attr = {
		.length = LENGTH,
		.access = ACCESS,
		.comp_mask = IBV_REG_MR_MASK_ADDR,
		.addr = ADDRESS,
		/* Not named by the mask. */
		.fd = 7,
		.iova = IOVA,
		.fd_offset = 99,
	};
	struct ibvbuf_trace_record record;
	struct ibv_mr *mr;

	begin();
	mr = ibv_reg_mr_ex(pd, &attr);
	record = next_record(IBVBUF_TRACE_REG_MR_EX);
	assert_made(&record, mr);
	assert_range(&record, ADDRESS, LENGTH, WORD(ADDRESS));
	assert_no_buffer(&record);
	cr_assert_eq(record.access, ACCESS);
	cr_assert_eq(record.mask, IBV_REG_MR_MASK_ADDR);
}

Test(any_records, reg_mr_ex_of_a_descriptor)
{
	struct ibv_mr_init_attr attr = {
		.length = LENGTH,
		.comp_mask = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_IOVA,
		.iova = IOVA,
		.fd = STDERR_FILENO,
		.fd_offset = 0x5000,
		.addr = OTHER_ADDRESS,
	};
	struct ibvbuf_trace_record record;

	begin();
	ibv_reg_mr_ex(pd, &attr);
	record = next_record(IBVBUF_TRACE_REG_MR_EX);
	assert_range(&record, NULL, LENGTH, IOVA);
	cr_assert_eq(record.fd, STDERR_FILENO);
	cr_assert_eq(record.offset, 0x5000);
	cr_assert_eq(record.mask, attr.comp_mask);
}

Test(any_records, rereg_mr)
{
	int flags = IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_ACCESS;
	struct ibvbuf_trace_record record;
	struct ibv_mr *mr;

	begin();
	mr = ibv_reg_mr(pd, ADDRESS, LENGTH, 0);
	next_record(IBVBUF_TRACE_REG_MR);
	cr_assert_eq(ibv_rereg_mr(mr, flags, NULL, OTHER_ADDRESS, OTHER_LENGTH, ACCESS), 0);
	record = next_record(IBVBUF_TRACE_REREG_MR);
	assert_made(&record, mr);
	assert_range(&record, OTHER_ADDRESS, OTHER_LENGTH, WORD(OTHER_ADDRESS));
	cr_assert_eq(record.access, ACCESS);
	cr_assert_eq(record.mask, flags);
}

Test(any_records, rereg_mr_into_another_domain)
{
	struct ibv_pd *other;
	struct ibvbuf_trace_record record;
	struct ibv_mr *mr;

	begin();
	other = ibv_alloc_pd(plain_device("standin1"));
	next_record(IBVBUF_TRACE_ALLOC_PD);
	mr = ibv_reg_mr(pd, ADDRESS, LENGTH, 0);
	next_record(IBVBUF_TRACE_REG_MR);
	cr_assert_eq(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, other, NULL, 0, 0), 0);
	record = next_record(IBVBUF_TRACE_REREG_MR);
	cr_assert_eq(record.pd, WORD(other));
	cr_assert_eq(record.device, 1);
	cr_assert_eq(record.object, WORD(mr));
	assert_range(&record, ADDRESS, LENGTH, 0);
}

Test(any_records, rereg_mr_that_fails)
{
	struct ibvbuf_trace_record record;
	struct ibv_mr *mr;

	begin();
	mr = ibv_reg_mr(pd, ADDRESS, LENGTH, 0);
	next_record(IBVBUF_TRACE_REG_MR);
	standin_fail(STANDIN_ibv_rereg_mr, ENOMEM);
	errno = 0;
	cr_assert_eq(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, ACCESS),
		     IBV_REREG_MR_ERR_CMD);
	cr_assert_eq(errno, ENOMEM);
	record = next_record(IBVBUF_TRACE_REREG_MR);
	cr_assert_eq(record.error, ENOMEM);
	cr_assert_eq(record.object, WORD(mr));
}

Test(any_records, dereg_mr)
{
	struct ibvbuf_trace_record record;
	struct ibv_mr *mr, before;

	begin();
	mr = ibv_reg_mr(pd, ADDRESS, LENGTH, ACCESS);
	next_record(IBVBUF_TRACE_REG_MR);
	before = *mr;
	cr_assert_eq(ibv_dereg_mr(mr), 0);
	record = next_record(IBVBUF_TRACE_DEREG_MR);
	assert_call_in_domain(&record);
	cr_assert_eq(record.error, 0);
	cr_assert_eq(record.object, WORD(mr));
	cr_assert_eq(record.lkey, before.lkey);
	cr_assert_eq(record.rkey, before.rkey);
	cr_assert_eq(record.handle, before.handle);
	assert_range(&record, ADDRESS, LENGTH, 0);
	assert_no_buffer(&record);
	cr_assert_eq(record.access, 0);
}

Test(any_records, dereg_mr_that_fails)
{
	struct ibvbuf_trace_record record;
	struct ibv_mr *mr;

	begin();
	mr = ibv_reg_mr(pd, ADDRESS, LENGTH, ACCESS);
	next_record(IBVBUF_TRACE_REG_MR);
	standin_fail(STANDIN_ibv_dereg_mr, EBUSY);
	cr_assert_eq(ibv_dereg_mr(mr), EBUSY);
	record = next_record(IBVBUF_TRACE_DEREG_MR);
	cr_assert_eq(record.error, EBUSY);
	cr_assert_eq(record.object, WORD(mr));
}

Test(any_records, import_mr_and_unimport_mr)
{
	struct ibvbuf_trace_record record;
	struct ibv_mr *mr, before;

	begin();
	errno = 0;
	mr = ibv_import_mr(pd, 123);
	record = next_record(IBVBUF_TRACE_IMPORT_MR);
	cr_assert_eq(record.handle, 123);
	if (standin_generation() < 31) {
		assert_failed(&record, EOPNOTSUPP);
		return;
	}
	assert_made(&record, mr);
	before = *mr;
	ibv_unimport_mr(mr);
	record = next_record(IBVBUF_TRACE_UNIMPORT_MR);
	assert_call_in_domain(&record);
	cr_assert_eq(record.object, WORD(mr));
	cr_assert_eq(record.handle, 123);
	cr_assert_eq(record.rkey, before.rkey);
}

Test(any_records, alloc_pd_and_dealloc_pd)
{
	struct ibvbuf_trace_record record;

	trace_this_process();
	pd = ibv_alloc_pd(fresh_device());
	pd->handle = 5;
	record = next_record(IBVBUF_TRACE_ALLOC_PD);
	cr_assert_eq(record.object, WORD(pd));
	cr_assert_eq(record.pd, 0);
	cr_assert_eq(record.device, 0);
	cr_assert_eq(record.error, 0);
	cr_assert_eq(ibv_dealloc_pd(pd), 0);
	record = next_record(IBVBUF_TRACE_DEALLOC_PD);
	cr_assert_eq(record.object, WORD(pd));
	assert_call_in_domain(&record);
	cr_assert_eq(record.error, 0);
}

Test(any_records, alloc_pd_that_fails)
{
	struct ibvbuf_trace_record record;

	trace_this_process();
	standin_fail(STANDIN_ibv_alloc_pd, ENOSPC);
	assert_null_with(ENOSPC, ibv_alloc_pd(fresh_device()));
	record = next_record(IBVBUF_TRACE_ALLOC_PD);
	cr_assert_eq(record.object, 0);
	cr_assert_eq(record.device, 0);
	cr_assert_eq(record.error, ENOSPC);
}

/* A domain that could not be deallocated is still one of its device. */
Test(any_records, dealloc_pd_that_fails)
{
	struct ibvbuf_trace_record record;

	begin();
	standin_fail(STANDIN_ibv_dealloc_pd, EBUSY);
	cr_assert_eq(ibv_dealloc_pd(pd), EBUSY);
	record = next_record(IBVBUF_TRACE_DEALLOC_PD);
	cr_assert_eq(record.error, EBUSY);
	standin_fail(STANDIN_ibv_reg_mr, EFAULT);
	ibv_reg_mr(pd, ADDRESS, LENGTH, 0);
	record = next_record(IBVBUF_TRACE_REG_MR);
	assert_failed(&record, EFAULT);
}

Test(any_records, import_pd_and_unimport_pd)
{
	struct ibvbuf_trace_record record;

	trace_this_process();
	errno = 0;
	pd = ibv_import_pd(fresh_device(), 55);
	record = next_record(IBVBUF_TRACE_IMPORT_PD);
	cr_assert_eq(record.device, 0);
	cr_assert_eq(record.object, WORD(pd));
	if (standin_generation() < 31) {
		cr_assert_eq(record.error, EOPNOTSUPP);
		cr_assert_eq(record.handle, 55);
		return;
	}
	cr_assert_eq(record.error, 0);
	ibv_unimport_pd(pd);
	record = next_record(IBVBUF_TRACE_UNIMPORT_PD);
	assert_call_in_domain(&record);
	cr_assert_eq(record.object, WORD(pd));
}

Test(any_records, buffers)
{
	struct ibvbuf_trace_record record;
	uint16_t backing = standin_generation() < 64 ? IBVBUF_TRACE_BACKING_ANONYMOUS
						     : IBVBUF_TRACE_BACKING_NATIVE;
	struct ibv_buf *buf;
	struct ibv_mr *mr;
	void *address;

	begin();
	address = ibv_alloc_buf(pd, LENGTH, &buf);
	record = next_record(IBVBUF_TRACE_ALLOC_BUF);
	assert_call_in_domain(&record);
	assert_range(&record, address, LENGTH, 0);
	cr_assert_eq(record.buffer, WORD(buf));
	cr_assert_eq(record.backing, backing);
	cr_assert_eq(record.object, 0);
	cr_assert_eq(record.fd, -1);

	mr = ibv_reg_buf_mr(pd, buf, address, 100, ACCESS);
	record = next_record(IBVBUF_TRACE_REG_BUF_MR);
	assert_made(&record, mr);
	assert_range(&record, address, 100, WORD(address));
	cr_assert_eq(record.buffer, WORD(buf));
	cr_assert_eq(record.backing, backing);
	cr_assert_eq(record.access, ACCESS);

	ibv_dereg_mr(mr);
	next_record(IBVBUF_TRACE_DEREG_MR);
	ibv_free_buf(buf);
	record = next_record(IBVBUF_TRACE_FREE_BUF);
	cr_assert_eq(record.buffer, WORD(buf));
	cr_assert_eq(record.backing, backing);
	cr_assert_eq(record.error, 0);
	if (backing == IBVBUF_TRACE_BACKING_ANONYMOUS) {
		assert_call_in_domain(&record);
		assert_range(&record, address, LENGTH, 0);
	}
}

Test(any_records, alloc_buf_that_fails)
{
	struct ibvbuf_trace_record record;
	struct ibv_buf *buf;

	begin();
	assert_null_with(EINVAL, ibv_alloc_buf(pd, 0, &buf));
	record = next_record(IBVBUF_TRACE_ALLOC_BUF);
	assert_failed(&record, EINVAL);
	assert_range(&record, NULL, 0, 0);
	cr_assert_eq(record.buffer, 0);
}

Test(supplied_records, a_buffer_that_is_freed_twice)
{
	struct ibvbuf_trace_record record;
	struct ibv_buf *buf;

	setenv("IBVBUF_DIAGNOSTICS", "off", 1);
	begin();
	cr_assert_not_null(ibv_alloc_buf(pd, LENGTH, &buf));
	next_record(IBVBUF_TRACE_ALLOC_BUF);
	ibv_free_buf(buf);
	next_record(IBVBUF_TRACE_FREE_BUF);
	ibv_free_buf(buf);
	record = next_record(IBVBUF_TRACE_FREE_BUF);
	cr_assert_eq(record.error, EINVAL);
	cr_assert_eq(record.buffer, WORD(buf));
}

Test(any_records, reg_mr_ex_of_a_buffer)
{
	struct ibv_mr_init_attr attr = {
		.length = 100,
		.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_BUF,
	};
	struct ibvbuf_trace_record record;
	struct ibv_mr *mr;

	begin();
	attr.addr = ibv_alloc_buf(pd, LENGTH, &attr.buf);
	next_record(IBVBUF_TRACE_ALLOC_BUF);
	mr = ibv_reg_mr_ex(pd, &attr);
	record = next_record(IBVBUF_TRACE_REG_MR_EX);
	assert_made(&record, mr);
	assert_range(&record, attr.addr, 100, WORD(attr.addr));
	cr_assert_eq(record.buffer, WORD(attr.buf));
	cr_assert_eq(record.mask, attr.comp_mask);
}

Test(any_records, export_buf_dmabuf_fd)
{
	struct ibvbuf_trace_record record;
	struct ibv_buf *buf;

	begin();
	ibv_alloc_buf(pd, LENGTH, &buf);
	next_record(IBVBUF_TRACE_ALLOC_BUF);
	errno = 0;
	/* The shim calls nothing of a library of 64 in its place. */
	cr_assert_eq(ibv_export_buf_dmabuf_fd(buf), -1);
	record = next_record(IBVBUF_TRACE_EXPORT_BUF_DMABUF_FD);
	cr_assert_eq(record.error, errno);
	cr_assert_neq(record.error, 0);
	cr_assert_eq(record.buffer, WORD(buf));
	cr_assert_eq(record.fd, -1);
}

Test(any_records, a_call_that_fails_leaves_its_errno)
{
	struct ibvbuf_trace_record record;

	begin();
	standin_fail(STANDIN_ibv_reg_mr, EFAULT);
	assert_null_with(EFAULT, ibv_reg_mr(pd, ADDRESS, LENGTH, ACCESS));
	record = next_record(IBVBUF_TRACE_REG_MR);
	assert_failed(&record, EFAULT);
	assert_range(&record, ADDRESS, LENGTH, WORD(ADDRESS));
	cr_assert_eq(record.access, ACCESS);
}

Test(any_records, the_first_call_preserves_errno)
{
	trace_this_process();
	errno = ERRNO_BEFORE;
	pd = ibv_alloc_pd(fresh_device());
	cr_assert_eq(errno, ERRNO_BEFORE);
}

Test(any_records, calls_that_succeed_preserve_errno)
{
	struct ibv_mr *mr;

	begin();
	errno = ERRNO_BEFORE;
	mr = ibv_reg_mr(pd, ADDRESS, LENGTH, ACCESS);
	cr_assert_eq(errno, ERRNO_BEFORE);
	ibv_dereg_mr(mr);
	cr_assert_eq(errno, ERRNO_BEFORE);
	ibv_dealloc_pd(pd);
	cr_assert_eq(errno, ERRNO_BEFORE);
}

Test(any_records, what_the_library_left_in_errno_stays)
{
	begin();
	standin_turn(STANDIN_CHANGES_ERRNO, true);
	errno = ERRNO_BEFORE;
	cr_assert_not_null(ibv_reg_mr(pd, ADDRESS, LENGTH, ACCESS));
	cr_assert_eq(errno, ENOTTY);
}

/* The library calls itself by a public name, which leads through the shim. */
Test(any_records, what_the_library_calls_in_its_turn_is_no_record)
{
	begin();
	cr_assert_not_null(ibv_reg_mr(pd, ADDRESS, LENGTH, ACCESS));
	next_record(IBVBUF_TRACE_REG_MR);
	if (standin_generation() >= 33) {
		cr_assert_eq(CALLS(ibv_reg_mr_iova2), 1);
	} else if (standin_generation() >= 28) {
		cr_assert_not_null(ibv_reg_mr_iova2(pd, ADDRESS, LENGTH, WORD(ADDRESS), ACCESS));
		next_record(IBVBUF_TRACE_REG_MR_IOVA2);
		cr_assert_eq(CALLS(ibv_reg_mr_iova), 1);
	}
}

static void register_more(const struct standin_call *call)
{
	(void)call;
	cr_assert_not_null(ibv_reg_mr_iova2(pd, OTHER_ADDRESS, 1, WORD(OTHER_ADDRESS), 0));
}

Test(any_records, the_record_is_that_of_the_outermost_call)
{
	struct ibvbuf_trace_record record;

	begin();
	standin_interrupt(STANDIN_ibv_dereg_mr, register_more);
	cr_assert_eq(ibv_dereg_mr(ibv_reg_mr(pd, ADDRESS, LENGTH, ACCESS)), 0);
	standin_interrupt(STANDIN_ibv_dereg_mr, NULL);
	{
		struct trace *trace = trace_now();

		cr_assert_eq(trace->count, 3);
		record = *trace_last(trace);
	}
	cr_assert_eq(record.call, IBVBUF_TRACE_DEREG_MR);
	assert_range(&record, ADDRESS, LENGTH, 0);
}

static void wait_a_moment(const struct standin_call *call)
{
	(void)call;
	usleep(20000);
}

Test(any_records, time_and_duration_are_those_of_the_call)
{
	struct ibvbuf_trace_record record;
	uint64_t before, after;

	begin();
	standin_interrupt(STANDIN_ibv_reg_mr, wait_a_moment);
	before = now();
	ibv_reg_mr(pd, ADDRESS, LENGTH, ACCESS);
	after = now();
	record = next_record(IBVBUF_TRACE_REG_MR);
	cr_assert(record.time >= before);
	cr_assert(record.time + record.duration <= after);
	cr_assert_geq(record.duration, 20000000);
}

__attribute__((noinline)) static struct ibv_mr *call_from_here(void)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, ADDRESS, LENGTH, ACCESS);

	/* So that the call is not the last thing it does. */
	__asm__ volatile("" ::: "memory");
	return mr;
}

Test(any_records, the_caller_is_a_place_in_the_program)
{
	struct ibvbuf_trace_record record;
	const struct ibvbuf_trace_module *module;
	char program[PATH_MAX] = "";
	struct trace *trace;

	begin();
	cr_assert_not_null(call_from_here());
	record = next_record(IBVBUF_TRACE_REG_MR);
	cr_assert(record.caller > WORD(call_from_here) &&
		  record.caller < WORD(call_from_here) + 512);
	trace = trace_now();
	module = trace_module_of(trace, record.caller, record.time);
	cr_assert_not_null(module);
	cr_assert_gt(readlink("/proc/self/exe", program, sizeof(program) - 1), 0);
	cr_assert_str_eq(module->path, program);
	cr_assert_eq(module->build_id_length, 20);
	cr_assert_eq(trace->module_count, 1);
}

Test(any_records, devices_are_named)
{
	struct trace *trace;
	struct ibv_pd *other;

	begin();
	other = ibv_alloc_pd(plain_device("standin1"));
	cr_assert_eq(next_record(IBVBUF_TRACE_ALLOC_PD).device, 1);
	ibv_reg_mr(other, ADDRESS, LENGTH, 0);
	cr_assert_eq(next_record(IBVBUF_TRACE_REG_MR).device, 1);
	ibv_reg_mr(pd, ADDRESS, LENGTH, 0);
	cr_assert_eq(next_record(IBVBUF_TRACE_REG_MR).device, 0);
	trace = trace_now();
	cr_assert_eq(trace->device_count, 2);
	cr_assert_str_eq(trace->devices[0].name, DEVICE_NAME);
	cr_assert_str_eq(trace->devices[1].name, "standin1");
}

/* One that failed in something that is no domain at all. */
Test(any_records, a_domain_that_is_not_known_has_no_device)
{
	begin();
	standin_fail(STANDIN_ibv_reg_mr, EFAULT);
	ibv_reg_mr((struct ibv_pd *)4096, ADDRESS, LENGTH, 0);
	cr_assert_eq(next_record(IBVBUF_TRACE_REG_MR).device, IBVBUF_TRACE_NO_DEVICE);
	cr_assert_eq(trace_now()->device_count, 1);
}

Test(any_records, the_header_tells_what_the_process_is)
{
	const struct ibvbuf_trace_header *header;
	char text[PATH_MAX] = "";
	uint64_t before = now();

	begin();
	header = &trace_now()->header;
	cr_assert_eq(header->process, (uint32_t)getpid());
	cr_assert_eq(header->parent, (uint32_t)getppid());
	cr_assert_eq(header->user, geteuid());
	cr_assert_eq(header->rank, -1);
	cr_assert_str_eq(header->rank_variable, "");
	cr_assert(header->start_monotonic >= before && header->start_monotonic <= now());
	cr_assert_lt(header->start_realtime / 1000000000 - (uint64_t)time(NULL) + 5, 10);
	cr_assert_eq(header->record_size, RECORD_SIZE);
	cr_assert_eq(header->record_capacity, DEFAULT_SIZE / RECORD_SIZE);
	cr_assert_eq(header->claimed, 1);
	cr_assert_gt(readlink("/proc/self/exe", text, sizeof(text) - 1), 0);
	cr_assert_str_eq(header->program, text);
	cr_assert_eq(gethostname(text, sizeof(text)), 0);
	cr_assert_str_eq(header->host, text);
	cr_assert_not_null(strstr(header->library, "libibverbs.so.1"));
}
