// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ordinary buffers: private anonymous pages. They are zero, they are whole pages, and no page is
 * shared with anything else: a remote peer that is given the buffer sees nothing of the heap, and
 * fork protection covers nothing but the buffer.
 *
 * Three sizes, three ways:
 *  - Up to 64 KiB the memory is kept for the next buffer when it is freed; see small_memory.h. What
 *    has no room there is mapped.
 *  - Above that it is mapped, and goes back to the kernel: a program that still uses the buffer is
 *    stopped. As it is going to be pinned, all its pages are asked for at once, which takes a
 *    fraction of as many page faults.
 *  - Pinning and mapping for the device cost by the page, so from 2 MiB on the buffer starts at a
 *    2 MiB boundary and huge pages are asked for. Those come as they are touched, since few faults
 *    are saved, and somebody may want to choose on which node.
 */
#define _GNU_SOURCE
#include "backing.h"
#include "config.h"
#include "small_memory.h"
#include "straight.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE_SIZE ((size_t)2 << 20)

static void *map(size_t length, int flags)
{
	void *address = mmap(NULL, length, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	return address == MAP_FAILED ? NULL : address;
}

static size_t distance_to_huge_page(const void *address)
{
	return -(uintptr_t)address & (HUGE_PAGE_SIZE - 1);
}

/*
 * From Linux 6.7 on such a mapping is aligned by itself if its length is. Else: with room to spare,
 * and what lies before and after the aligned part is cut off.
 */
static void *map_aligned(size_t length)
{
	char *mapped = map(length, 0);
	size_t head;

	if (!mapped || !distance_to_huge_page(mapped))
		return mapped;
	munmap(mapped, length);
	/* A length is at most PTRDIFF_MAX: no sum here can wrap. */
	mapped = map(length + HUGE_PAGE_SIZE, 0);
	if (!mapped)
		return NULL;
	head = distance_to_huge_page(mapped);
	if (head)
		munmap(mapped, head);
	if (head != HUGE_PAGE_SIZE)
		munmap(mapped + head + length, HUGE_PAGE_SIZE - head);
	return mapped + head;
}

static bool is_populated(size_t length)
{
	return length > SMALL_MEMORY_MOST && length < HUGE_PAGE_SIZE;
}

static void *take_small(size_t length)
{
	void *address = small_memory_take(length);

	/* From now on registrations, and their ends, have to be seen. */
	if (address)
		straight_observe();
	return address;
}

static int allocate_anonymous(const struct backing_choice *choice, int device_fd, size_t size,
			      struct backing_memory *memory)
{
	size_t length = backing_length(size, (size_t)getpagesize());
	void *address = NULL;

	(void)choice;
	(void)device_fd;
	if (length && config_get()->keep_small_buffers)
		address = take_small(length);
	if (length >= HUGE_PAGE_SIZE && config_get()->transparent_huge_pages) {
		address = map_aligned(length);
		/* Advice: a kernel without huge pages refuses it, and small pages do as well. */
		if (address)
			madvise(address, length, MADV_HUGEPAGE);
	}
	/* Where the spare room is too much, the buffer itself may still fit. */
	if (length && !address)
		address = map(length, is_populated(length) ? MAP_POPULATE : 0);
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
