/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a program sees that includes <infiniband/verbs.h>: each assertion holds with
 * rdma-core 65's own header. Compiled as C and as C++, over the headers of many releases.
 *
 * FIRST and LAST may name headers to include around it.
 */
#ifdef FIRST
#include FIRST
#endif
#include <infiniband/verbs.h>
#ifdef LAST
#include LAST
#endif
#include <infiniband/verbs.h>

#include <stddef.h>
#include <stdint.h>

#define JOINED(left, right) left##right
#define NAMED(line)	    JOINED(assertion_, line)
/* A negative size is an error in every standard, unlike _Static_assert. */
#define ASSERT(condition) extern char NAMED(__LINE__)[(condition) ? 1 : -1] __attribute__((unused))

#ifdef __cplusplus
template <class A, class B> struct same {
	enum { value = 0 };
};
template <class A> struct same<A, A> {
	enum { value = 1 };
};
#define SAME_TYPE(a, b) (same<__typeof__(a), b>::value)
#define SAME_ENUM(a, b) SAME_TYPE(a, b)
#else
#define SAME_TYPE(a, b) __builtin_types_compatible_p(__typeof__(a), b)
#define SAME_ENUM(a, b) 1 /* an enumerator is an int in C */
#endif

#define FIELD(type, field) (((type *)0)->field)

/* Constants: enumerators and not macros, but for the one that is a macro in rdma-core 65. */
#if defined(IBV_REG_MR_MASK_IOVA) || defined(IBV_REG_MR_MASK_ADDR) ||                              \
	defined(IBV_REG_MR_MASK_FD) || defined(IBV_REG_MR_MASK_FD_OFFSET) ||                       \
	defined(IBV_REG_MR_MASK_DMAH) || defined(IBV_REG_MR_MASK_BUF) ||                           \
	defined(IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC) ||                         \
	defined(IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
#error "a constant is a macro"
#endif
#if defined(ibv_mr_init_attr) || defined(ibv_mr_init_attr_mask) || defined(ibv_reg_mr_ex)
#error "a name is a macro"
#endif
#ifndef IBV_DEVICE_CC_DMA_BOUNCE
#error "IBV_DEVICE_CC_DMA_BOUNCE is missing"
#endif
#if IBV_DEVICE_CC_DMA_BOUNCE != 0x20000000000
#error "IBV_DEVICE_CC_DMA_BOUNCE has another value"
#endif
#ifdef WRAPPED
#if IBVBUF_API_RELEASE != 65
#error "IBVBUF_API_RELEASE is not 65"
#endif
#endif
ASSERT(SAME_TYPE(IBV_DEVICE_CC_DMA_BOUNCE, unsigned long long));

ASSERT(IBV_REG_MR_MASK_IOVA == 1);
ASSERT(IBV_REG_MR_MASK_ADDR == 2);
ASSERT(IBV_REG_MR_MASK_FD == 4);
ASSERT(IBV_REG_MR_MASK_FD_OFFSET == 8);
ASSERT(IBV_REG_MR_MASK_DMAH == 16);
ASSERT(IBV_REG_MR_MASK_BUF == 32);
ASSERT(SAME_ENUM(IBV_REG_MR_MASK_IOVA, enum ibv_mr_init_attr_mask));
ASSERT(SAME_ENUM(IBV_REG_MR_MASK_BUF, enum ibv_mr_init_attr_mask));
ASSERT(sizeof(enum ibv_mr_init_attr_mask) == 4);

ASSERT(IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC == 4);
ASSERT(SAME_ENUM(IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC,
		 enum ibv_parent_domain_init_attr_mask));
#ifdef IBV_ALLOCATOR_USE_DEFAULT
ASSERT(IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS == 1);
ASSERT(IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT == 2);
#endif

/* struct ibv_mr_init_attr, on a machine whose pointers have 64 bits */
#if UINTPTR_MAX == UINT64_MAX
ASSERT(sizeof(struct ibv_mr_init_attr) == 72);
ASSERT(offsetof(struct ibv_mr_init_attr, length) == 0);
ASSERT(offsetof(struct ibv_mr_init_attr, access) == 8);
ASSERT(offsetof(struct ibv_mr_init_attr, comp_mask) == 16);
ASSERT(offsetof(struct ibv_mr_init_attr, iova) == 24);
ASSERT(offsetof(struct ibv_mr_init_attr, addr) == 32);
ASSERT(offsetof(struct ibv_mr_init_attr, fd) == 40);
ASSERT(offsetof(struct ibv_mr_init_attr, fd_offset) == 48);
ASSERT(offsetof(struct ibv_mr_init_attr, dmah) == 56);
ASSERT(offsetof(struct ibv_mr_init_attr, buf) == 64);
#endif
ASSERT(SAME_TYPE(FIELD(struct ibv_mr_init_attr, length), size_t));
ASSERT(SAME_TYPE(FIELD(struct ibv_mr_init_attr, access), int));
ASSERT(SAME_TYPE(FIELD(struct ibv_mr_init_attr, comp_mask), uint64_t));
ASSERT(SAME_TYPE(FIELD(struct ibv_mr_init_attr, iova), uint64_t));
ASSERT(SAME_TYPE(FIELD(struct ibv_mr_init_attr, addr), void *));
ASSERT(SAME_TYPE(FIELD(struct ibv_mr_init_attr, fd), int));
ASSERT(SAME_TYPE(FIELD(struct ibv_mr_init_attr, fd_offset), uint64_t));
ASSERT(SAME_TYPE(FIELD(struct ibv_mr_init_attr, dmah), struct ibv_dmah *));
ASSERT(SAME_TYPE(FIELD(struct ibv_mr_init_attr, buf), struct ibv_buf *));

/* functions */
ASSERT(SAME_TYPE(ibv_alloc_buf, void *(struct ibv_pd *, size_t, struct ibv_buf **)));
ASSERT(SAME_TYPE(ibv_free_buf, void(struct ibv_buf *)));
ASSERT(SAME_TYPE(ibv_reg_buf_mr,
		 struct ibv_mr *(struct ibv_pd *, struct ibv_buf *, void *, size_t, int)));
ASSERT(SAME_TYPE(ibv_reg_mr_ex, struct ibv_mr *(struct ibv_pd *, struct ibv_mr_init_attr *)));
ASSERT(SAME_TYPE(ibv_export_buf_dmabuf_fd, int(struct ibv_buf *)));

/* Their symbols must be those of C. */
#ifdef __cplusplus
extern "C"
#endif
	int
	use(struct ibv_pd *pd, struct ibv_mr **regions);

int use(struct ibv_pd *pd, struct ibv_mr **regions)
{
	struct ibv_parent_domain_init_attr domain;
	struct ibv_mr_init_attr attr;
	struct ibv_buf *buf;

#ifdef IBV_ALLOCATOR_USE_DEFAULT
	domain.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			   IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT |
			   IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC;
#else
	domain.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC;
#endif
	attr.addr = ibv_alloc_buf(pd, domain.comp_mask, &buf);
	attr.comp_mask = IBV_REG_MR_MASK_BUF | IBV_REG_MR_MASK_ADDR;
	attr.buf = buf;
	regions[0] = ibv_reg_mr_ex(pd, &attr);
	regions[1] = ibv_reg_buf_mr(pd, buf, attr.addr, 1, 0);
	ibv_free_buf(buf);
	return ibv_export_buf_dmabuf_fd(buf);
}
