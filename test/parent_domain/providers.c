// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "providers.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static uint32_t known_bits = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
static int failure;

void providers_know(uint32_t bits)
{
	known_bits |= bits;
}

void providers_fail(int error)
{
	failure = error;
}

static struct provider_device *device_of(struct ibv_context *context)
{
	return (struct provider_device *)((char *)context -
					  offsetof(struct provider_device, extended.context));
}

/* As a provider does for its queues: memory by the program's own allocators. */
static void use_allocators(struct ibv_pd *pd, const struct ibv_parent_domain_init_attr *attr)
{
	void *memory = attr->alloc(pd, attr->pd_context, 64, 16, 7);

	attr->free(pd, attr->pd_context, memory, 7);
}

static struct ibv_pd *make_parent(int provider, struct ibv_context *context,
				  struct ibv_parent_domain_init_attr *attr)
{
	struct provider_device *device = device_of(context);
	struct ibv_pd *pd;

	memcpy(&device->seen, attr, sizeof(*attr));
	device->seen_at = attr;
	device->seen_by = provider;
	if (failure || (attr->comp_mask & ~known_bits)) {
		errno = failure ? failure : EINVAL;
		return NULL;
	}
	pd = library_new_domain(context);
	if (!pd)
		return NULL;
	__atomic_add_fetch(&device->parents_made, 1, __ATOMIC_RELAXED);
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS)
		use_allocators(pd, attr);
	return pd;
}

#define FOR_EACH_PROVIDER(use)                                                                     \
	use(0) use(1) use(2) use(3) use(4) use(5) use(6) use(7) use(8) use(9) use(10) use(11)
#define OPERATION(n)                                                                               \
	static struct ibv_pd *parent_operation_##n(struct ibv_context *context,                    \
						   struct ibv_parent_domain_init_attr *attr)       \
	{                                                                                          \
		return make_parent(n, context, attr);                                              \
	}
FOR_EACH_PROVIDER(OPERATION)
#define OPERATION_NAME(n) parent_operation_##n,
parent_operation *const parent_operations[PROVIDERS] = {FOR_EACH_PROVIDER(OPERATION_NAME)};

static int query_device(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			struct ibv_device_attr_ex *attr, size_t size)
{
	(void)input;
	if (device_of(context)->query_error)
		return device_of(context)->query_error;
	memset(attr, 0, size);
	attr->device_cap_flags_ex = device_of(context)->capabilities;
	return 0;
}

void place_device(struct provider_device *device, int provider)
{
	memset(device, 0, sizeof(*device));
	device->opened.context = &device->extended.context;
	device->extended.sz = sizeof(device->extended);
	device->extended.query_device_ex = query_device;
	device->extended.alloc_parent_domain = parent_operations[provider];
	device->extended.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	device->extended.context.device = &device->opened.device;
}

bool is_hooked(const struct provider_device *device)
{
	int provider;

	for (provider = 0; provider < PROVIDERS; provider++)
		if (device->extended.alloc_parent_domain == parent_operations[provider])
			return false;
	return true;
}
