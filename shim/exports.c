// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The public names, a line each. The version script, made from verbs_calls.def, puts each at its
 * version node and hides everything else.
 */
#include "devices.h"
#include "straight.h"
#include "trace/trace_calls.h"

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

/* verbs.h declares it since 34. */
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				 int fd, int access);

EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	STRAIGHT(ibv_open_device, device);
	return device_open(device);
}

EXPORT struct ibv_context *ibv_import_device(int cmd_fd)
{
	STRAIGHT(ibv_import_device, cmd_fd);
	return device_import(cmd_fd);
}

EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	STRAIGHT(ibv_alloc_pd, context);
	return trace_alloc_pd(context, CALLER);
}

EXPORT int ibv_dealloc_pd(struct ibv_pd *pd)
{
	STRAIGHT(ibv_dealloc_pd, pd);
	return trace_dealloc_pd(pd, CALLER);
}

EXPORT struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t pd_handle)
{
	STRAIGHT(ibv_import_pd, context, pd_handle);
	return trace_import_pd(context, pd_handle, CALLER);
}

EXPORT void ibv_unimport_pd(struct ibv_pd *pd)
{
	STRAIGHT(ibv_unimport_pd, pd);
	trace_unimport_pd(pd, CALLER);
}

EXPORT void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **buf)
{
	STRAIGHT(ibv_alloc_buf, pd, size, buf);
	return trace_alloc_buf(pd, size, buf, CALLER);
}

EXPORT void ibv_free_buf(struct ibv_buf *buf)
{
	STRAIGHT(ibv_free_buf, buf);
	trace_free_buf(buf, CALLER);
}

EXPORT int ibv_export_buf_dmabuf_fd(struct ibv_buf *buf)
{
	STRAIGHT(ibv_export_buf_dmabuf_fd, buf);
	return trace_export_buf_dmabuf_fd(buf, CALLER);
}

EXPORT struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *mr_init_attr)
{
	STRAIGHT(ibv_reg_mr_ex, pd, mr_init_attr);
	return trace_reg_mr_ex(pd, mr_init_attr, CALLER);
}

EXPORT struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buf, void *addr,
				     size_t length, int access)
{
	STRAIGHT(ibv_reg_buf_mr, pd, buf, addr, length, access);
	return trace_reg_buf_mr(pd, buf, addr, length, access, CALLER);
}

EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	STRAIGHT(ibv_reg_mr, pd, addr, length, access);
	return trace_reg_mr(pd, addr, length, access, CALLER);
}

EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				      int access)
{
	STRAIGHT(ibv_reg_mr_iova, pd, addr, length, iova, access);
	return trace_reg_mr_iova(pd, addr, length, iova, access, CALLER);
}

EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				       unsigned int access)
{
	STRAIGHT(ibv_reg_mr_iova2, pd, addr, length, iova, access);
	return trace_reg_mr_iova2(pd, addr, length, iova, access, CALLER);
}

EXPORT struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
					uint64_t iova, int fd, int access)
{
	STRAIGHT(ibv_reg_dmabuf_mr, pd, offset, length, iova, fd, access);
	return trace_reg_dmabuf_mr(pd, offset, length, iova, fd, access, CALLER);
}

EXPORT int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
			int access)
{
	STRAIGHT(ibv_rereg_mr, mr, flags, pd, addr, length, access);
	return trace_rereg_mr(mr, flags, pd, addr, length, access, CALLER);
}

EXPORT int ibv_dereg_mr(struct ibv_mr *mr)
{
	STRAIGHT(ibv_dereg_mr, mr);
	return trace_dereg_mr(mr, CALLER);
}

EXPORT struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t mr_handle)
{
	STRAIGHT(ibv_import_mr, pd, mr_handle);
	return trace_import_mr(pd, mr_handle, CALLER);
}

EXPORT void ibv_unimport_mr(struct ibv_mr *mr)
{
	STRAIGHT(ibv_unimport_mr, mr);
	trace_unimport_mr(mr, CALLER);
}
