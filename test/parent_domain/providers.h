/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Stand-ins for providers that have parent domains: each with an operation of its own, which
 * refuses what it does not know, and remembers what it was asked for.
 */
#ifndef PROVIDERS_H
#define PROVIDERS_H

#include "library.h"

#include <stdbool.h>

#define PROVIDERS 12

/* A bit of a parent domain's comp_mask that no provider knows. */
#define UNKNOWN_BIT (1U << 20)

/**
 * struct provider_device - an open device
 * @opened: for ibv_open_device()
 * @extended: its context; @extended.context is what verbs calls take
 * @capabilities: what it tells of itself, as device_cap_flags_ex
 * @query_error: or the errno with which it refuses to
 * @parents_made: by the operation
 * @seen: what the operation was asked for last
 * @seen_at: where that lay
 * @seen_by: the number of the provider whose operation it was
 */
struct provider_device {
	struct library_device opened;
	struct verbs_context extended;
	uint64_t capabilities;
	int query_error;
	unsigned int parents_made;
	struct ibv_parent_domain_init_attr seen;
	const struct ibv_parent_domain_init_attr *seen_at;
	int seen_by;
};

typedef struct ibv_pd *parent_operation(struct ibv_context *context,
					struct ibv_parent_domain_init_attr *attr);

/* The operations of the providers. */
extern parent_operation *const parent_operations[PROVIDERS];

/* A device of that provider; it must not move afterwards. */
void place_device(struct provider_device *device, int provider);

static inline struct ibv_context *context_of(struct provider_device *device)
{
	return &device->extended.context;
}

/* Whether the operation of the device is no longer its provider's own. */
bool is_hooked(const struct provider_device *device);

/* Let every provider know these bits of a parent domain's comp_mask as well. */
void providers_know(uint32_t bits);

/* Let the operation of every provider fail with that errno; 0 ends it. */
void providers_fail(int error);

#endif
