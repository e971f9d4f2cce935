// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A stand-in for a libibverbs with devices, to see how they are asked: one that registers DMA-buf
 * memory, one that does not, one that cannot be opened, and the one that FAKE_LAST names: it ends
 * the process ("crash") or never answers ("hang").
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>

static struct ibv_device devices[4];
static struct ibv_device *list[] = {&devices[0], &devices[1], &devices[2], NULL, NULL};
static const char *const names[] = {"with_dmabuf", "without_dmabuf", "closed", "last"};
static struct verbs_context contexts[4];
static struct ibv_pd domain;

static int query_device_ex(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attributes, size_t size)
{
	(void)input;
	(void)size;
	attributes->device_cap_flags_ex = context->device == &devices[0] ? 1ULL << 41 : 0;
	return 0;
}

#undef ibv_get_device_list
struct ibv_device **ibv_get_device_list(int *count)
{
	/* who does not ask for their number only wants to see that this can be called */
	if (!count)
		return NULL;
	*count = 3;
	if (getenv("FAKE_LAST")) {
		list[3] = &devices[3];
		*count = 4;
	}
	return list;
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return names[device - devices];
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct verbs_context *context = &contexts[device - devices];

	if (device == &devices[2]) {
		errno = EACCES;
		return NULL;
	}
	if (device == &devices[3]) {
		if (!strcmp(getenv("FAKE_LAST"), "crash"))
			abort();
		/* for a launcher that does not come to end it */
		alarm(30);
		for (;;)
			pause();
	}
	context->context.device = device;
	context->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	/* the second device's context is of a time before this operation */
	context->sz = device == &devices[0] ? sizeof(*context) : sizeof(struct ibv_context);
	context->query_device_ex = query_device_ex;
	return &context->context;
}

int ibv_close_device(struct ibv_context *context)
{
	(void)context;
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	domain.context = context;
	return &domain;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	(void)pd;
	return 0;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	(void)mr;
	return 0;
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				 int fd, int access)
{
	(void)offset;
	(void)length;
	(void)iova;
	(void)access;
	errno = fd == -1 && pd->context->device == &devices[0] ? EBADF : EOPNOTSUPP;
	return NULL;
}
