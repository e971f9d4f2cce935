// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "trace_calls.h"
#include "buffers.h"
#include "domains.h"
#include "originals.h"
#include "recorder.h"
#include "registration.h"
#include "straight.h"
#include "trace_devices.h"

#include <errno.h>

static const uint16_t backings[] = {
	[BACKING_ANONYMOUS] = IBVBUF_TRACE_BACKING_ANONYMOUS,
	[BACKING_HUGETLB] = IBVBUF_TRACE_BACKING_HUGETLB,
	[BACKING_DMA_HEAP] = IBVBUF_TRACE_BACKING_DMA_HEAP,
	[BACKING_UDMABUF] = IBVBUF_TRACE_BACKING_UDMABUF,
};

/* A call that failed, by errno. */
static void set_failure(struct trace_call *call)
{
	call->record.error = call->saved_errno ? call->saved_errno : -1;
}

/* A call that returns 0 or an errno, or -1 and sets errno. */
static void set_result(struct trace_call *call, int result)
{
	if (result > 0)
		call->record.error = result;
	else if (result < 0)
		set_failure(call);
}

static inline void set_domain(struct ibvbuf_trace_record *record, const struct ibv_pd *pd)
{
	record->pd = (uintptr_t)pd;
	record->device = trace_device_of(pd);
}

static void set_range(struct ibvbuf_trace_record *record, const void *addr, size_t length,
		      uint64_t iova)
{
	record->address = (uintptr_t)addr;
	record->length = length;
	record->iova = iova;
}

/* What a memory region is: of one that the call made or was given. */
static inline void set_mr(struct ibvbuf_trace_record *record, const struct ibv_mr *mr)
{
	record->object = (uintptr_t)mr;
	record->lkey = mr->lkey;
	record->rkey = mr->rkey;
	record->handle = mr->handle;
	if (record->device == IBVBUF_TRACE_NO_DEVICE)
		record->device = trace_device_number(mr->context);
}

/* A registration in a domain, which succeeded if there is a region. */
static inline void set_registration(struct trace_call *call, const struct ibv_pd *pd,
				    const struct ibv_mr *mr)
{
	set_domain(&call->record, pd);
	if (mr)
		set_mr(&call->record, mr);
	else
		set_failure(call);
}

static void set_old_mr(struct ibvbuf_trace_record *record, const struct ibv_mr *mr)
{
	if (!mr)
		return;
	set_domain(record, mr->pd);
	set_mr(record, mr);
	set_range(record, mr->addr, mr->length, 0);
}

/* A buffer's handle, and what is known of it. */
static enum handle_state set_buffer(struct ibvbuf_trace_record *record, const struct ibv_buf *buf,
				    struct buffer *buffer)
{
	enum handle_state state = buffer_find(buf, buffer);

	record->buffer = (uintptr_t)buf;
	if (state == HANDLE_LIVE)
		record->backing = backings[buffer->kind];
	else if (state == HANDLE_FOREIGN && buf && original(ibv_alloc_buf))
		record->backing = IBVBUF_TRACE_BACKING_NATIVE;
	return state;
}

struct ibv_mr *trace_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access,
			    const void *caller)
{
	struct trace_call call;
	struct ibv_mr *mr;

	DECIDE_STRAIGHT(ibv_reg_mr, pd, addr, length, access);
	trace_begin(&call, IBVBUF_TRACE_REG_MR, caller);
	mr = registration_reg_mr(pd, addr, length, access, caller);
	if (trace_returned(&call)) {
		set_range(&call.record, addr, length, (uintptr_t)addr);
		call.record.access = (uint32_t)access;
		set_registration(&call, pd, mr);
	}
	trace_end(&call);
	return mr;
}

struct ibv_mr *trace_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				 int access, const void *caller)
{
	struct trace_call call;
	struct ibv_mr *mr;

	DECIDE_STRAIGHT(ibv_reg_mr_iova, pd, addr, length, iova, access);
	trace_begin(&call, IBVBUF_TRACE_REG_MR_IOVA, caller);
	mr = registration_reg_mr_iova(pd, addr, length, iova, access, caller);
	if (trace_returned(&call)) {
		set_range(&call.record, addr, length, iova);
		call.record.access = (uint32_t)access;
		set_registration(&call, pd, mr);
	}
	trace_end(&call);
	return mr;
}

struct ibv_mr *trace_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				  unsigned int access, const void *caller)
{
	struct trace_call call;
	struct ibv_mr *mr;

