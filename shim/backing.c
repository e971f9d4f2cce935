// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "backing.h"
#include "raw_file.h"
#include "small_memory.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

const struct backing *backing_of_kind(enum backing_kind kind)
{
	static const struct backing *const kinds[] = {
		[BACKING_AUTO] = &backing_anonymous,  [BACKING_ANONYMOUS] = &backing_anonymous,
		[BACKING_HUGETLB] = &backing_hugetlb, [BACKING_DMA_HEAP] = &backing_dma_heap,
		[BACKING_UDMABUF] = &backing_udmabuf,
	};

	return kinds[kind];
}

size_t backing_length(size_t size, size_t page_size)
{
	if (size > PTRDIFF_MAX - page_size)
		return 0;
	return (size + page_size - 1) & ~(page_size - 1);
}

void backing_release(const struct backing_memory *memory)
{
	if (memory->length && small_memory_give(memory->address))
		return;
	/* A process at its limit of mappings cannot cut one in two; the pages go all the same. */
	if (munmap(memory->address, memory->length))
		madvise(memory->address, memory->length, MADV_DONTNEED);
	if (memory->dmabuf_fd >= 0)
		raw_close(memory->dmabuf_fd);
}
