/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What lookup, insert and remove of a handle table do in one leaf.  Inline, for
 * handle_table.c only, which explains it, and what the letters mean.
 */
#ifndef HANDLE_SLOTS_H
#define HANDLE_SLOTS_H

#include "handle_leaf.h"

/* Buckets an insert looks into before it asks whether the leaf is full */
#define PROBE_LIMIT 4

enum answer {
	ABSENT,
	FOUND,
	STALE, /* the leaf is another incarnation by now */
	ADDED,
	FULL,
	WORN, /* a slot was used as often as can be counted */
	FROZEN,
	KILLED,
};

/* Where a key was found, or is to be put */
struct found {
	uint64_t *bucket;
	uint64_t *ctrl;
	uint64_t seen;	     /* of *ctrl */
	unsigned int passed; /* buckets from home to before this */
};

static ALWAYS_INLINE enum answer read_slot(struct leaf_shape shape, uint64_t word, uint64_t *bucket,
					   unsigned int slot, uintptr_t key, uint64_t *record,
					   struct found *found)
{
	uint64_t *ctrl = bucket_ctrl(shape, bucket, slot);
	/* (A) (C) Acquire, here and below */
	uint64_t seen = load_acquire(ctrl);
	uint64_t again;
	unsigned int w;

	for (;;) {
		if (unlikely(!same_epoch(seen, word)))
			return STALE;
		if (unlikely(ctrl_state(seen) != SLOT_LIVE && ctrl_state(seen) != SLOT_FROZEN))
			return ABSENT;
		if (unlikely(load_relaxed(bucket_key(bucket, slot)) != key))
			return ABSENT;
		for (w = 0; w < shape.words; w++)
			record[w] = load_relaxed(bucket_record(shape, bucket, slot) + w);
		__atomic_thread_fence(__ATOMIC_ACQUIRE); /* (C) */
		again = load_acquire(ctrl);
		if (likely(again == seen)) {
			*found = (struct found){.bucket = bucket, .ctrl = ctrl, .seen = seen};
			return FOUND;
		}
		/* Used again: so there was a time when the key was not in */
		if (same_epoch(again, word) && ctrl_use(again) != ctrl_use(seen))
			return ABSENT;
		seen = again;
	}
}

static ALWAYS_INLINE enum answer search(struct leaf_shape shape, const struct leaf *leaf,
					unsigned int home, uintptr_t key, uint64_t *record,
					struct found *found)
{
	unsigned int i, s;

	for (i = 0; i <= leaf->mask; i++) {
		uint64_t *bucket = leaf_bucket(shape, leaf, home + i);
		unsigned int match = 0;
		uint64_t passed;

		/* No branch for each key, as none of them can be predicted */
#pragma GCC unroll 9
		for (s = 0; s < shape.slots; s++)
			match |= (unsigned int)(load_relaxed(bucket_key(bucket, s)) == key) << s;
		for (; match; match &= match - 1) {
			enum answer answer;

			answer = read_slot(shape, leaf->word, bucket,
					   (unsigned int)__builtin_ctz(match), key, record, found);
			found->passed = i;
			if (likely(answer != ABSENT))
				return answer;
		}
		passed = load_relaxed(bucket);
		if (unlikely(!same_epoch(passed, leaf->word)))
			return STALE;
		if (likely(!(passed & LOWER_PART)))
			return ABSENT;
	}
	return ABSENT;
}

/*
 * search() for a key that is in its home bucket, or in none, in few instructions.
 * STALE says only that this did not suffice.
 */
static ALWAYS_INLINE enum answer glance(struct leaf_shape shape, uint64_t word, uint64_t *bucket,
					uintptr_t key, uint64_t *record)
{
	uint64_t *keys = bucket_key(bucket, 0);
	uint64_t *match = NULL;
	uint64_t *from, *ctrl;
	uint64_t seen;
	unsigned int s, w;

#pragma GCC unroll 9
	for (s = 0; s < shape.slots; s++) {
		match = load_relaxed(&keys[s]) == key ? &keys[s] : match;
		/* So that the compiler makes no branches of that */
		__asm__("" : "+r"(match));
	}
	if (unlikely(!match))
		return likely(load_relaxed(bucket) == (word & ~LOWER_PART)) ? ABSENT : STALE;

	ctrl = match + shape.slots;
	from = keys + (size_t)2 * shape.slots + (match - keys) * (ptrdiff_t)shape.words;
	seen = load_acquire(ctrl); /* (A) (C) */
	if (unlikely(!is_live_in(seen, word) || load_relaxed(match) != key))
		return STALE;
#pragma GCC unroll 8
	for (w = 0; w < shape.words; w++)
		record[w] = load_relaxed(from + w);
	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* (C) */
	return likely(load_relaxed(ctrl) == seen) ? FOUND : STALE;
}