	DECIDE_STRAIGHT(ibv_reg_mr_iova2, pd, addr, length, iova, access);
	trace_begin(&call, IBVBUF_TRACE_REG_MR_IOVA2, caller);
	mr = registration_reg_mr_iova2(pd, addr, length, iova, access, caller);
	if (trace_returned(&call)) {
		set_range(&call.record, addr, length, iova);
		call.record.access = access;
		set_registration(&call, pd, mr);
	}
	trace_end(&call);
	return mr;
}

struct ibv_mr *trace_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				   int fd, int access, const void *caller)
{
	struct trace_call call;
	struct ibv_mr *mr;

	DECIDE_STRAIGHT(ibv_reg_dmabuf_mr, pd, offset, length, iova, fd, access);
	trace_begin(&call, IBVBUF_TRACE_REG_DMABUF_MR, caller);
	mr = registration_reg_dmabuf_mr(pd, offset, length, iova, fd, access);
	if (trace_returned(&call)) {
		set_range(&call.record, NULL, length, iova);
		call.record.offset = offset;
		call.record.fd = fd;
		call.record.access = (uint32_t)access;
		set_registration(&call, pd, mr);
	}
	trace_end(&call);
	return mr;
}

/* Only what the mask names is read. */
static void set_attributes(struct ibvbuf_trace_record *record, const struct ibv_mr_init_attr *attr)
{
	struct buffer buffer;

	record->mask = (uint32_t)attr->comp_mask;
	record->access = (uint32_t)attr->access;
	record->length = attr->length;
	if (attr->comp_mask & IBV_REG_MR_MASK_ADDR)
		record->iova = record->address = (uintptr_t)attr->addr;
	if (attr->comp_mask & IBV_REG_MR_MASK_IOVA)
		record->iova = attr->iova;
	if (attr->comp_mask & IBV_REG_MR_MASK_FD)
		record->fd = attr->fd;
	if (attr->comp_mask & IBV_REG_MR_MASK_FD_OFFSET)
		record->offset = attr->fd_offset;
	if (attr->comp_mask & IBV_REG_MR_MASK_BUF)
		set_buffer(record, attr->buf, &buffer);
}

struct ibv_mr *trace_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *attr, const void *caller)
{
	struct trace_call call;
	struct ibv_mr *mr;

	DECIDE_STRAIGHT(ibv_reg_mr_ex, pd, attr);
	trace_begin(&call, IBVBUF_TRACE_REG_MR_EX, caller);
	mr = registration_reg_mr_ex(pd, attr, caller);
	if (trace_returned(&call)) {
		if (attr)
			set_attributes(&call.record, attr);
		set_registration(&call, pd, mr);
	}
	trace_end(&call);
	return mr;
}

struct ibv_mr *trace_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buf, void *addr, size_t length,
				int access, const void *caller)
{
	struct trace_call call;
	struct buffer buffer;
	struct ibv_mr *mr;

	DECIDE_STRAIGHT(ibv_reg_buf_mr, pd, buf, addr, length, access);
	trace_begin(&call, IBVBUF_TRACE_REG_BUF_MR, caller);
	mr = registration_reg_buf_mr(pd, buf, addr, length, access, caller);
	if (trace_returned(&call)) {
		set_range(&call.record, addr, length, (uintptr_t)addr);
		set_buffer(&call.record, buf, &buffer);
		call.record.access = (uint32_t)access;
		set_registration(&call, pd, mr);
	}
	trace_end(&call);
	return mr;
}

int trace_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		   int access, const void *caller)
{
	struct trace_call call;
	int result;

	DECIDE_STRAIGHT(ibv_rereg_mr, mr, flags, pd, addr, length, access);
	trace_begin(&call, IBVBUF_TRACE_REREG_MR, caller);
	result = registration_rereg_mr(mr, flags, pd, addr, length, access, caller);
	if (trace_returned(&call)) {
		set_old_mr(&call.record, mr);
		call.record.mask = (uint32_t)flags;
		if (flags & IBV_REREG_MR_CHANGE_PD)
			set_domain(&call.record, pd);
		if (flags & IBV_REREG_MR_CHANGE_TRANSLATION)
			set_range(&call.record, addr, length, (uintptr_t)addr);
		if (flags & IBV_REREG_MR_CHANGE_ACCESS)
			call.record.access = (uint32_t)access;
		if (result)
			set_failure(&call);
	}
	trace_end(&call);
	return result;
}

int trace_dereg_mr(struct ibv_mr *mr, const void *caller)
{
	struct trace_call call;
	int result;

	DECIDE_STRAIGHT(ibv_dereg_mr, mr);
	trace_begin(&call, IBVBUF_TRACE_DEREG_MR, caller);
	if (call.is_recorded)
		set_old_mr(&call.record, mr);
	result = registration_dereg_mr(mr);
	if (trace_returned(&call))
		set_result(&call, result);
	trace_end(&call);
	return result;
}

