// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The range holds BLOCKS blocks of one page, then as many of two pages, of four, and so on. Which
 * blocks of a size are free is a word of bits: whoever clears a bit has the block, so there is
 * nothing that could be mistaken for what it was before (no ABA).
 *
 * The range is one mapping, which stays as it is, and is used up 64 KiB at a time. The pages of
 * such a stretch are asked for at once: one call takes less than the faults of two pages.
 *
 * What is known of the blocks is in memory that the kernel clears for a child. To a child there is
 * no range, until it reserves one.
 */
#define _GNU_SOURCE
#include "small_memory.h"
#include "process.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCKS	64 /* of a size: bits of a word */
#define CLASSES 5  /* sizes, with pages of 4 KiB; fewer with larger ones */
#define STRETCH SMALL_MEMORY_MOST

/* Linux 5.14; the headers of older systems lack it. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/**
 * struct blocks - all blocks of one size
 * @free: a bit for each that can be taken
 * @is_used: a bit for each that had an owner, and so may be other than zero
 * @stretches: how many are in use
 * @registrations: that live, in each
 */
struct blocks {
	uint64_t free;
	uint64_t is_used;
	uint64_t stretches;
	uint32_t registrations[BLOCKS];
};

/**
 * struct range - all of it
 * @base: the address of the first block, or NULL
 * @blocks: by class; a block of class c has 1 << c pages
 */
struct range {
	char *base;
	struct blocks blocks[CLASSES];
};

static struct range *range_of_process;

static bool cannot_wipe; /* Linux before 4.14 */

static unsigned int page_shift(void)
{
	return (unsigned int)__builtin_ctz((unsigned int)getpagesize());
}

/* Classes that there are with pages of this size. */
static unsigned int classes(void)
{
	unsigned int most = (unsigned int)__builtin_ctzl(SMALL_MEMORY_MOST);

	return most < page_shift() ? 0 : most - page_shift() + 1;
}

/* Where the blocks of a class begin, which is where those of the class below end. */
static size_t class_offset(unsigned int class)
{
	return ((((size_t)1 << class) - 1) * BLOCKS) << page_shift();
}

static size_t block_size(unsigned int class)
{
	return (size_t)1 << (class + page_shift());
}

/* A block, by its class and number. */
struct block {
	unsigned int class;
	unsigned int number;
};

static struct block block_at(size_t offset)
{
	size_t page = offset >> page_shift();
	unsigned int class = 63 ^ (unsigned int)__builtin_clzll(page / BLOCKS + 1);

	return (struct block){class, (unsigned int)((page >> class) - BLOCKS) +
					     (unsigned int)(BLOCKS >> class)};
}

static size_t block_offset(struct block block)
{
	return class_offset(block.class) + block.number * block_size(block.class);
}

/* The range of this process; NULL while it has none. */
static struct range *range_there_is(void)
{
	/* acquire: pairs with the release in range_to_use() */
	struct range *range = __atomic_load_n(&range_of_process, __ATOMIC_ACQUIRE);

	/* acquire: pairs with the release in reserve() */
	return range && __atomic_load_n(&range->base, __ATOMIC_ACQUIRE) ? range : NULL;
}

/* Pages of no use to anybody yet. Small ones: a buffer shall not take 2 MiB. */
static void *map_blocks(void *address, size_t length, int flags)
{
	void *blocks = mmap(address, length, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);

	if (blocks == MAP_FAILED)
		return NULL;
	madvise(blocks, length, MADV_NOHUGEPAGE);
	return blocks;
}

static bool reserve(struct range *range)
{
	char *base = map_blocks(NULL, class_offset(classes()), 0);
	char *none = NULL;

	if (!base)
		return false;
	/* Release, and acquire where another thread was first: who sees the address may use it. */
	if (!__atomic_compare_exchange_n(&range->base, &none, base, false, __ATOMIC_RELEASE,
					 __ATOMIC_ACQUIRE))
		munmap(base, class_offset(classes()));
	return true;
}

static struct range *range_to_use(void)
{
	/* acquire: pairs with the release below */
	struct range *range = __atomic_load_n(&range_of_process, __ATOMIC_ACQUIRE);
	struct range *none = NULL;
	bool is_wiped;

