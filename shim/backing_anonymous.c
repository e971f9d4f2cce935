// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ordinary buffers: private anonymous pages, straight from mmap. They are zero, they are whole
 * pages, and no page is shared with anything else: a remote peer that is given the buffer sees
 * nothing of the heap, and fork protection covers nothing but the buffer.
 *
 * Pinning and mapping for the device cost by the page, so from 2 MiB on the buffer starts at a
 * 2 MiB boundary and huge pages are asked for.
 *
 * Freed pages go back to the kernel. Kept for the next buffer they would cost less; but a
 * registration that outlives its buffer still reads and writes the old pages, and there are
 * registrations that nobody here sees. A program that still uses the buffer is stopped, too.
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
	/* A length is at most PTRDIFF_MAX: no sum here can wrap. */
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

static int allocate_anonymous(const struct backing_choice *choice, int device_fd, size_t size,
			      struct backing_memory *memory)
{
	size_t length = backing_length(size, (size_t)getpagesize());
	void *address = NULL;

	(void)choice;
	(void)device_fd;
	if (length >= HUGE_PAGE_SIZE && config_get()->transparent_huge_pages) {
		address = map_aligned(length);
		/* Advice: a kernel without huge pages refuses it, and small pages do as well. */
		if (address)
			madvise(address, length, MADV_HUGEPAGE);
	}
	/* Where the spare room is too much, the buffer itself may still fit. */
	if (length && !address)
		address = map(length);
	if (!address) {
		/* Also for EAGAIN, which mlockall() makes of a size over the limit. */
		errno = ENOMEM;
		return -1;
	}
	*memory = (struct backing_memory){address, length, -1};
	return 0;
}

const struct backing backing_anonymous = {
	.kind = BACKING_ANONYMOUS,
	.name = "anonymous",
	.is_private = true,
	.is_pinnable = true,
	.allocate = allocate_anonymous,
};
