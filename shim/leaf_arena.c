// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Elements live in chunks; chunk k holds the ids 64 << k to (128 << k) - 1, so
 * a chunk doubles what there was, and the leading bit of an id tells its chunk.
 * Chunks are never unmapped, so that memory that was ever an element can be
 * read for ever.  After the elements of a chunk comes a side word for each:
 * free elements hang in stacks by it (R. K. Treiber, "Systems programming:
 * coping with parallelism", 1986), and it counts what leaf_arena_settle() has
 * to wait for.  It is beside the element because a free element must not be
 * stored to, and its pages may be gone.
 *
 * The top of a stack is a 40-bit tag and a 24-bit id.  Every push and pop takes
 * the next tag, so a pop whose top was popped and pushed again meanwhile fails,
 * unless exactly a multiple of 2^40 operations passed while it was stopped.
 *
 * A thread that stops for ever in here, or that fork() left behind, keeps the
 * element that it had in hand, or a chunk that it had mapped and not yet
 * announced; nothing else.  All loops repeat only when another thread's
 * operation succeeded.
 */
#include <errno.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "leaf_arena.h"

#define ID_BITS 24
#define ID_MASK ((1ull << ID_BITS) - 1)
#define TAG_ONE (1ull << ID_BITS)

/*
 * Free leaves of a class whose memory is kept for the next one: a part of how many
 * there were, which is none in a small table, and not many.
 */
#define WARM_PART 64
#define WARM_MOST 32

struct side {
	uint32_t below;	    /* next id in the stack of free elements */
	uint32_t unsettled; /* sum of leaf_arena_settle() amounts */
};

/* Ids of a pool are below this */
static uint32_t ids(unsigned int pool)
{
	unsigned int bits = LEAF_PAGE_BITS;

	if (pool != LEAF_NODE_POOL)
		bits -= leaf_page_shift(pool);
	return 1u << bits;
}

static size_t chunk_elements(unsigned int k)
{
	return (size_t)LEAF_FIRST_ID << k;
}

static size_t chunk_bytes(unsigned int pool, unsigned int k)
{
	return (chunk_elements(k) << leaf_arena_shift(pool)) +
	       chunk_elements(k) * sizeof(struct side);
}

/* The place of chunk k, which is by page for leaves */
static char **chunk_place(struct leaf_arena *arena, unsigned int pool, unsigned int k)
{
	return &arena->chunk[pool][pool == LEAF_NODE_POOL ? k : k + leaf_page_shift(pool)];
}

static struct side *side_of(struct leaf_arena *arena, unsigned int pool, uint32_t id)
{
	uint32_t first = (uint32_t)chunk_elements((unsigned int)leaf_chunk(id));
	char *end = leaf_arena_at(arena, pool, first);

	end += (size_t)first << leaf_arena_shift(pool);
	return (struct side *)end + (id - first);
}

/* The address is biased as struct leaf_arena says */
static char *chunk_bias(char *mapped, unsigned int pool, unsigned int k)
{
	return (char *)((uintptr_t)mapped - (chunk_elements(k) << leaf_arena_shift(pool)));
}

static char *chunk_unbias(char *chunk, unsigned int pool, unsigned int k)
{
	return (char *)((uintptr_t)chunk + (chunk_elements(k) << leaf_arena_shift(pool)));
}

/* Makes sure that the chunk of @id is there */
static bool map_chunk(struct leaf_arena *arena, unsigned int pool, uint32_t id)
{
	unsigned int k = (unsigned int)leaf_chunk(id);
	char **place = chunk_place(arena, pool, k);
	char *none = NULL;
	int saved = errno;
	void *mapped;

	/* Acquire: pairs with the release below; the chunk is mapped, and zero */
	if (__atomic_load_n(place, __ATOMIC_ACQUIRE))
		return true;
	mapped = mmap(NULL, chunk_bytes(pool, k), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mapped == MAP_FAILED) {
		errno = saved;
		/* Another thread may have got it with the last memory there was */
		return __atomic_load_n(place, __ATOMIC_ACQUIRE) != NULL;
	}
	/* The first touch of a leaf shall clear a page, not 2 MiB */
	madvise(mapped, chunk_bytes(pool, k), MADV_NOHUGEPAGE);
	/* Release and, where another thread was first, acquire: as above */
	if (!__atomic_compare_exchange_n(place, &none, chunk_bias(mapped, pool, k), false,
					 __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
		munmap(mapped, chunk_bytes(pool, k));
	errno = saved;
	return true;
}

bool leaf_arena_prepare(struct leaf_arena *arena)
{
	unsigned int pool;

	for (pool = 0; pool < LEAF_POOLS; pool++) {
		uint32_t next =
			LEAF_FIRST_ID + __atomic_load_n(&arena->pool[pool].bump, __ATOMIC_RELAXED);

		if (next + LEAF_RESERVE >= ids(pool))
			return false;
		/* A chunk is larger than the reserve, so these are all of it */
		if (!map_chunk(arena, pool, next) || !map_chunk(arena, pool, next + LEAF_RESERVE))
			return false;
	}
	return true;
}

static void push(struct leaf_arena *arena, unsigned int pool, uint64_t *top, uint32_t id)
{
	struct side *side = side_of(arena, pool, id);
	uint64_t seen = __atomic_load_n(top, __ATOMIC_RELAXED);
	uint64_t next;

	do {
		__atomic_store_n(&side->below, (uint32_t)(seen & ID_MASK), __ATOMIC_RELAXED);
		next = ((seen & ~ID_MASK) + TAG_ONE) | id;
		/*
		 * Release: pairs with the acquire in pop(), which then sees
		 * @below, and all that was done to the element.
		 */
	} while (!__atomic_compare_exchange_n(top, &seen, next, true, __ATOMIC_RELEASE,
					      __ATOMIC_RELAXED));
}

static uint32_t pop(struct leaf_arena *arena, unsigned int pool, uint64_t *top)
{
	/* Acquire, here and on failure: pairs with the release in push() */
	uint64_t seen = __atomic_load_n(top, __ATOMIC_ACQUIRE);
	uint64_t next;
	uint32_t id;

	do {
		id = (uint32_t)(seen & ID_MASK);
		if (!id)
			return 0;
		/* Stale if @id is no longer on top; then the exchange fails */
		next = ((seen & ~ID_MASK) + TAG_ONE) |
		       __atomic_load_n(&side_of(arena, pool, id)->below, __ATOMIC_RELAXED);
		/*
		 * Release as well: a pop hands on, to the next pop, the pushes
		 * of what lies below.  (A C11 release sequence does that for a
		 * read-modify-write of any order; this costs nothing.)
		 */
	} while (!__atomic_compare_exchange_n(top, &seen, next, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
	return id;
}

uint32_t leaf_arena_take(struct leaf_arena *arena, unsigned int pool)
{
	struct leaf_pool *p = &arena->pool[pool];
	uint32_t id, taken;

	id = pop(arena, pool, &p->warm);
	if (id) {
		__atomic_fetch_sub(&p->warm_count, 1, __ATOMIC_RELAXED);
		return id;
	}
	id = pop(arena, pool, &p->cold);
	if (id) {
		__atomic_fetch_sub(&p->cold_count, 1, __ATOMIC_RELAXED);
		return id;
	}
	taken = __atomic_load_n(&p->bump, __ATOMIC_RELAXED);
	do {
		if (taken + LEAF_FIRST_ID >= ids(pool) ||
		    !map_chunk(arena, pool, taken + LEAF_FIRST_ID))
			return 0;
		/* Relaxed: nobody had the element before */
	} while (!__atomic_compare_exchange_n(&p->bump, &taken, taken + 1, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return taken + LEAF_FIRST_ID;
}

/*
 * The kernel takes whole pages: where they are larger than the leaf, giving one
 * back would empty its neighbours.
 */
static bool give_to_kernel(struct leaf_arena *arena, unsigned int pool, uint32_t id)
{
	size_t bytes = (size_t)1 << leaf_arena_shift(pool);
	int saved = errno;
	int ret;

	if (bytes % getauxval(AT_PAGESZ))
		return false;
	/*
	 * A reader that finds zeroes here must find, after its acquire fence,
	 * that the leaf was replaced.  The kernel's stores are not part of the
	 * C memory model; a full barrier puts what we stored before them.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	ret = madvise(leaf_arena_at(arena, pool, id), bytes, MADV_DONTNEED);
	errno = saved;
	return !ret;
}

void leaf_arena_give(struct leaf_arena *arena, unsigned int pool, uint32_t id)
{
	struct leaf_pool *p = &arena->pool[pool];
	uint32_t warm = __atomic_load_n(&p->bump, __ATOMIC_RELAXED) / WARM_PART;

	if (warm > WARM_MOST)
		warm = WARM_MOST;
	if (pool != LEAF_NODE_POOL && __atomic_load_n(&p->warm_count, __ATOMIC_RELAXED) >= warm &&
	    give_to_kernel(arena, pool, id)) {
		__atomic_fetch_add(&p->cold_count, 1, __ATOMIC_RELAXED);
		push(arena, pool, &p->cold, id);
		return;
	}
	__atomic_fetch_add(&p->warm_count, 1, __ATOMIC_RELAXED);
	push(arena, pool, &p->warm, id);
}

void leaf_arena_settle(struct leaf_arena *arena, unsigned int pool, uint32_t id, int amount)
{
	uint32_t *unsettled = &side_of(arena, pool, id)->unsettled;

	/*
	 * Acquire and release: the last one gives the element back after all
	 * that the others did to it.  Sums from the others alone are above 0
	 * until the owner has come, so 0 is reached once, at the end.
	 */
	if (__atomic_add_fetch(unsettled, (uint32_t)amount, __ATOMIC_ACQ_REL) == 0)
		leaf_arena_give(arena, pool, id);
}

size_t leaf_arena_bytes(const struct leaf_arena *arena)
{
	size_t bytes = 0;
	unsigned int pool;

	for (pool = 0; pool < LEAF_POOLS; pool++) {
		const struct leaf_pool *p = &arena->pool[pool];
		size_t used = __atomic_load_n(&p->bump, __ATOMIC_RELAXED);
		size_t cold = __atomic_load_n(&p->cold_count, __ATOMIC_RELAXED);

		/* Side words of elements that were never freed are untouched */
		bytes += used * sizeof(struct side);
		bytes += (used - cold) << leaf_arena_shift(pool);
	}
	return bytes;
}

void leaf_arena_destroy(struct leaf_arena *arena)
{
	unsigned int pool, k;
	int saved = errno;

	for (pool = 0; pool < LEAF_POOLS; pool++) {
		for (k = 0; chunk_elements(k) < ids(pool); k++) {
			char *chunk = *chunk_place(arena, pool, k);

			if (chunk)
				munmap(chunk_unbias(chunk, pool, k), chunk_bytes(pool, k));
		}
	}
	*arena = (struct leaf_arena){0};
	errno = saved;
}
