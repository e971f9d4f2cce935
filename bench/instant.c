// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A libibverbs of before 64 that answers at once, so that what is measured is the way up to it. The
 * calls have the symbols and the versions of the real one; none does anything.
 */
#include <infiniband/verbs.h>

#undef ibv_reg_mr

#define AT_NODE(name, node) __asm__(".symver instant_" #name ", ibv_" #name "@@" node)

struct ibv_device **instant_get_device_list(int *count);
struct ibv_pd *instant_alloc_pd(struct ibv_context *context);
struct ibv_mr *instant_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access);
int instant_dereg_mr(struct ibv_mr *mr);
struct ibv_mr *instant_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				    unsigned int access);
int instant_dontfork_range(void *base, size_t size);
int instant_dofork_range(void *base, size_t size);
enum ibv_fork_status instant_is_fork_initialized(void);

static struct ibv_device device = {.name = "instant"};
static struct ibv_context context_of_all = {.device = &device};
static struct ibv_pd domain;
static struct ibv_mr region = {.context = &context_of_all, .pd = &domain};

/* What the shim knows a libibverbs by. */
struct ibv_device **instant_get_device_list(int *count)
{
	if (count)
		*count = 0;
	return NULL;
}
AT_NODE(get_device_list, "IBVERBS_1.1");

struct ibv_pd *instant_alloc_pd(struct ibv_context *context)
{
	domain.context = context ? context : &context_of_all;
	return &domain;
}
AT_NODE(alloc_pd, "IBVERBS_1.1");

struct ibv_mr *instant_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	(void)addr;
	(void)length;
	(void)access;
	return pd ? &region : NULL;
}
AT_NODE(reg_mr, "IBVERBS_1.1");

int instant_dereg_mr(struct ibv_mr *mr)
{
	(void)mr;
	return 0;
}
AT_NODE(dereg_mr, "IBVERBS_1.1");

struct ibv_mr *instant_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				    unsigned int access)
{
	(void)addr;
	(void)length;
	(void)iova;
	(void)access;
	return pd ? &region : NULL;
}
AT_NODE(reg_mr_iova2, "IBVERBS_1.8");

int instant_dontfork_range(void *base, size_t size)
{
	(void)base;
	(void)size;
	return 0;
}
AT_NODE(dontfork_range, "IBVERBS_1.1");

int instant_dofork_range(void *base, size_t size)
{
	(void)base;
	(void)size;
	return 0;
}
AT_NODE(dofork_range, "IBVERBS_1.1");

enum ibv_fork_status instant_is_fork_initialized(void)
{
	return IBV_FORK_DISABLED;
}
AT_NODE(is_fork_initialized, "IBVERBS_1.13");
