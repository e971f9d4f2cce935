/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * An open device without a device: libibverbs itself makes its context, as it does for a provider,
 * and every operation in it is the library's default for one that the provider lacks.
 */
#ifndef DEVICE_CONTEXT_H
#define DEVICE_CONTEXT_H

#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

struct verbs_context;

static const char *const private_nodes[] = {
#define PUBLIC_NODE(node, release)
#define PRIVATE_NODE(node, release) node,
#include "dropin/version_nodes.def"
#undef PUBLIC_NODE
#undef PRIVATE_NODE
};

/* The library's function at its private node, whichever that is; by handle or RTLD_DEFAULT. */
static inline void *private_function(void *handle, const char *name)
{
	size_t i = sizeof(private_nodes) / sizeof(private_nodes[0]);
	void *address = NULL;

	while (i && !address)
		address = dlvsym(handle, name, private_nodes[--i]);
	return address;
}

/* The size of the library's struct is its own secret: the context is where the device is named. */
static inline struct ibv_context *device_context(void *handle)
{
	typedef void *init_function(struct ibv_device * device, int cmd_fd, size_t alloc_size,
				    struct verbs_context *offset, uint32_t driver);
	static union {
		struct ibv_device device;
		char space[4096];
	} device;
	init_function *init =
		(init_function *)private_function(handle, "_verbs_init_and_alloc_context");
	const size_t size = 8192;
	uintptr_t *word, *end;

	if (!init)
		return NULL;
	word = init(&device.device, -1, size, NULL, 0);
	if (!word)
		return NULL;
	for (end = word + size / sizeof(*word); word < end; word++) {
		if (*word == (uintptr_t)&device.device)
			return (struct ibv_context *)word;
	}
	return NULL;
}

#endif
