// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The range holds BLOCKS blocks of one page, then as many of two pages, of four, and so on. Which
 * blocks of a size are free is a word of bits: whoever clears a bit has the block, so there is
 * nothing that could be mistaken for what it was before (no ABA).
 *
 * Each block has a word that says whether it has an owner, how many registrations hold it, and the
 * sum of their regions' addresses:
 *
 *	free                0, mostly                 its bit is set
 *	taken               TAKEN | count, sum
 *	freed, but held     ORPHANED | count, sum     without pages; who brings the count to 0 frees
 *	lost                whatever it was           its bit is never set again
 *
 * A free block may be counted, too: a program can register addresses that are not its own.
 *
 * The sum is for deregistrations of what was not counted: it was registered before there was a
 * range, or behind the shim's back. The last registration ends only with the region that the sum
 * names, so such a one can make a block stay held for ever. For one that is registered to be taken
 * for a free one, sums of scattered numbers would have to be alike, or the address of a region that
 * nobody counted become that of one of the block's within the call that ends the first.
 *
 * The range is used up 64 KiB at a time, with the pages of such a stretch asked for at once.
 *
 * Where the range is, is written in memory that the kernel clears for a child; so to a child there
 * is none, until it reserves one. What is known of the blocks is in ordinary memory: an operation
 * that a fork interrupts, in a signal handler, goes on in the child with what it began with, but
 * leaves the pages alone, which may have been kept from it.
 */
#define _GNU_SOURCE
#include "small_memory.h"
#include "populate.h"
#include "process.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCKS	64 /* of a size: bits of a word */
#define CLASSES 5  /* sizes, with pages of 4 KiB; fewer with larger ones */
#define STRETCH SMALL_MEMORY_MOST

#define SUM_SHIFT 32
#define TAKEN	  (UINT64_C(1) << 31)
#define ORPHANED  (UINT64_C(1) << 30)
#define COUNT	  (ORPHANED - 1)

/* Once the range could not be reserved, it is not tried again for so many buffers. */
#define PATIENCE 256

/**
 * struct blocks - all blocks of one size
 * @free: a bit for each that can be taken
 * @is_used: a bit for each that had an owner, and so may be other than zero
 * @stretches: how many are in use
 * @state: of each
 */
struct blocks {
	uint64_t free;
	uint64_t is_used;
	uint64_t stretches;
	uint64_t state[BLOCKS];
};

/**
 * struct range - all of it
 * @base: the address of the first block
 * @blocks: by class; a block of class c has 1 << c pages
 */
struct range {
	char *base;
	struct blocks blocks[CLASSES];
};

/* In memory of its own, which is empty in a child. */
struct place_of_range {
	struct range *range;
};

static struct place_of_range *place;

static bool cannot_wipe; /* Linux before 4.14 */
static uint32_t refusals;

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

