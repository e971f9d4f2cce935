/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Protection domains: told apart even when a new one lies at the address of an old one, and which
 * of them may have unprotected memory.
 */
#ifndef IBVBUF_DOMAINS_H
#define IBVBUF_DOMAINS_H

#include "backing.h"

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct ibv_pd *alloc_parent_domain_function(struct ibv_context *context,
						    struct ibv_parent_domain_init_attr *attr);

struct ibv_pd *domain_alloc(struct ibv_context *context);
struct ibv_pd *domain_import(struct ibv_context *context, uint32_t pd_handle);
/* @is_gone: false after a failure, and where one went that stood in for a parent domain. */
int domain_dealloc(struct ibv_pd *pd, const void *caller, bool *is_gone);
void domain_unimport(struct ibv_pd *pd, const void *caller);

/**
 * domain_alloc_parent - ibv_alloc_parent_domain() with the opt-in for unprotected memory
 * @provider: the operation of the provider, or NULL if it has none
 *
 * The provider is not shown the opt-in if it may not know it; everything else is its own to accept
 * or to refuse.
 */
struct ibv_pd *domain_alloc_parent(alloc_parent_domain_function *provider,
				   struct ibv_context *context,
				   struct ibv_parent_domain_init_attr *attr);

/**
 * domain_is - whether the domain at that address is still the one that a buffer was allocated of
 * @pd: its address at the allocation
 * @serial: what domain_add_buffer() answered then
 *
 * Any thread. Costs a load as long as no domain has gone since that one was made.
 */
bool domain_is(const struct ibv_pd *pd, uint64_t serial);

/**
 * struct domain_memory - where a domain's buffers come from
 * @backing: the kind
 * @choice: what it has to know
 * @device_fd: the open heap or /dev/udmabuf, the domain's own, or -1
 */
struct domain_memory {
	const struct backing *backing;
	const struct backing_choice *choice;
	int device_fd;
};

struct domain_memory domain_memory(const struct ibv_pd *pd);

/* Whether a parent domain stands in for an operation that the provider lacks: the domain itself. */
bool domain_is_stand_in(const struct ibv_pd *pd);

/*
 * Counts the buffers of a domain, for the report of one that is deallocated too early. Answers its
 * serial; 0 for one that was not seen being made, which is known by its address alone.
 */
uint64_t domain_add_buffer(const struct ibv_pd *pd);
void domain_drop_buffer(const struct ibv_pd *pd, uint64_t serial);

#endif
