/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBVBUF_POPULATE_H
#define IBVBUF_POPULATE_H

#include <stddef.h>
#include <sys/mman.h>

/* Linux 5.14; the headers of older systems lack it. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/**
 * populate - have all pages at once, of memory that is going to be written to
 *
 * One call takes less than the faults of two pages. Not every kernel can, and nothing depends on
 * it: pages come as they are touched then. May change errno.
 */
static inline void populate(void *address, size_t length)
{
	madvise(address, length, MADV_POPULATE_WRITE);
}

#endif
