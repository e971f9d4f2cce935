// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The public names, a line each. The version script, made from verbs_calls.def, puts each at its
 * version node and hides everything else.
 */
#include "buffers.h"
#include "devices.h"
#include "domains.h"
#include "originals.h"
#include "registration.h"

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

/*
 * Where another shim does the work this one is out of the way: it reads no configuration, says
 * nothing, and, as a tail call, is not the caller that a diagnostic names.
 */
#define HAND_OVER(name, ...)                                                                       \
	do {                                                                                       \
		original_##name##_function *others =                                               \
			__builtin_expect(original_is_other_shim(), 0) ? original(name) : NULL;     \
                                                                                                   \
		if (others)                                                                        \
			return others(__VA_ARGS__);                                                \
	} while (0)

EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	HAND_OVER(ibv_open_device, device);
	return device_open(device);
}

EXPORT struct ibv_context *ibv_import_device(int cmd_fd)
{
	HAND_OVER(ibv_import_device, cmd_fd);
	return device_import(cmd_fd);
}

EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	HAND_OVER(ibv_alloc_pd, context);
	return domain_alloc(context);
}

EXPORT int ibv_dealloc_pd(struct ibv_pd *pd)
{
	HAND_OVER(ibv_dealloc_pd, pd);
	return domain_dealloc(pd, CALLER);
}

EXPORT struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t pd_handle)
{
	HAND_OVER(ibv_import_pd, context, pd_handle);
	return domain_import(context, pd_handle);
}

EXPORT void ibv_unimport_pd(struct ibv_pd *pd)
{
	HAND_OVER(ibv_unimport_pd, pd);
	domain_unimport(pd, CALLER);
}

EXPORT void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **buf)
{
	HAND_OVER(ibv_alloc_buf, pd, size, buf);
	return buffer_alloc(pd, size, buf);
}

EXPORT void ibv_free_buf(struct ibv_buf *buf)
{
	HAND_OVER(ibv_free_buf, buf);
	buffer_free(buf, CALLER);
}

EXPORT int ibv_export_buf_dmabuf_fd(struct ibv_buf *buf)
{
	HAND_OVER(ibv_export_buf_dmabuf_fd, buf);
	return buffer_export_dmabuf_fd(buf, CALLER);
}

EXPORT struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *mr_init_attr)
{
	HAND_OVER(ibv_reg_mr_ex, pd, mr_init_attr);
	return registration_reg_mr_ex(pd, mr_init_attr, CALLER);
}

EXPORT struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buf, void *addr,
				     size_t length, int access)
{
	HAND_OVER(ibv_reg_buf_mr, pd, buf, addr, length, access);
	return registration_reg_buf_mr(pd, buf, addr, length, access, CALLER);
}

EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	HAND_OVER(ibv_reg_mr, pd, addr, length, access);
	return registration_reg_mr(pd, addr, length, access, CALLER);
}

EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				      int access)
{
	HAND_OVER(ibv_reg_mr_iova, pd, addr, length, iova, access);
	return registration_reg_mr_iova(pd, addr, length, iova, access, CALLER);
}

EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				       unsigned int access)
{
	HAND_OVER(ibv_reg_mr_iova2, pd, addr, length, iova, access);
	return registration_reg_mr_iova2(pd, addr, length, iova, access, CALLER);
}