struct ibv_mr *trace_import_mr(struct ibv_pd *pd, uint32_t mr_handle, const void *caller)
{
	struct trace_call call;
	struct ibv_mr *mr;

	DECIDE_STRAIGHT(ibv_import_mr, pd, mr_handle);
	trace_begin(&call, IBVBUF_TRACE_IMPORT_MR, caller);
	mr = registration_import_mr(pd, mr_handle);
	if (trace_returned(&call)) {
		call.record.handle = mr_handle;
		set_registration(&call, pd, mr);
		if (mr)
			set_range(&call.record, mr->addr, mr->length, 0);
	}
	trace_end(&call);
	return mr;
}

void trace_unimport_mr(struct ibv_mr *mr, const void *caller)
{
	struct trace_call call;

	DECIDE_STRAIGHT(ibv_unimport_mr, mr);
	trace_begin(&call, IBVBUF_TRACE_UNIMPORT_MR, caller);
	if (call.is_recorded)
		set_old_mr(&call.record, mr);
	registration_unimport_mr(mr);
	trace_returned(&call);
	trace_end(&call);
}

void *trace_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **buf, const void *caller)
{
	struct trace_call call;
	struct buffer buffer;
	void *address;

	DECIDE_STRAIGHT(ibv_alloc_buf, pd, size, buf);
	trace_begin(&call, IBVBUF_TRACE_ALLOC_BUF, caller);
	address = buffer_alloc(pd, size, buf);
	if (trace_returned(&call)) {
		set_range(&call.record, address, size, 0);
		set_domain(&call.record, pd);
		if (!address)
			set_failure(&call);
		else if (set_buffer(&call.record, *buf, &buffer) == HANDLE_LIVE)
			call.record.fd = buffer.dmabuf_fd;
	}
	trace_end(&call);
	return address;
}

void trace_free_buf(struct ibv_buf *buf, const void *caller)
{
	struct ibvbuf_trace_record *record;
	struct trace_call call;
	struct buffer buffer;

	DECIDE_STRAIGHT(ibv_free_buf, buf);
	trace_begin(&call, IBVBUF_TRACE_FREE_BUF, caller);
	record = &call.record;
	if (call.is_recorded) {
		if (set_buffer(record, buf, &buffer) == HANDLE_LIVE) {
			set_domain(record, buffer.pd);
			set_range(record, buffer.address, buffer.size, 0);
			record->fd = buffer.dmabuf_fd;
		} else if (buf && record->backing != IBVBUF_TRACE_BACKING_NATIVE) {
			record->error = EINVAL;
		}
	}
	buffer_free(buf, caller);
	trace_returned(&call);
	trace_end(&call);
}

int trace_export_buf_dmabuf_fd(struct ibv_buf *buf, const void *caller)
{
	struct trace_call call;
	struct buffer buffer;
	int fd;

	DECIDE_STRAIGHT(ibv_export_buf_dmabuf_fd, buf);
	trace_begin(&call, IBVBUF_TRACE_EXPORT_BUF_DMABUF_FD, caller);
	fd = buffer_export_dmabuf_fd(buf, caller);
	if (trace_returned(&call)) {
		if (set_buffer(&call.record, buf, &buffer) == HANDLE_LIVE) {
			set_domain(&call.record, buffer.pd);
			set_range(&call.record, buffer.address, buffer.size, 0);
		}
		call.record.fd = fd;
		if (fd < 0)
			set_failure(&call);
	}
	trace_end(&call);
	return fd;
}

/* Also what is no call of the application's: the device of a domain has to be known. */
static void made_domain(struct trace_call *call, const struct ibv_context *context,
			const struct ibv_pd *pd)
{
	if (call->is_counted && pd)
		trace_domain_made(pd);
	if (!trace_returned(call))
		return;
	call->record.device = trace_device_number(context);
	call->record.object = (uintptr_t)pd;
	if (pd)
		call->record.handle = pd->handle;
	else
		set_failure(call);
}

static void forget_domain(struct trace_call *call, const struct ibv_pd *pd)
{
	if (!call->is_counted)
		return;
	if (call->is_recorded) {
		set_domain(&call->record, pd);
		call->record.object = (uintptr_t)pd;
	}
	trace_domain_gone(pd);
}

struct ibv_pd *trace_alloc_pd(struct ibv_context *context, const void *caller)
{
	struct trace_call call;
	struct ibv_pd *pd;

	DECIDE_STRAIGHT(ibv_alloc_pd, context);
	trace_begin(&call, IBVBUF_TRACE_ALLOC_PD, caller);
	pd = domain_alloc(context);
	made_domain(&call, context, pd);
	trace_end(&call);
	return pd;
}

