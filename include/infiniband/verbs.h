/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * infiniband/verbs.h of libibverbs, with the buffer API of rdma-core 65.
 *
 * Includes the next <infiniband/verbs.h> in the search path, and declares what that
 * one lacks: all of the buffer API over rdma-core 17 to 63, one function over 64,
 * nothing over 65 and later. A program includes <infiniband/verbs.h>, as always.
 *
 * There is no configuration step. rdma-core 64 brought the buffer API and the macro
 * IBV_DEVICE_CC_DMA_BOUNCE together, and in its header the macro precedes every
 * declaration that matters here. So the names below are, while that header is read,
 * macros that keep the name where IBV_DEVICE_CC_DMA_BOUNCE is defined by then, and
 * give it another one where it is not. That moves the shorter struct ibv_mr_init_attr
 * of rdma-core 59 to 63, its enum and its function, out of the way; in older headers
 * the names do not occur; in newer ones they stay what they are.
 */
#pragma GCC system_header

#ifndef IBVBUF_INFINIBAND_VERBS_H
#define IBVBUF_INFINIBAND_VERBS_H

/**
 * IBVBUF_API_RELEASE - this header is in effect, and follows that release of rdma-core
 *
 * For "#ifdef IBVBUF_API_RELEASE": the buffer API is declared, whichever rdma-core
 * the headers of the system come from.
 */
#define IBVBUF_API_RELEASE 65

#if defined(INFINIBAND_VERBS_H) && !defined(IBV_DEVICE_CC_DMA_BOUNCE)
#error "libibverbs' own <infiniband/verbs.h> was read before that of ibvbuf-preload: put $(pkg-config --cflags ibvbuf) before the other -I options"
#endif

#ifdef __has_include_next
/* cppcheck-suppress preprocessorErrorDirective */
#if !__has_include_next(<infiniband/verbs.h>)
#error "libibverbs' own <infiniband/verbs.h> is missing: install libibverbs-dev (Debian, Ubuntu) or rdma-core-devel (Fedora, RHEL, SUSE)"
#endif
#endif

/*
 * The value of IBV_DEVICE_CC_DMA_BOUNCE is in parentheses, so behind IBVBUF_COMMA it makes
 * a call, which adds an argument: the third one is then "native", and "other" without it.
 * One scan expands the value, the next one the call, the last one takes the third.
 */
#define IBVBUF_COMMA(value)			,
#define IBVBUF_THIRD(first, second, third, ...) third
#define IBVBUF_EXPAND_CALL(...)			IBVBUF_THIRD(__VA_ARGS__)
#define IBVBUF_EXPAND_VALUE(...)		IBVBUF_EXPAND_CALL(__VA_ARGS__)
#define IBVBUF_NATIVE_OR_OTHER(native, other)                                                      \
	IBVBUF_EXPAND_VALUE(IBVBUF_COMMA IBV_DEVICE_CC_DMA_BOUNCE, native, other, )

#define ibv_mr_init_attr_mask                                                                      \
	IBVBUF_NATIVE_OR_OTHER(ibv_mr_init_attr_mask, ibvbuf_hidden_mr_init_attr_mask)
#define IBV_REG_MR_MASK_IOVA                                                                       \
	IBVBUF_NATIVE_OR_OTHER(IBV_REG_MR_MASK_IOVA, IBVBUF_HIDDEN_REG_MR_MASK_IOVA)
#define IBV_REG_MR_MASK_ADDR                                                                       \
	IBVBUF_NATIVE_OR_OTHER(IBV_REG_MR_MASK_ADDR, IBVBUF_HIDDEN_REG_MR_MASK_ADDR)
#define IBV_REG_MR_MASK_FD IBVBUF_NATIVE_OR_OTHER(IBV_REG_MR_MASK_FD, IBVBUF_HIDDEN_REG_MR_MASK_FD)
#define IBV_REG_MR_MASK_FD_OFFSET                                                                  \
	IBVBUF_NATIVE_OR_OTHER(IBV_REG_MR_MASK_FD_OFFSET, IBVBUF_HIDDEN_REG_MR_MASK_FD_OFFSET)
#define IBV_REG_MR_MASK_DMAH                                                                       \
	IBVBUF_NATIVE_OR_OTHER(IBV_REG_MR_MASK_DMAH, IBVBUF_HIDDEN_REG_MR_MASK_DMAH)
#define ibv_mr_init_attr IBVBUF_NATIVE_OR_OTHER(ibv_mr_init_attr, ibvbuf_hidden_mr_init_attr)
#define ibv_reg_mr_ex	 IBVBUF_NATIVE_OR_OTHER(ibv_reg_mr_ex, ibvbuf_hidden_reg_mr_ex)

/* The flag becomes a member of its own enum, so that C++ may combine it with the others. */
#define IBVBUF_ALONE(flag) flag
#define IBVBUF_AFTER_CC_FLAG(flag)                                                                 \
	IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC = 1 << 2, flag
