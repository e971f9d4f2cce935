/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a buffer's memory is made of. One small interface, one file a kind.
 */
#ifndef IBVBUF_BACKING_H
#define IBVBUF_BACKING_H

#include <stddef.h>

/**
 * struct backing_memory - the memory of one buffer
 * @address: where it is mapped, page aligned, zero-filled
 * @length: bytes mapped there: the size asked for, rounded up to whole pages of its own
 * @dmabuf_fd: the DMA-buf that holds it, or -1
 */
struct backing_memory {
	void *address;
	size_t length;
	int dmabuf_fd;
};

/**
 * struct backing - a kind of memory
 * @name: what the configuration and the diagnostics call it
 * @allocate: fill in @memory with at least @size bytes (more than 0); 0, or -1 with errno set and
 *	nothing left behind. A size that cannot be had, however large, is ENOMEM.
 * @release: give it back
 *
 * Both may be called by any thread at any time.
 */
struct backing {
	const char *name;
	int (*allocate)(size_t size, struct backing_memory *memory);
	void (*release)(const struct backing_memory *memory);
};

/* Private anonymous pages, huge ones where that can be. */
extern const struct backing backing_anonymous;

#endif
