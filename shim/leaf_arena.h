/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The memory of a handle table: leaves of 8 and 4 KiB, and inner nodes of 32
 * bytes, named by small numbers.
 *
 * Every function may be called from any thread and from a signal handler, at
 * any time; none waits for another thread; all leave errno alone.  An arena
 * that is all zero bytes is ready for use, and maps nothing until
 * leaf_arena_prepare().
 */
#ifndef LEAF_ARENA_H
#define LEAF_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEAF_NODE_POOL	0
#define LEAF_LARGEST	1 /* a leaf of class c, 1 or 2, has 16 KiB >> c */
#define LEAF_SMALLEST	2
#define LEAF_POOLS	(LEAF_SMALLEST + 1)
#define LEAF_PAGE_SHIFT 12
#define LEAF_NODE_SHIFT 5

/* An id counts elements.  That of a leaf, in units of 4 KiB, has so many bits */
#define LEAF_PAGE_BITS	    22
#define LEAF_FIRST_ID_SHIFT 6
#define LEAF_FIRST_ID	    (1u << LEAF_FIRST_ID_SHIFT)
#define LEAF_CHUNKS	    (LEAF_PAGE_BITS - LEAF_FIRST_ID_SHIFT)

/**
 * struct leaf_pool - all elements of one size
 * @bump: how many ids were ever handed out
 * @warm: top of the stack of free elements whose memory is kept
 * @cold: top of the stack of free elements whose memory was given back
 * @warm_count: about how many are on @warm
 * @cold_count: about how many are on @cold
 */
struct leaf_pool {
	uint32_t bump __attribute__((aligned(64)));
	uint32_t warm_count;
	uint32_t cold_count;
	uint64_t warm;
	uint64_t cold;
};

/**
 * struct leaf_arena - one pool a leaf class, and one of inner nodes
 * @chunk: by pool, and by leaf_chunk() of an element's id, or of a leaf's page:
 *	where the element numbered 0 would be if this chunk began there; NULL while
 *	it is not mapped
 * @pool: indexed by leaf class, or LEAF_NODE_POOL
 */
struct leaf_arena {
	char *chunk[LEAF_POOLS][LEAF_CHUNKS];
	struct leaf_pool pool[LEAF_POOLS];
};

/** leaf_page_shift() - log2 of the pages of 4 KiB of a leaf */
static inline unsigned int leaf_page_shift(unsigned int class)
{
	return LEAF_SMALLEST - class;
}

/** leaf_arena_shift() - log2 of the bytes of an element of @pool */
static inline unsigned int leaf_arena_shift(unsigned int pool)
{
	return pool == LEAF_NODE_POOL ? LEAF_NODE_SHIFT : LEAF_PAGE_SHIFT + leaf_page_shift(pool);
}

/* The chunk of an id, or of a leaf's page: by its highest bit */
static inline size_t leaf_chunk(uint32_t number)
{
	return (size_t)(31 ^ __builtin_clz(number)) - LEAF_FIRST_ID_SHIFT;
}

/**
 * leaf_arena_leaf() - the memory of a leaf
 * @arena: the arena
 * @class: its class
 * @page: its id << leaf_page_shift(@class)
 *
 * As leaf_arena_at(), in fewer instructions.
 */
static inline void *leaf_arena_leaf(const struct leaf_arena *arena, unsigned int class,
				    uint32_t page)
{
	/*
	 * Relaxed: the id came by an acquire load from the thread that took it,
	 * or was taken by this one; and who takes an id has seen its chunk.
	 */
	return (void *)((uintptr_t)__atomic_load_n(&arena->chunk[class][leaf_chunk(page)],
						   __ATOMIC_RELAXED) +
			((uintptr_t)page << LEAF_PAGE_SHIFT));
}

/**
 * leaf_arena_node() - the memory of an inner node
 * @arena: the arena
 * @id: its id
 */
static inline void *leaf_arena_node(const struct leaf_arena *arena, uint32_t id)
{
	/* Relaxed: as in leaf_arena_leaf() */
	return (void *)((uintptr_t)__atomic_load_n(&arena->chunk[LEAF_NODE_POOL][leaf_chunk(id)],
						   __ATOMIC_RELAXED) +
			((uintptr_t)id << LEAF_NODE_SHIFT));
}

/**
 * leaf_arena_at() - the memory of an element
 * @arena: the arena
 * @pool: its pool
 * @id: an id that leaf_arena_take() returned once, to any thread
 *
 * The memory stays mapped until leaf_arena_destroy(), whoever owns it.
 */
static inline void *leaf_arena_at(const struct leaf_arena *arena, unsigned int pool, uint32_t id)
{
	if (pool == LEAF_NODE_POOL)
		return leaf_arena_node(arena, id);
	return leaf_arena_leaf(arena, pool, id << leaf_page_shift(pool));
}

/**
 * leaf_arena_prepare() - map ahead, before something that must not fail
 * @arena: the arena
 *
 * Return: true when at least LEAF_RESERVE elements of every pool can be taken
 * without a new mapping; false (ENOMEM) when the kernel gives no more.
 */
bool leaf_arena_prepare(struct leaf_arena *arena);

#define LEAF_RESERVE 32

/**
 * leaf_arena_take() - a free element, to be owned by the caller
 * @arena: the arena
 * @pool: which kind
 *
 * Its content is whatever its last owner left, or zero.
 *
 * Return: its id, at least LEAF_FIRST_ID; 0 when there is no memory.
 */
uint32_t leaf_arena_take(struct leaf_arena *arena, unsigned int pool);

/**
 * leaf_arena_give() - give an element back
 * @arena: the arena
 * @pool: its pool
 * @id: which
 *
 * Others may still read it and try compare-and-swaps on it that must fail;
 * nobody may still store to it.
 */
void leaf_arena_give(struct leaf_arena *arena, unsigned int pool, uint32_t id);

/**
 * leaf_arena_settle() - give an element back once others are done with it
 * @arena: the arena
 * @pool: its pool
 * @id: which
 * @amount: minus the number of others, from the owner; 1 from each of them
 *
 * The owner and the others may come in any order.  The call that brings the
 * sum of all amounts to 0 does leaf_arena_give().
 */
void leaf_arena_settle(struct leaf_arena *arena, unsigned int pool, uint32_t id, int amount);

/** leaf_arena_bytes() - bytes of memory touched and not given back */
size_t leaf_arena_bytes(const struct leaf_arena *arena);

/** leaf_arena_destroy() - unmap all; for when nobody else uses the arena */
void leaf_arena_destroy(struct leaf_arena *arena);

#endif /* LEAF_ARENA_H */
