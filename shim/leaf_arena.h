/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The memory of a handle table: leaves of 4, 8 and 16 KiB, and inner nodes of
 * 64 bytes, named by small numbers.
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

#define LEAF_CLASSES	3 /* a leaf of class c has 4096 << c bytes */
#define LEAF_NODE_POOL	LEAF_CLASSES
#define LEAF_POOLS	(LEAF_CLASSES + 1)
#define LEAF_MIN_SHIFT	12
#define LEAF_NODE_SHIFT 6

#define LEAF_FIRST_ID_SHIFT 6
#define LEAF_FIRST_ID	    (1u << LEAF_FIRST_ID_SHIFT)
#define LEAF_ID_BITS	    24
#define LEAF_CHUNKS	    (LEAF_ID_BITS - LEAF_FIRST_ID_SHIFT)

/**
 * struct leaf_pool - all elements of one size
 * @chunk: where the element numbered 0 would be if chunk k, which holds the
 *	ids of 64 << k up to 128 << k, began there; NULL while not mapped
 * @bump: how many ids were ever handed out
 * @warm: top of the stack of free elements whose memory is kept
 * @cold: top of the stack of free elements whose memory was given back
 * @warm_count: about how many are on @warm
 * @cold_count: about how many are on @cold
 */
struct leaf_pool {
	char *chunk[LEAF_CHUNKS];
	uint32_t bump __attribute__((aligned(64)));
	uint32_t warm_count;
	uint32_t cold_count;
	uint64_t warm;
	uint64_t cold;
};

/**
 * struct leaf_arena - one pool a leaf class, and one of inner nodes
 * @pool: indexed by leaf class, or LEAF_NODE_POOL
 */
struct leaf_arena {
	struct leaf_pool pool[LEAF_POOLS];
};

/** leaf_arena_shift() - log2 of the bytes of an element of @pool */
static inline unsigned int leaf_arena_shift(unsigned int pool)
{
	return pool == LEAF_NODE_POOL ? LEAF_NODE_SHIFT : LEAF_MIN_SHIFT + pool;
}

/**
 * leaf_arena_at() - the memory of an element
 * @arena: the arena
 * @pool: its pool
 * @id: an id that leaf_arena_take() returned once, to any thread
 *
 * The memory stays mapped until leaf_arena_destroy(), whoever owns it.
 */
static inline void *leaf_arena_at(struct leaf_arena *arena, unsigned int pool, uint32_t id)
{
	unsigned int k = 31 - LEAF_FIRST_ID_SHIFT - (unsigned int)__builtin_clz(id);

	/*
	 * Relaxed: the id came by an acquire load from the thread that took it,
	 * or was taken by this one; and who takes an id has seen its chunk.
	 */
	return (void *)((uintptr_t)__atomic_load_n(&arena->pool[pool].chunk[k], __ATOMIC_RELAXED) +
			((uintptr_t)id << leaf_arena_shift(pool)));
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
