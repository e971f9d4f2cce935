// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ordinary buffers: private anonymous pages, straight from mmap. They are zero, they are whole
 * pages, and no page is shared with anything else: a remote peer that is given the buffer sees
 * nothing of the heap, and fork protection covers nothing but the buffer.
 *
 * Pinning and mapping for the device cost by the page, so from 2 MiB on the buffer starts at a
 * 2 MiB boundary and huge pages are asked for.
 */
#define _GNU_SOURCE
#include "backing.h"
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE_SIZE ((size_t)2 << 20)

static void *map(size_t length)
{
	void *address =
		mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return address == MAP_FAILED ? NULL : address;
}

/* Map with room to spare, and cut off what lies before and after the aligned part. */
static void *map_aligned(size_t length)
{
	char *mapped = map(length + HUGE_PAGE_SIZE);
	size_t head;

	if (!mapped)
		return NULL;
	head = -(uintptr_t)mapped & (HUGE_PAGE_SIZE - 1);
	if (head)
		munmap(mapped, head);
	if (head != HUGE_PAGE_SIZE)
		munmap(mapped + head + length, HUGE_PAGE_SIZE - head);
	return mapped + head;
}

static int allocate_anonymous(size_t size, struct backing_memory *memory)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	size_t length = (size + page_size - 1) & ~(page_size - 1);
	void *address = NULL;

	/* Nothing that large can be mapped, and no sum below can wrap. */
	if (size > PTRDIFF_MAX - HUGE_PAGE_SIZE)
		goto err_memory;

	if (length >= HUGE_PAGE_SIZE && config_get()->transparent_huge_pages) {
		address = map_aligned(length);
		/* Advice: a kernel without huge pages refuses it, and small pages do as well. */
		if (address)
			madvise(address, length, MADV_HUGEPAGE);
	}
	/* Where the spare room is too much, the buffer itself may still fit. */
	if (!address)
		address = map(length);
	if (!address)
		goto err_memory;

	memory->address = address;
	memory->length = length;
	memory->dmabuf_fd = -1;
	return 0;

err_memory:
	/* Also for EAGAIN, which mlockall() makes of a size over the limit. */
	errno = ENOMEM;
	return -1;
}

static void release_anonymous(const struct backing_memory *memory)
{
	munmap(memory->address, memory->length);
}

const struct backing backing_anonymous = {
	.name = "anonymous",
	.allocate = allocate_anonymous,
	.release = release_anonymous,
};
