// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What is recorded of the calls that only a device's operations show. */
#define _GNU_SOURCE
#include "recorder.h"

#include <stdio.h>

#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED)

static struct ibv_context *context;
static struct ibv_pd *pd;

static void begin(void)
{
	trace_this_process();
	context = fresh_device();
	pd = ibv_alloc_pd(context);
	cr_assert_not_null(pd);
	next_record(IBVBUF_TRACE_ALLOC_PD);
}

static void assert_call(const struct ibvbuf_trace_record *record, const void *object, int error)
{
	cr_assert_eq(record->pd, WORD(pd));
	cr_assert_eq(record->object, WORD(object));
	cr_assert_eq(record->error, error);
	cr_assert_eq(record->device, 0);
	cr_assert_eq(record->fd, -1);
}

/* The call is inline: its place is where it was compiled to. */
static void assert_called_from_here(const struct ibvbuf_trace_record *record)
{
	struct trace *trace = trace_now();
	const struct ibvbuf_trace_module *module =
		trace_module_of(trace, record->caller, record->time);

	cr_assert_not_null(module);
	cr_assert(WORD(begin) >= module->start && WORD(begin) < module->end);
}

Test(any_operations, reg_dm_mr)
{
	struct ibvbuf_trace_record record;
	struct ibv_dm dm = {.context = NULL};
	struct ibv_mr *mr;

	begin();
	dm.context = context;
	mr = ibv_reg_dm_mr(pd, &dm, 64, 128, ACCESS);
	record = next_record(IBVBUF_TRACE_REG_DM_MR);
	assert_call(&record, mr, 0);
	assert_called_from_here(&record);
	cr_assert_eq(record.offset, 64);
	cr_assert_eq(record.length, 128);
	cr_assert_eq(record.access, ACCESS);
	cr_assert_eq(record.lkey, mr->lkey);
	cr_assert_eq(record.rkey, mr->rkey);
	cr_assert_eq(record.handle, mr->handle);
}

Test(any_operations, alloc_null_mr)
{
	struct ibvbuf_trace_record record;
	struct ibv_mr *mr;

	begin();
	mr = ibv_alloc_null_mr(pd);
	record = next_record(IBVBUF_TRACE_ALLOC_NULL_MR);
	assert_call(&record, mr, 0);
	assert_called_from_here(&record);
	cr_assert_eq(record.lkey, mr->lkey);
}

Test(any_operations, memory_windows)
{
	struct ibvbuf_trace_record record;
	struct ibv_mw *mw;

	begin();
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	record = next_record(IBVBUF_TRACE_ALLOC_MW);
	assert_call(&record, mw, 0);
	assert_called_from_here(&record);
	cr_assert_eq(record.mask, IBV_MW_TYPE_2);
	cr_assert_eq(record.rkey, mw->rkey);
	cr_assert_eq(record.lkey, 0);

	cr_assert_eq(ibv_dealloc_mw(mw), 0);
	record = next_record(IBVBUF_TRACE_DEALLOC_MW);
	assert_call(&record, mw, 0);
	assert_called_from_here(&record);
	cr_assert_eq(record.rkey, 21);
}

Test(any_operations, alloc_parent_domain)
{
	struct ibv_parent_domain_init_attr attr = {
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT,
	};
	struct ibvbuf_trace_record record;
	struct ibv_pd *parent;

	begin();
	attr.pd = pd;
	parent = ibv_alloc_parent_domain(context, &attr);
	cr_assert_not_null(parent);
	record = next_record(IBVBUF_TRACE_ALLOC_PARENT_DOMAIN);
	assert_call(&record, parent, 0);
	assert_called_from_here(&record);
	cr_assert_eq(record.mask, attr.comp_mask);
	cr_assert_eq(record.handle, 31);

	/* Its registrations are those of the same device. */
	standin_fail(STANDIN_ibv_reg_mr, EFAULT);
	ibv_reg_mr(parent, NULL, 1, 0);
	record = next_record(IBVBUF_TRACE_REG_MR);
	cr_assert_eq(record.pd, WORD(parent));
	cr_assert_eq(record.device, 0);
}

