// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The calls of newer_calls.def: each the library's own, or the answer for where it has none.
 */
#include "newer_calls.h"
#include "fork_status.h"
#include "original_lookup.h"

#include <errno.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static const struct {
	const char *name;
	const char *node;
} calls[NEWER_COUNT] = {
#define NEWER(name, node, release, result, parameters, arguments, answer)                          \
	[NEWER_##name] = {#name, node},
#define WATCHED(name, node, release)
#include "newer_calls.def"
#undef NEWER
#undef WATCHED
};

static const char *const private_nodes[] = {
#define PUBLIC_NODE(node, release)
#define PRIVATE_NODE(node, release) node,
#include "version_nodes.def"
#undef PUBLIC_NODE
#undef PRIVATE_NODE
};

#define PRIVATE_NODE_COUNT (sizeof(private_nodes) / sizeof(private_nodes[0]))

static void *addresses[NEWER_COUNT];

static int is_private(const char *node)
{
	return !strncmp(node, "IBVERBS_PRIVATE_", strlen("IBVERBS_PRIVATE_"));
}

/* A library has one private node, and its own name for it; newest first. */
static void *resolve_private(const char *name)
{
	size_t i = PRIVATE_NODE_COUNT;
	void *address = NULL;

	do {
		address = original_lookup(name, private_nodes[--i]);
	} while (i && address == &original_absent);
	return address;
}

static void *own_of_library(enum newer_call call)
{
	/* acquire: pairs with the release below */
	void *address = __atomic_load_n(&addresses[call], __ATOMIC_ACQUIRE);

	if (!address) {
		address = is_private(calls[call].node)
				  ? resolve_private(calls[call].name)
				  : original_lookup(calls[call].name, calls[call].node);
		__atomic_store_n(&addresses[call], address, __ATOMIC_RELEASE);
	}
	return address == &original_absent ? NULL : address;
}

static void *unsupported_object(void)
{
	errno = EOPNOTSUPP;
	return NULL;
}

static int unsupported_number(void)
{
	errno = EOPNOTSUPP;
	return -1;
}

static int unsupported_caps(struct ibv_comp_cntr_caps *caps, size_t caps_size)
{
	memset(caps, 0, caps_size);
	return EOPNOTSUPP;
}

#define NEWER(name, node, release, result, parameters, arguments, answer)                          \
	EXPORT result name parameters;                                                             \
	EXPORT result name parameters                                                              \
	{                                                                                          \
		typedef result own_function parameters;                                            \
		own_function *own = (own_function *)own_of_library(NEWER_##name);                  \
                                                                                                   \
		if (own)                                                                           \
			return own arguments;                                                      \
		return answer;                                                                     \
	}
#define WATCHED(name, node, release)
#include "newer_calls.def"
#undef NEWER
#undef WATCHED