struct ibv_pd *trace_import_pd(struct ibv_context *context, uint32_t pd_handle, const void *caller)
{
	struct trace_call call;
	struct ibv_pd *pd;

	DECIDE_STRAIGHT(ibv_import_pd, context, pd_handle);
	trace_begin(&call, IBVBUF_TRACE_IMPORT_PD, caller);
	if (call.is_recorded)
		call.record.handle = pd_handle;
	pd = domain_import(context, pd_handle);
	made_domain(&call, context, pd);
	trace_end(&call);
	return pd;
}

struct ibv_pd *trace_alloc_parent_domain(alloc_parent_domain_function *provider,
					 struct ibv_context *context,
					 struct ibv_parent_domain_init_attr *attr,
					 const void *caller)
{
	struct trace_call call;
	struct ibv_pd *parent;

	trace_begin(&call, IBVBUF_TRACE_ALLOC_PARENT_DOMAIN, caller);
	if (call.is_recorded) {
		call.record.pd = (uintptr_t)attr->pd;
		call.record.mask = attr->comp_mask;
	}
	parent = domain_alloc_parent(provider, context, attr);
	made_domain(&call, context, parent);
	trace_end(&call);
	return parent;
}

int trace_dealloc_pd(struct ibv_pd *pd, const void *caller)
{
	struct trace_call call;
	bool is_gone;
	int result;

	DECIDE_STRAIGHT(ibv_dealloc_pd, pd);
	trace_begin(&call, IBVBUF_TRACE_DEALLOC_PD, caller);
	forget_domain(&call, pd);
	result = domain_dealloc(pd, caller, &is_gone);
	if (call.is_counted && !is_gone)
		trace_domain_made(pd);
	if (trace_returned(&call))
		set_result(&call, result);
	trace_end(&call);
	return result;
}

void trace_unimport_pd(struct ibv_pd *pd, const void *caller)
{
	struct trace_call call;

	DECIDE_STRAIGHT(ibv_unimport_pd, pd);
	trace_begin(&call, IBVBUF_TRACE_UNIMPORT_PD, caller);
	forget_domain(&call, pd);
	domain_unimport(pd, caller);
	trace_returned(&call);
	trace_end(&call);
}

struct ibv_mr *trace_reg_dm_mr(reg_dm_mr_function *provider, struct ibv_pd *pd, struct ibv_dm *dm,
			       uint64_t dm_offset, size_t length, unsigned int access,
			       const void *caller)
{
	struct trace_call call;
	struct ibv_mr *mr;

	trace_begin(&call, IBVBUF_TRACE_REG_DM_MR, caller);
	mr = provider(pd, dm, dm_offset, length, access);
	if (trace_returned(&call)) {
		call.record.length = length;
		call.record.offset = dm_offset;
		call.record.access = access;
		set_registration(&call, pd, mr);
	}
	trace_end(&call);
	return mr;
}

struct ibv_mr *trace_alloc_null_mr(alloc_null_mr_function *provider, struct ibv_pd *pd,
				   const void *caller)
{
	struct trace_call call;
	struct ibv_mr *mr;

	trace_begin(&call, IBVBUF_TRACE_ALLOC_NULL_MR, caller);
	mr = provider(pd);
	if (trace_returned(&call))
		set_registration(&call, pd, mr);
	trace_end(&call);
	return mr;
}

struct ibv_mw *trace_alloc_mw(alloc_mw_function *provider, struct ibv_pd *pd, enum ibv_mw_type type,
			      const void *caller)
{
	struct trace_call call;
	struct ibv_mw *mw;

	trace_begin(&call, IBVBUF_TRACE_ALLOC_MW, caller);
	mw = provider(pd, type);
	if (trace_returned(&call)) {
		set_domain(&call.record, pd);
		call.record.mask = type;
		call.record.object = (uintptr_t)mw;
		if (mw)
			call.record.rkey = mw->rkey;
		else
			set_failure(&call);
	}
	trace_end(&call);
	return mw;
}

int trace_dealloc_mw(dealloc_mw_function *provider, struct ibv_mw *mw, const void *caller)
{
	struct trace_call call;
	int result;

	trace_begin(&call, IBVBUF_TRACE_DEALLOC_MW, caller);
	if (call.is_recorded) {
		set_domain(&call.record, mw->pd);
		call.record.object = (uintptr_t)mw;
		call.record.rkey = mw->rkey;
	}
	result = provider(mw);
	if (trace_returned(&call))
		set_result(&call, result);
	trace_end(&call);
	return result;
}
