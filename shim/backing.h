/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a buffer's memory is made of. One small interface, one file a kind.
 */
#ifndef IBVBUF_BACKING_H
#define IBVBUF_BACKING_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* BACKING_AUTO is a choice only: memory is of one of the others. */
enum backing_kind {
	BACKING_AUTO,
	BACKING_ANONYMOUS,
	BACKING_HUGETLB,
	BACKING_DMA_HEAP,
	BACKING_UDMABUF,
};

/**
 * struct backing_choice - a kind of memory, and what it needs to know
 * @kind: which
 * @huge_page_size: of BACKING_HUGETLB: bytes from 4096 on, or 0 for the default of the system
 * @heap: of BACKING_DMA_HEAP: its name in /dev/dma_heap
 */
struct backing_choice {
	enum backing_kind kind;
	size_t huge_page_size;
	char heap[NAME_MAX + 1];
};

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
 * @kind: which
 * @name: what the configuration and the diagnostics call it
 * @is_private: private to the process, so that a fork copies it
 * @is_pinnable: can be registered by its address (what cannot is registered as a DMA-buf)
 * @allocate: fill in @memory with at least @size bytes (more than 0); 0, or -1 with errno set and
 *	nothing left behind. A size that cannot be had, however large, is ENOMEM; only
 *	BACKING_UDMABUF says EFBIG to what is over the limit of the kernel's module or that on
 *	files, which can be raised. @device_fd is the open heap or /dev/udmabuf, or -1 to open the
 *	one of the choice.
 *
 * Any thread at any time. backing_release() gives any kind back.
 */
struct backing {
	enum backing_kind kind;
	const char *name;
	bool is_private;
	bool is_pinnable;
	int (*allocate)(const struct backing_choice *choice, int device_fd, size_t size,
			struct backing_memory *memory);
};

extern const struct backing backing_anonymous;
extern const struct backing backing_hugetlb;
extern const struct backing backing_dma_heap;
extern const struct backing backing_udmabuf;

const struct backing *backing_of_kind(enum backing_kind kind);

void backing_release(const struct backing_memory *memory);

/**
 * backing_length - a size rounded up to whole pages of @page_size bytes
 *
 * 0 for a size that no mapping can have.
 */
size_t backing_length(size_t size, size_t page_size);

/* An open DMA-buf heap, or /dev/udmabuf, close-on-exec; -1 with the errno of the open. */
int backing_open_heap(const char *name);
int backing_open_udmabuf(void);

#endif
