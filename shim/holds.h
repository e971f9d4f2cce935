/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Memory regions that hold small memory, by their address, so that what a deregistration ends is
 * exactly what its registration began. Regions of other memory leave no trace here.
 *
 * Any thread. All preserve errno.
 */
#ifndef IBVBUF_HOLDS_H
#define IBVBUF_HOLDS_H

#include <infiniband/verbs.h>
#include <stddef.h>

/**
 * struct hold - what a memory region holds
 * @addr: the first byte of the registration
 * @length: its bytes; 0 for none
 */
struct hold {
	const void *addr;
	size_t length;
};

/* A region covers a range from now on. Once, however often that is said. */
void hold_begin(const struct ibv_mr *mr, const void *addr, size_t length);

/*
 * Before a region is deregistered: after it, another one may have its address. Then end what it
 * held or, if that failed, put it back.
 */
struct hold hold_take(const struct ibv_mr *mr);
void hold_end(struct hold hold);
void hold_put_back(const struct ibv_mr *mr, struct hold hold);

#endif