/* In a rehearsal the domain itself, which lives on when that goes. */
Test(supplied_operations, a_domain_keeps_its_device_when_its_stand_in_goes)
{
	struct ibv_parent_domain_init_attr attr = {.comp_mask = 0};
	struct ibvbuf_trace_record record;

	setenv("IBVBUF_CC_REHEARSAL", "yes", 1);
	begin();
	attr.pd = pd;
	device_fails(EOPNOTSUPP);
	cr_assert_eq(ibv_alloc_parent_domain(context, &attr), pd);
	next_record(IBVBUF_TRACE_ALLOC_PARENT_DOMAIN);
	cr_assert_eq(ibv_dealloc_pd(pd), 0);
	next_record(IBVBUF_TRACE_DEALLOC_PD);
	cr_assert_null(ibv_reg_mr(pd, NULL, 1, 0));
	record = next_record(IBVBUF_TRACE_REG_MR);
	cr_assert_eq(record.device, 0);
}

Test(any_operations, those_that_fail_leave_their_errno)
{
	struct ibv_parent_domain_init_attr attr = {.comp_mask = 0};
	struct ibvbuf_trace_record record;
	struct ibv_dm dm = {.context = NULL};
	struct ibv_mw *mw;

	begin();
	dm.context = context;
	attr.pd = pd;
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	next_record(IBVBUF_TRACE_ALLOC_MW);
	device_fails(ENOSPC);

	assert_null_with(ENOSPC, ibv_reg_dm_mr(pd, &dm, 1, 2, ACCESS));
	record = next_record(IBVBUF_TRACE_REG_DM_MR);
	assert_call(&record, NULL, ENOSPC);
	cr_assert_eq(record.length, 2);

	assert_null_with(ENOSPC, ibv_alloc_null_mr(pd));
	record = next_record(IBVBUF_TRACE_ALLOC_NULL_MR);
	assert_call(&record, NULL, ENOSPC);

	assert_null_with(ENOSPC, ibv_alloc_mw(pd, IBV_MW_TYPE_1));
	record = next_record(IBVBUF_TRACE_ALLOC_MW);
	assert_call(&record, NULL, ENOSPC);

	cr_assert_eq(ibv_dealloc_mw(mw), ENOSPC);
	record = next_record(IBVBUF_TRACE_DEALLOC_MW);
	assert_call(&record, mw, ENOSPC);

	assert_null_with(ENOSPC, ibv_alloc_parent_domain(context, &attr));
	record = next_record(IBVBUF_TRACE_ALLOC_PARENT_DOMAIN);
	assert_call(&record, NULL, ENOSPC);
}

/* A device that has none of the operations answers as it did. */
Test(any_operations, a_device_without_them_stays_without)
{
	begin();
	pd = ibv_alloc_pd(plain_device("plain"));
	next_record(IBVBUF_TRACE_ALLOC_PD);
	assert_null_with(EOPNOTSUPP, ibv_alloc_null_mr(pd));
	assert_null_with(EOPNOTSUPP, ibv_alloc_mw(pd, IBV_MW_TYPE_1));
	cr_assert_eq(trace_now()->count, 2);
}

/* What is done there is recorded, without a device. */
Test(any_operations, devices_that_there_is_no_room_for_are_counted_once)
{
	struct ibv_context *devices[64 + 3];
	struct trace *trace;
	struct ibv_mr *mr;
	char name[16];
	size_t i;

	trace_this_process();
	for (i = 0; i < 64 + 3; i++) {
		snprintf(name, sizeof(name), "device%zu", i);
		devices[i] = plain_device(name);
		cr_assert_eq(ibv_dealloc_pd(ibv_alloc_pd(devices[i])), 0);
		pd = ibv_alloc_pd(devices[i]);
		mr = ibv_reg_mr(pd, name, sizeof(name), 0);
		cr_assert_not_null(mr);
		cr_assert_eq(ibv_dereg_mr(mr), 0);
		cr_assert_eq(ibv_dealloc_pd(pd), 0);
	}
	trace = trace_now();
	cr_assert_eq(trace->header.device_capacity, 64);
	cr_assert_eq(trace->header.unlisted, 3);
	cr_assert_eq(trace->count, 6 * (64 + 3));
	for (i = 0; i < trace->count; i++)
		cr_assert_eq(trace->entries[i].record.device,
			     i / 6 < 64 ? i / 6 : IBVBUF_TRACE_NO_DEVICE);
}
