/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the tests of parent domains share. Each test is a process of its own, under the real
 * preload, over the stand-in library and its providers.
 */
#ifndef DOMAINS_TEST_H
#define DOMAINS_TEST_H

#include "heap.h"
#include "possessions.h"
#include "providers.h"

#include <errno.h>
#include <stdlib.h>

#define ALLOW_UNPROTECTED ((uint32_t)IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC)
#define HEAP_OF_GUESTS	  "system_cc_shared"

/* A value of errno that nobody sets. */
#define ERRNO_BEFORE 4242

#define assert_fails_with(error, call)                                                             \
	do {                                                                                       \
		errno = 0;                                                                         \
		cr_assert(!(call), "it did not fail");                                             \
		cr_assert_eq(errno, error, "errno is %d and not %d", errno, error);                \
	} while (0)

/* A domain of the device, which hooks its operations. */
static inline struct ibv_pd *new_domain(struct provider_device *device)
{
	struct ibv_pd *pd = ibv_alloc_pd(context_of(device));

	cr_assert_not_null(pd);
	return pd;
}

static inline struct ibv_pd *parent_with(struct provider_device *device, struct ibv_pd *pd,
					 uint32_t mask)
{
	struct ibv_parent_domain_init_attr attr = {.pd = pd, .comp_mask = mask};

	return ibv_alloc_parent_domain(context_of(device), &attr);
}

/* A device of the first provider that needs bounce buffers, in a guest that has the heap. */
static inline struct ibv_pd *domain_in_guest(struct provider_device *device)
{
	place_device(device, 0);
	device->capabilities = IBV_DEVICE_CC_DMA_BOUNCE;
	heap_offer(HEAP_OF_GUESTS);
	return new_domain(device);
}

#endif
