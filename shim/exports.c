// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The public names, a line each. The version script, made from verbs_calls.def, puts each at its
 * version node and hides everything else.
 */
#include "buffers.h"
#include "domains.h"
#include "registration.h"

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	return domain_alloc(context);
}

EXPORT int ibv_dealloc_pd(struct ibv_pd *pd)
{
	return domain_dealloc(pd);
}

EXPORT void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **buf)
{
	return buffer_alloc(pd, size, buf);
}

EXPORT void ibv_free_buf(struct ibv_buf *buf)
{
	buffer_free(buf, CALLER);
}

EXPORT int ibv_export_buf_dmabuf_fd(struct ibv_buf *buf)
{
	return buffer_export_dmabuf_fd(buf, CALLER);
}

EXPORT struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *mr_init_attr)
{
	return registration_reg_mr_ex(pd, mr_init_attr, CALLER);
}

EXPORT struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buf, void *addr,
				     size_t length, int access)
{
	return registration_reg_buf_mr(pd, buf, addr, length, access, CALLER);
}