	if (!range) {
		if (__atomic_load_n(&cannot_wipe, __ATOMIC_RELAXED))
			return NULL;
		range = process_map_wiped(sizeof(*range), &is_wiped);
		if (!range)
			return NULL;
		if (!is_wiped) {
			__atomic_store_n(&cannot_wipe, true, __ATOMIC_RELAXED);
			munmap(range, sizeof(*range));
			return NULL;
		}
		if (!__atomic_compare_exchange_n(&range_of_process, &none, range, false,
						 __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) {
			munmap(range, sizeof(*range));
			range = none;
		}
	}
	/* acquire: pairs with the release in reserve() */
	if (!__atomic_load_n(&range->base, __ATOMIC_ACQUIRE) && !reserve(range))
		return NULL;
	return range;
}

/* A free block of a class, or BLOCKS. */
static unsigned int take_block(struct blocks *blocks)
{
	uint64_t free = __atomic_load_n(&blocks->free, __ATOMIC_RELAXED);

	while (free) {
		/* acquire: what the block was before is over */
		if (__atomic_compare_exchange_n(&blocks->free, &free, free & (free - 1), true,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return (unsigned int)__builtin_ctzll(free);
	}
	return BLOCKS;
}

/* Go on to another stretch of a class, and take its first block; or BLOCKS. */
static unsigned int take_stretch(struct range *range, unsigned int class)
{
	unsigned int blocks_each = (unsigned int)(STRETCH / block_size(class));
	struct blocks *blocks = &range->blocks[class];
	uint64_t stretch = __atomic_load_n(&blocks->stretches, __ATOMIC_RELAXED);
	unsigned int first;
	uint64_t others;
	char *address;

	do {
		if (stretch * blocks_each >= BLOCKS)
			return BLOCKS;
	} while (!__atomic_compare_exchange_n(&blocks->stretches, &stretch, stretch + 1, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	first = (unsigned int)stretch * blocks_each;
	address = range->base + block_offset((struct block){class, first});
	/* Where that cannot be done, pages come as they are touched. */
	madvise(address, STRETCH, MADV_POPULATE_WRITE);
	others = ((UINT64_C(1) << (blocks_each - 1)) - 1) << 1;
	/* release: pairs with the acquire in take_block() */
	__atomic_fetch_or(&blocks->free, others << first, __ATOMIC_RELEASE);
	return first;
}

void *small_memory_take(size_t length)
{
	struct range *range;
	struct blocks *blocks;
	struct block block;
	char *address;

	if (length > SMALL_MEMORY_MOST)
		return NULL;
	range = range_to_use();
	if (!range)
		return NULL;
	block.class = length > block_size(0)
			      ? 64 - (unsigned int)__builtin_clzll((length - 1) >> page_shift())
			      : 0;
	blocks = &range->blocks[block.class];
	block.number = take_block(blocks);
	if (block.number == BLOCKS)
		block.number = take_stretch(range, block.class);
	if (block.number == BLOCKS)
		return NULL;
	address = range->base + block_offset(block);
	if (__atomic_load_n(&blocks->is_used, __ATOMIC_RELAXED) & UINT64_C(1) << block.number)
		memset(address, 0, length);
	return address;
}

bool small_memory_give(void *address)
{
	struct range *range = range_there_is();
	struct blocks *blocks;
	struct block block;
	uint64_t bit;

	if (!range || !small_memory_has(address, 1))
		return false;
	block = block_at((size_t)((char *)address - range->base));
	blocks = &range->blocks[block.class];
	bit = UINT64_C(1) << block.number;
	/* acquire: pairs with the release in count_less() */
	if (__atomic_load_n(&blocks->registrations[block.number], __ATOMIC_ACQUIRE)) {
		/* New pages: the old ones stay with whoever else holds them. */
		if (!map_blocks(address, block_size(block.class), MAP_FIXED))
			return true; /* out of mappings: nobody else gets this block */
		__atomic_fetch_and(&blocks->is_used, ~bit, __ATOMIC_RELAXED);
	} else if (!(__atomic_load_n(&blocks->is_used, __ATOMIC_RELAXED) & bit)) {
		__atomic_fetch_or(&blocks->is_used, bit, __ATOMIC_RELAXED);
	}
	/* release: pairs with the acquire in take_block() */
	__atomic_fetch_or(&blocks->free, bit, __ATOMIC_RELEASE);
	return true;
}

/* The part of a range of addresses that is in small memory, as offsets; or none. */
struct part {
	size_t begin;
	size_t end;
};

static struct part part_of(const struct range *range, const void *addr, size_t length)
{
	uintptr_t base = (uintptr_t)range->base, begin = (uintptr_t)addr;
	size_t size = class_offset(classes());
	struct part part = {0, 0};

	/* By subtraction, so that no sum can wrap. */
	if (begin >= base) {
		part.begin = begin - base;
		if (part.begin >= size)
			return (struct part){0, 0};
		part.end = length < size - part.begin ? part.begin + length : size;
	} else if (length > base - begin) {
		part.end = length - (base - begin) < size ? length - (base - begin) : size;
	}
	return part;
}

bool small_memory_exists(void)
{
	return range_there_is();
}

bool small_memory_has(const void *addr, size_t length)
{
	const struct range *range = range_there_is();
	struct part part;

	if (!range)
		return false;
	part = part_of(range, addr, length);
	return part.begin < part.end;
}

static void count_more(uint32_t *registrations)
{
	/* Relaxed: who frees the buffer knows of the registration. */
	__atomic_fetch_add(registrations, 1, __ATOMIC_RELAXED);
}

static void count_less(uint32_t *registrations)
{
	uint32_t count = __atomic_load_n(registrations, __ATOMIC_RELAXED);

	/*
	 * One of which nobody here saw the beginning is not counted. Release: the device is done
	 * with the memory.
	 */
	while (count && !__atomic_compare_exchange_n(registrations, &count, count - 1, true,
						     __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

static void for_each_block(const void *addr, size_t length, void (*change)(uint32_t *registrations))
{
	struct range *range = range_there_is();
	struct block block;
	struct part part;

	if (!range)
		return;
	part = part_of(range, addr, length);
	while (part.begin < part.end) {
		block = block_at(part.begin);
		change(&range->blocks[block.class].registrations[block.number]);
		part.begin = block_offset(block) + block_size(block.class);
	}
}

void small_memory_registered(const void *addr, size_t length)
{
	for_each_block(addr, length, count_more);
}

void small_memory_deregistered(const void *addr, size_t length)
{
	for_each_block(addr, length, count_less);
}
