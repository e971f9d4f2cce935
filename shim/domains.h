/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Protection domains, told apart even when a new one lies at the address of an old one.
 */
#ifndef IBVBUF_DOMAINS_H
#define IBVBUF_DOMAINS_H

#include <infiniband/verbs.h>
#include <stdint.h>

struct ibv_pd *domain_alloc(struct ibv_context *context);
int domain_dealloc(struct ibv_pd *pd);

/**
 * domain_serial - which domain lies at that address
 *
 * 0 for one that was not seen being made: a parent domain or an imported one. Those are known by
 * their address alone. Any thread.
 */
uint64_t domain_serial(const struct ibv_pd *pd);

#endif