/* Says in a bucket word that a key more, or less, lies behind the bucket */
static inline bool count_passed(uint64_t *bucket, uint64_t word, int change)
{
	uint64_t seen = load_relaxed(bucket);

	/*
	 * Relaxed: the count of a key is in before the key is LIVE (A), and who
	 * knows that the key is in sees that.
	 */
	do {
		if (!same_epoch(seen, word))
			return false;
	} while (!__atomic_compare_exchange_n(bucket, &seen, seen + (uint64_t)(int64_t)change, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return true;
}

static inline void uncount_passed(struct leaf_shape shape, const struct leaf *leaf,
				  unsigned int home, unsigned int passed)
{
	unsigned int i;

	for (i = 0; i < passed; i++)
		if (!count_passed(leaf_bucket(shape, leaf, home + i), leaf->word, -1))
			return;
}

/* Slots of a leaf that are in use; no more than @limit are counted */
static inline unsigned int count_used(struct leaf_shape shape, const struct leaf *leaf,
				      unsigned int limit)
{
	unsigned int i, s, used = 0;

	for (i = 0; i <= leaf->mask && used < limit; i++) {
		uint64_t *bucket = leaf_bucket(shape, leaf, i);

		for (s = 0; s < shape.slots; s++)
			used += ctrl_state(load_relaxed(bucket_ctrl(shape, bucket, s))) !=
				SLOT_EMPTY;
	}
	return used;
}

static inline bool is_full(struct leaf_shape shape, const struct leaf *leaf)
{
	unsigned int slots = leaf_slots(shape, leaf->class);

	return count_used(shape, leaf, slots) * 100 >= slots * FILL_FULL;
}

/* Writes a slot that we reserved, and makes it live */
static ALWAYS_INLINE enum answer fill(struct leaf_shape shape, uint64_t *bucket, unsigned int slot,
				      uint64_t seen, uintptr_t key, const uint64_t *record)
{
	uint64_t pending = ctrl_with(seen, SLOT_PENDING);
	unsigned int w;

	__atomic_thread_fence(__ATOMIC_RELEASE); /* (C) */
	store_relaxed(bucket_key(bucket, slot), key);
	for (w = 0; w < shape.words; w++)
		store_relaxed(bucket_record(shape, bucket, slot) + w, record[w]);
	/* (A) Release */
	if (likely(__atomic_compare_exchange_n(bucket_ctrl(shape, bucket, slot), &pending,
					       ctrl_with(seen, SLOT_LIVE), false, __ATOMIC_RELEASE,
					       __ATOMIC_RELAXED)))
		return ADDED;
	return KILLED;
}

static ALWAYS_INLINE enum answer add(struct leaf_shape shape, const struct leaf *leaf,
				     unsigned int home, uintptr_t key, const uint64_t *record,
				     unsigned int *passed)
{
	unsigned int s;

	for (*passed = 0; *passed <= leaf->mask; ++*passed) {
		uint64_t *bucket = leaf_bucket(shape, leaf, home + *passed);

		if (*passed == PROBE_LIMIT && is_full(shape, leaf))
			return FULL;
		for (s = 0; s < shape.slots; s++) {
			uint64_t *ctrl = bucket_ctrl(shape, bucket, s);
			uint64_t seen = load_relaxed(ctrl);

			while (same_epoch(seen, leaf->word) && ctrl_state(seen) == SLOT_EMPTY) {
				if (unlikely(ctrl_use(seen) >= HANDLE_TABLE_USE_LIMIT))
					return WORN;
				/* (E) Acquire */
				if (__atomic_compare_exchange_n(
					    ctrl, &seen, ctrl_with(seen, SLOT_PENDING), false,
					    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
					return fill(shape, bucket, s, seen, key, record);
			}
			if (unlikely(!same_epoch(seen, leaf->word)))
				return STALE;
			if (unlikely(ctrl_state(seen) >= SLOT_FROZEN))
				return FROZEN;
		}
		if (!count_passed(bucket, leaf->word, 1))
			return STALE;
	}
	return FULL;
}

#endif /* HANDLE_SLOTS_H */
