/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The rehearsal of a confidential guest (cc_rehearsal = yes): any device looks like one whose
 * transfers would have to go through bounce buffers there, and refuses what such a one refuses.
 */
#ifndef IBVBUF_REHEARSAL_H
#define IBVBUF_REHEARSAL_H

#include "config.h"

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>

typedef int query_device_function(struct ibv_context *context,
				  const struct ibv_query_device_ex_input *input,
				  struct ibv_device_attr_ex *attr, size_t size);
typedef struct ibv_cq_ex *create_cq_function(struct ibv_context *context,
					     struct ibv_cq_init_attr_ex *attr);

/* The device's own answer, and IBV_DEVICE_CC_DMA_BOUNCE. */
int rehearsal_query_device(query_device_function *provider, struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t size);

/* A completion queue of a parent domain, also where a stand-in is one that the provider lacks. */
struct ibv_cq_ex *rehearsal_create_cq(create_cq_function *provider, struct ibv_context *context,
				      struct ibv_cq_init_attr_ex *attr);

/* Behind rehearsal_refuses(); use that. */
bool rehearsal_refuses_now(const void *addr, size_t length, const void *caller);

/**
 * rehearsal_refuses - whether memory could not be registered by its address in such a guest
 *
 * True in a rehearsal for what does not lie in a buffer of shared memory; that is reported, once
 * for each @caller, and errno is EOPNOTSUPP, as the kernel has it. Always false without a
 * rehearsal.
 */
static inline bool rehearsal_refuses(const void *addr, size_t length, const void *caller)
{
	return __builtin_expect(config_get()->cc_rehearsal, 0) &&
	       rehearsal_refuses_now(addr, length, caller);
}

#endif