#define IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT                                                     \
	IBVBUF_NATIVE_OR_OTHER(IBVBUF_ALONE, IBVBUF_AFTER_CC_FLAG)                                 \
	(IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)

#include_next <infiniband/verbs.h>

#undef ibv_mr_init_attr_mask
#undef IBV_REG_MR_MASK_IOVA
#undef IBV_REG_MR_MASK_ADDR
#undef IBV_REG_MR_MASK_FD
#undef IBV_REG_MR_MASK_FD_OFFSET
#undef IBV_REG_MR_MASK_DMAH
#undef ibv_mr_init_attr
#undef ibv_reg_mr_ex
#undef IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT
#undef IBVBUF_ALONE
#undef IBVBUF_AFTER_CC_FLAG

#ifdef __cplusplus
extern "C" {
#endif

#if !IBVBUF_NATIVE_OR_OTHER(1, 0)

/**
 * IBV_DEVICE_CC_DMA_BOUNCE - the device cannot reach protected memory
 *
 * A bit of device_cap_flags_ex of ibv_query_device_ex(). Reported in confidential guests,
 * for a device whose transfers would have to go through bounce buffers: only memory that
 * is shared with the host can be registered there.
 *
 * Follows rdma-core 64.
 */
#define IBV_DEVICE_CC_DMA_BOUNCE (1ULL << 41)

/*
 * IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC - buffers may be unprotected memory
 *
 * A bit of comp_mask of struct ibv_parent_domain_init_attr. Buffers of that parent domain
 * may be memory that is shared with the host (not encrypted) in a confidential guest. It
 * takes effect on a device that reports IBV_DEVICE_CC_DMA_BOUNCE; there,
 * ibv_alloc_parent_domain() opens the DMA-buf heap /dev/dma_heap/system_cc_shared, and fails
 * with the errno of that (ENOENT: no such heap, EACCES: no permission, ...). Elsewhere
 * it is accepted and changes nothing.
 *
 * Follows rdma-core 64. Before rdma-core 27 the enum does not exist, and neither does
 * IBV_ALLOCATOR_USE_DEFAULT.
 */
#ifndef IBV_ALLOCATOR_USE_DEFAULT
enum ibv_parent_domain_init_attr_mask {
	IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC = 1 << 2,
};
#endif

struct ibv_buf;
struct ibv_dmah;

/**
 * enum ibv_mr_init_attr_mask - which fields of struct ibv_mr_init_attr are given
 * @IBV_REG_MR_MASK_IOVA: iova
 * @IBV_REG_MR_MASK_ADDR: addr
 * @IBV_REG_MR_MASK_FD: fd
 * @IBV_REG_MR_MASK_FD_OFFSET: fd_offset
 * @IBV_REG_MR_MASK_DMAH: dmah
 * @IBV_REG_MR_MASK_BUF: buf
 *
 * Follows rdma-core 59; IBV_REG_MR_MASK_BUF follows rdma-core 64.
 */
enum ibv_mr_init_attr_mask {
	IBV_REG_MR_MASK_IOVA = 1 << 0,
	IBV_REG_MR_MASK_ADDR = 1 << 1,
	IBV_REG_MR_MASK_FD = 1 << 2,
	IBV_REG_MR_MASK_FD_OFFSET = 1 << 3,
	IBV_REG_MR_MASK_DMAH = 1 << 4,
	IBV_REG_MR_MASK_BUF = 1 << 5,
};

/**
 * struct ibv_mr_init_attr - what ibv_reg_mr_ex() is to register
 * @length: bytes to register
 * @access: what the device may do: IBV_ACCESS_* bits, as for ibv_reg_mr()
 * @comp_mask: which of the fields below are given: enum ibv_mr_init_attr_mask
 * @iova: address that remote peers, and work requests, use for the first byte
 * @addr: address of the first byte in this process
 * @fd: descriptor of the DMA-buf
 * @fd_offset: bytes from the start of the DMA-buf to the first byte
 * @dmah: DMA handle
 * @buf: handle that ibv_alloc_buf() stored
 *
 * length, access and comp_mask are always read, each other field only if its bit is set.
 *
 * Follows rdma-core 59; buf follows rdma-core 64.
 */
struct ibv_mr_init_attr {
	size_t length;
	int access;
	uint64_t comp_mask;
	uint64_t iova;
	void *addr;
	int fd;
	uint64_t fd_offset;
	struct ibv_dmah *dmah;
	struct ibv_buf *buf;
};

/**
 * ibv_alloc_buf - allocate memory that the devices of a protection domain can reach
 * @pd: protection domain, or parent domain, that the buffer belongs to; it must outlive
 *	the buffer
 * @size: bytes, from 1
 * @buf: where the handle is stored, for the other calls; left as it was on failure
 *
 * The memory starts on a page, is filled with zeroes, and shares no page with anything
 * else. Release it with ibv_free_buf(), after ibv_dereg_mr() of what was registered of it.
 *
 * Thread safe. After fork(), parent and child may both go on allocating; a buffer in the
 * child is subject to what ibv_fork_init() says of registered memory.
 *
 * Return: the address of the first byte, or NULL with errno set:
 * EINVAL - @pd or @buf is NULL, or @size is 0;
 * ENOMEM - no @size bytes can be had;
 * EFBIG - the buffer has to be a udmabuf, and @size is over a limit that can be raised;
 * ENOENT, EACCES, ... - the buffer has to be a DMA-buf, and opening its heap failed so.
 *
 * Follows rdma-core 64, where neither the zeroes nor the pages of its own are promised.
 */
void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **buf);

