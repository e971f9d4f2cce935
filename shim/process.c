// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Telling a child from its parent, whichever way it was forked (a raw clone() calls no handler of
 * pthread_atfork). One page holds the number of this process. The kernel clears that page in the
 * child; an empty page means that a number has to be taken. Ordinary memory, inherited by the
 * child, holds the last number that was taken, so no ancestor's comes again.
 *
 * Where the kernel cannot clear it, the page holds the process id beside the number.
 */
#define _GNU_SOURCE
#include "process.h"

#include <sys/mman.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

#define GENERATION_BITS 32
#define GENERATION_MASK ((UINT64_C(1) << GENERATION_BITS) - 1)

struct process_page *process_page;
static struct process_page fallback = {.is_kept = true};
static uint64_t last_generation;

void *process_map_wiped(size_t length, bool *is_wiped)
{
	void *memory =
		mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	*is_wiped = !madvise(memory, length, MADV_WIPEONFORK);
	return memory;
}

/* Also without a page, if there is no memory for one: then by process id, in ordinary memory. */
static struct process_page *page_to_use(void)
{
	/* acquire: pairs with the release below */
	struct process_page *page = __atomic_load_n(&process_page, __ATOMIC_ACQUIRE);
	struct process_page *none = NULL;
	bool is_wiped;

	if (page)
		return page;
	page = process_map_wiped(sizeof(*page), &is_wiped);
	if (!page)
		return &fallback;
	page->is_kept = !is_wiped;
	if (__atomic_compare_exchange_n(&process_page, &none, page, false, __ATOMIC_RELEASE,
					__ATOMIC_ACQUIRE))
		return page;
	munmap(page, sizeof(*page));
	return none;
}

uint64_t process_generation_find(void)
{
	struct process_page *page = page_to_use();
	uint64_t current = __atomic_load_n(&page->word, __ATOMIC_RELAXED);
	uint64_t owner = page->is_kept ? (uint64_t)process_id() : 0;
	uint64_t taken;

	if (__builtin_expect(current != 0 && current >> GENERATION_BITS == owner, 1))
		return current & GENERATION_MASK;

	taken = __atomic_add_fetch(&last_generation, 1, __ATOMIC_RELAXED) & GENERATION_MASK;
	taken |= owner << GENERATION_BITS;
	/* Of several threads, one takes the number for all. */
	if (!__atomic_compare_exchange_n(&page->word, &current, taken, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		taken = current;
	return taken & GENERATION_MASK;
}
