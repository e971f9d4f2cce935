// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The operation reg_dmabuf_mr for the provider of soft-RoCE. For tests alone: see README.md.
 *
 * A provider hands its operations to libibverbs with verbs_set_ops(), one call a context.
 * Preloaded, this library is called instead; it passes the call on, and then hands over the one
 * operation more, in the same way. All else is libibverbs' own, and the provider's.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <infiniband/verbs.h>

/*
 * struct verbs_context_ops, which belongs to providers and is in no installed header: it is sorted
 * by name and has no member but pointers to functions. The private version of libibverbs changes
 * with it. NULL is for operations that the provider lacks; there is room for more than either
 * release has.
 */
union operations {
	void *operation[128];
	struct {
		void *before[67];
		void *reg_dmabuf_mr;
	} of_34;
	struct {
		void *before[81];
		void *reg_dmabuf_mr;
	} of_65;
};

/* struct verbs_mr, the same in both; rxe's own operation for deregistering frees it. */
struct registration {
	struct ibv_mr mr;
	int type;
	int access;
};

typedef void set_ops(struct verbs_context *context, const union operations *operations);
typedef int cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
			      int fd, int access, struct registration *registration);
typedef int cmd_reg_dmabuf_mr_65(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				 int fd, int access, struct registration *registration,
				 void *of_driver);

/* Of libibverbs itself, by handle: what is before it in the search is this library. */
static void *of_libibverbs(const char *name, const char *version)
{
	void *handle = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *symbol = handle ? dlvsym(handle, name, version) : NULL;

	if (!symbol) {
		fprintf(stderr, "libibverbs has no %s of %s\n", name, version);
		abort();
	}
	dlclose(handle);
	return symbol;
}

/* As every provider with this operation has it: the kernel's answer, and libibverbs fills the rest.
 */
static struct ibv_mr *finish(struct registration *registration, int error)
{
	if (error) {
		free(registration);
		errno = error;
		return NULL;
	}
	return &registration->mr;
}

static struct ibv_mr *reg_dmabuf_mr_34(struct ibv_pd *pd, uint64_t offset, size_t length,
				       uint64_t iova, int fd, int access)
{
	cmd_reg_dmabuf_mr *cmd = of_libibverbs("ibv_cmd_reg_dmabuf_mr", "IBVERBS_PRIVATE_34");
	struct registration *registration = calloc(1, sizeof(*registration));

	if (!registration)
		return NULL;
	registration->access = access;
	return finish(registration, cmd(pd, offset, length, iova, fd, access, registration));
}

static struct ibv_mr *reg_dmabuf_mr_65(struct ibv_pd *pd, uint64_t offset, size_t length,
				       uint64_t iova, int fd, int access)
{
	cmd_reg_dmabuf_mr_65 *cmd = of_libibverbs("ibv_cmd_reg_dmabuf_mr", "IBVERBS_PRIVATE_65");
	struct registration *registration = calloc(1, sizeof(*registration));

	if (!registration)
		return NULL;
	registration->access = access;
	return finish(registration, cmd(pd, offset, length, iova, fd, access, registration, NULL));
}

void set_ops_34(struct verbs_context *context, const union operations *operations);
void set_ops_65(struct verbs_context *context, const union operations *operations);

void set_ops_34(struct verbs_context *context, const union operations *operations)
{
	static const union operations more = {.of_34.reg_dmabuf_mr = reg_dmabuf_mr_34};
	set_ops *original = of_libibverbs("verbs_set_ops", "IBVERBS_PRIVATE_34");

	original(context, operations);
	original(context, &more);
}

void set_ops_65(struct verbs_context *context, const union operations *operations)
{
	static const union operations more = {.of_65.reg_dmabuf_mr = reg_dmabuf_mr_65};
	set_ops *original = of_libibverbs("verbs_set_ops", "IBVERBS_PRIVATE_65");

	original(context, operations);
	original(context, &more);
}

__asm__(".symver set_ops_34, verbs_set_ops@IBVERBS_PRIVATE_34");
__asm__(".symver set_ops_65, verbs_set_ops@IBVERBS_PRIVATE_65");