/**
 * ibv_free_buf - release a buffer
 * @buf: handle that ibv_alloc_buf() stored; NULL is ignored
 *
 * The handle is invalid from then on, for every call. One that is unknown, or already
 * freed, is reported and otherwise ignored. Keeps errno.
 *
 * Thread safe: of several threads that free one handle, one does. After fork(), the child
 * frees its own copy, and the parent's buffer stays as it is.
 *
 * Follows rdma-core 64.
 */
void ibv_free_buf(struct ibv_buf *buf);

/**
 * ibv_reg_buf_mr - register a buffer, or a part of it
 * @pd: the very protection domain that the buffer was allocated for
 * @buf: handle that ibv_alloc_buf() stored
 * @addr: first byte to register; an address in the buffer
 * @length: bytes; @addr and the @length bytes from there lie inside the size that
 *	  ibv_alloc_buf() was asked for
 * @access: what the device may do: IBV_ACCESS_* bits, as for ibv_reg_mr()
 *
 * The same as ibv_reg_mr_ex() with IBV_REG_MR_MASK_BUF and IBV_REG_MR_MASK_ADDR. Release
 * the memory region with ibv_dereg_mr().
 *
 * Thread safe. Fork safety is that of ibv_reg_mr().
 *
 * Return: the memory region, or NULL with errno set:
 * EINVAL - the handle is unknown or was freed, @pd is another domain than that of the
 *	    buffer, or the range is not inside the buffer;
 * anything else - what ibv_reg_mr() or, for a DMA-buf, ibv_reg_dmabuf_mr() failed with.
 *
 * Follows rdma-core 64.
 */
struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buf, void *addr, size_t length,
			      int access);

/**
 * ibv_reg_mr_ex - register memory given as an address, a DMA-buf or a buffer
 * @pd: protection domain
 * @mr_init_attr: what to register; read, never written
 *
 * By comp_mask:
 * ADDR, perhaps with IOVA - the memory at addr, as ibv_reg_mr() or ibv_reg_mr_iova2();
 * FD, FD_OFFSET and IOVA - that part of a DMA-buf, as ibv_reg_dmabuf_mr();
 * BUF and ADDR - that part of a buffer; perhaps with IOVA, unless it is a DMA-buf. The
 *	addr of the memory region of a DMA-buf is the offset into it, not an address.
 *
 * Release the memory region with ibv_dereg_mr().
 *
 * Thread safe. Fork safety is that of ibv_reg_mr().
 *
 * Return: the memory region, or NULL with errno set:
 * EINVAL - with BUF: the handle is unknown or was freed, @pd is another domain than that
 *	    of the buffer, ADDR is missing, the range is not inside the buffer, FD or
 *	    FD_OFFSET is given, or IOVA is given for a DMA-buf;
 * EINVAL - without BUF: FD together with ADDR, FD without FD_OFFSET or IOVA, FD_OFFSET
 *	    without FD, or neither FD nor ADDR;
 * EOPNOTSUPP - DMAH or an unknown bit is given, or the library, the provider or the kernel
 *	    cannot register such memory;
 * anything else - what the underlying registration failed with, unchanged.
 *
 * Follows rdma-core 59; buffers follow rdma-core 64.
 */
struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *mr_init_attr);

#endif

/**
 * ibv_export_buf_dmabuf_fd - get a descriptor for the DMA-buf behind a buffer
 * @buf: handle that ibv_alloc_buf() stored
 *
 * The descriptor is new, close-on-exec and the caller's: close it with close(). Neither
 * that nor ibv_free_buf() disturbs the other.
 *
 * Thread safe. After fork(), the child may export buffers of its parent.
 *
 * Return: the descriptor, never 0, 1 or 2, or -1 with errno set:
 * ENODATA - the buffer is ordinary memory, not a DMA-buf;
 * EINVAL - the handle is unknown or was freed;
 * EMFILE, ... - no new descriptor can be had.
 *
 * Follows rdma-core 65.
 */
int ibv_export_buf_dmabuf_fd(struct ibv_buf *buf);

#ifdef __cplusplus
}
#endif

#undef IBVBUF_NATIVE_OR_OTHER
#undef IBVBUF_EXPAND_VALUE
#undef IBVBUF_EXPAND_CALL
#undef IBVBUF_THIRD
#undef IBVBUF_COMMA

#elif !defined(INFINIBAND_VERBS_H)
/* A second copy of this file in the search path stands between the first and libibverbs'. */
#include_next <infiniband/verbs.h>
#endif