static size_t range_size(void)
{
	return class_offset(classes());
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

static uint64_t bit_of(struct block block)
{
	return UINT64_C(1) << block.number;
}

/* Pages that nobody has used. Small ones: a buffer shall not take 2 MiB. */
static void *map_blocks(void *address, size_t length, int protection, int flags)
{
	void *blocks = mmap(address, length, protection,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);

	if (blocks == MAP_FAILED)
		return NULL;
	madvise(blocks, length, MADV_NOHUGEPAGE);
	return blocks;
}

/* The range of this process; NULL while it has none. */
static struct range *range_there_is(void)
{
	/* acquire: pairs with the release in place_to_use() */
	const struct place_of_range *known = __atomic_load_n(&place, __ATOMIC_ACQUIRE);

	/* acquire: pairs with the release in reserve() */
	return known ? __atomic_load_n(&known->range, __ATOMIC_ACQUIRE) : NULL;
}

static struct range *new_range(void)
{
	struct range *range = mmap(NULL, sizeof(*range), PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (range == MAP_FAILED)
		return NULL;
	range->base = map_blocks(NULL, range_size(), PROT_READ | PROT_WRITE, 0);
	if (range->base)
		return range;
	munmap(range, sizeof(*range));
	return NULL;
}

static struct range *reserve(struct place_of_range *known)
{
	uint32_t refused = __atomic_load_n(&refusals, __ATOMIC_RELAXED);
	struct range *range, *none = NULL;

	if (refused % PATIENCE) {
		__atomic_store_n(&refusals, refused + 1, __ATOMIC_RELAXED);
		return NULL;
	}
	range = new_range();
	if (!range) {
		__atomic_store_n(&refusals, refused + 1, __ATOMIC_RELAXED);
		return NULL;
	}
	/* Release, and acquire where another thread was first: who sees the range may use it. */
	if (__atomic_compare_exchange_n(&known->range, &none, range, false, __ATOMIC_RELEASE,
					__ATOMIC_ACQUIRE))
		return range;
	munmap(range->base, range_size());
	munmap(range, sizeof(*range));
	return none;
}

static struct place_of_range *place_to_use(void)
{
	struct place_of_range *none = NULL, *new;
	bool is_wiped;

	/* acquire: pairs with the release below */
	new = __atomic_load_n(&place, __ATOMIC_ACQUIRE);
	if (new || __atomic_load_n(&cannot_wipe, __ATOMIC_RELAXED))
		return new;
	new = process_map_wiped(sizeof(*new), &is_wiped);
	if (!new)
		return NULL;
	if (is_wiped) {
		if (__atomic_compare_exchange_n(&place, &none, new, false, __ATOMIC_RELEASE,
						__ATOMIC_ACQUIRE))
			return new;
	} else if (errno != ENOMEM && errno != EAGAIN) {
		__atomic_store_n(&cannot_wipe, true, __ATOMIC_RELAXED);
	}
	munmap(new, sizeof(*new));
	return none;
}

static struct range *range_to_use(void)
{
	struct range *range = range_there_is();
	struct place_of_range *known;

	if (__builtin_expect(range != NULL, 1))
		return range;
	known = place_to_use();
	return known ? reserve(known) : NULL;
}

/* A free block of a class, or BLOCKS. */
static unsigned int take_free(struct blocks *blocks)
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

	do {
		if (stretch * blocks_each >= BLOCKS)
			return BLOCKS;
	} while (!__atomic_compare_exchange_n(&blocks->stretches, &stretch, stretch + 1, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	first = (unsigned int)stretch * blocks_each;
	populate(range->base + block_offset((struct block){class, first}), STRETCH);
	others = ((UINT64_C(1) << (blocks_each - 1)) - 1) << 1;
	/* release: pairs with the acquire in take_free() */
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
	block.number = take_free(blocks);
	if (block.number == BLOCKS)
		block.number = take_stretch(range, block.class);
	if (block.number == BLOCKS)
		return NULL;
	address = range->base + block_offset(block);
	/* Relaxed: nobody else has the block; but a registration of everything may come and go. */
	__atomic_fetch_or(&blocks->state[block.number], TAKEN, __ATOMIC_RELAXED);
	if (__atomic_load_n(&blocks->is_used, __ATOMIC_RELAXED) & bit_of(block))
		memset(address, 0, length);
	return address;
}

/* A block that nobody has becomes a free one. */
static void put_free(struct range *range, struct block block)
{
	struct blocks *blocks = &range->blocks[block.class];
	uint64_t bit = bit_of(block);

	if (!(__atomic_load_n(&blocks->is_used, __ATOMIC_RELAXED) & bit))
		__atomic_fetch_or(&blocks->is_used, bit, __ATOMIC_RELAXED);
	/* release: pairs with the acquire in take_free() */
	__atomic_fetch_or(&blocks->free, bit, __ATOMIC_RELEASE);
}

/*
 * Without its pages: they stay with whoever holds them. A process at its limit of mappings cannot
 * have one of another kind in the middle of the range; the pages go all the same. False if the
 * block is lost.
 */
static bool drop_pages(struct range *range, struct block block)
{
	char *address = range->base + block_offset(block);
	size_t size = block_size(block.class);

	if (range_there_is() != range)
		return false;
	return map_blocks(address, size, PROT_NONE, MAP_FIXED) ||
	       !madvise(address, size, MADV_DONTNEED);
}

/* With pages again, a block that nobody has becomes a free one; if it can have none, it is lost. */
static void renew(struct range *range, struct block block)
{
	if (range_there_is() == range && !mprotect(range->base + block_offset(block),
						   block_size(block.class), PROT_READ | PROT_WRITE))
		put_free(range, block);
}

bool small_memory_give(void *address)
{
	struct range *range = range_there_is();
	uint64_t state, next, *place_of_state;
	bool is_dropped = false;
	struct block block;
	size_t offset;

	if (!range || (uintptr_t)address < (uintptr_t)range->base)
		return false;
	offset = (size_t)((char *)address - range->base);
	if (offset >= range_size())
		return false;
	block = block_at(offset);
	place_of_state = &range->blocks[block.class].state[block.number];
	/* acquire: pairs with the release in drop_count() */
	state = __atomic_load_n(place_of_state, __ATOMIC_ACQUIRE);
	/* What was lost may have become something else's place. */
	if (!(state & TAKEN) || offset != block_offset(block))
		return false;
	do {
		if ((state & COUNT) && !is_dropped) {
			is_dropped = true;
			if (!drop_pages(range, block)) {
				__atomic_fetch_and(place_of_state, ~TAKEN, __ATOMIC_RELAXED);
				return true;
			}
		}
		next = (state & COUNT) ? (state & ~TAKEN) | ORPHANED : 0;
		/* release: whoever ends the last registration frees what has no pages */
	} while (!__atomic_compare_exchange_n(place_of_state, &state, next, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
	if (next)
		return true;
	if (is_dropped)
		renew(range, block);
	else
		put_free(range, block);
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
	size_t size = range_size();
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

/* What a region adds to a block's word. */
static uint64_t share_of(const struct ibv_mr *mr)
{
	/* Aligned as all that was allocated: so no two within 64 GiB are alike. */
	uint32_t name = (uint32_t)((uintptr_t)mr >> 4);

	/* Scattered one to one, or sums of equidistant addresses would be alike. */
	name = (name ^ name >> 16) * 0x85ebca6b;
	name = (name ^ name >> 13) * 0xc2b2ae35;
	return (uint64_t)(name ^ name >> 16) << SUM_SHIFT | 1;
}

static void add_count(struct range *range, struct block block, uint64_t share)
{
	/* Relaxed: who frees the buffer knows of the registration. */
	__atomic_fetch_add(&range->blocks[block.class].state[block.number], share,
			   __ATOMIC_RELAXED);
}

static void drop_count(struct range *range, struct block block, uint64_t share)
{
	uint64_t *place_of_state = &range->blocks[block.class].state[block.number];
	uint64_t state = __atomic_load_n(place_of_state, __ATOMIC_RELAXED);
	uint64_t next;

	do {
		next = state - share;
		if (!(state & COUNT) || (!(next & COUNT) && next >> SUM_SHIFT))
			return;
		if (next == ORPHANED)
			next = 0;
		/*
		 * Release: the device is done with the memory. Acquire: so is who freed it, if it
		 * is for this thread to make it a free one.
		 */
	} while (!__atomic_compare_exchange_n(place_of_state, &state, next, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_RELAXED));
	if (state & ORPHANED && !next)
		renew(range, block);
}

static void for_each_block(const struct ibv_mr *mr, const void *addr, size_t length,
			   void (*change)(struct range *range, struct block block, uint64_t share))
{
	struct range *range = range_there_is();
	struct block block;
	struct part part;

	if (!range || (!addr && length == SIZE_MAX))
		return;
	part = part_of(range, addr, length);
	while (part.begin < part.end) {
		block = block_at(part.begin);
		change(range, block, share_of(mr));
		part.begin = block_offset(block) + block_size(block.class);
	}
}

void small_memory_hold(const struct ibv_mr *mr, const void *addr, size_t length)
{
	for_each_block(mr, addr, length, add_count);
}

void small_memory_let_go(const struct ibv_mr *mr, const void *addr, size_t length)
{
	int saved_errno = errno;

	for_each_block(mr, addr, length, drop_count);
	errno = saved_errno;
}
