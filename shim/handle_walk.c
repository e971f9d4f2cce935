// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Visiting what is in a handle table.  See handle_table.c for the whole.
 *
 * The keys of a leaf are written down first, which counts only if the leaf was
 * in the trie until the end of that; then they are looked up one by one.  The
 * visitor is called between lookups, when we hold nothing.
 */
#include "handle_leaf.h"

struct walk {
	struct handle_table *table;
	struct leaf_shape shape;
	bool (*visit)(uintptr_t key, const uint64_t *record, void *arg);
	void *arg;
};

/* Is the slot live, or frozen, with the same key from here to the end? */
static bool read_key(struct leaf_shape shape, uint64_t word, uint64_t *bucket, unsigned int slot,
		     uintptr_t *key)
{
	uint64_t *ctrl = bucket_ctrl(shape, bucket, slot);
	/* (A) (C) Acquire */
	uint64_t seen = load_acquire(ctrl);
	uint64_t again;

	if (!same_epoch(seen, word) ||
	    (ctrl_state(seen) != SLOT_LIVE && ctrl_state(seen) != SLOT_FROZEN))
		return false;
	*key = load_relaxed(bucket_key(bucket, slot));
	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* (C) */
	again = load_relaxed(ctrl);
	/* From LIVE to FROZEN it stays what it is; else the key went */
	return again == seen || again == ctrl_with(seen, SLOT_FROZEN);
}

/* Visits the keys that a leaf had at one time; 1 stop, 0 go on, -1 again */
static __attribute__((noinline)) int walk_leaf(struct walk *walk, const uint64_t *at, uint64_t word)
{
	struct leaf leaf = leaf_open(walk->table, walk->shape, word);
	uint64_t record[HANDLE_TABLE_MAX_WORDS];
	uintptr_t keys[LEAF_MAX_SLOTS];
	unsigned int i, s, count = 0;

	for (i = 0; i <= leaf.mask; i++) {
		uint64_t *bucket = leaf_bucket(walk->shape, &leaf, i);

		for (s = 0; s < walk->shape.slots; s++)
			count += read_key(walk->shape, word, bucket, s, &keys[count]);
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* (D) */
	if (load_relaxed(at) != word)
		return -1;
	for (i = 0; i < count; i++)
		if (handle_table_lookup(walk->table, keys[i], record) &&
		    !walk->visit(keys[i], record, walk->arg))
			return 1;
	return 0;
}

/* At most LEVELS deep.  Returns whether to go on */
static bool walk_word(struct walk *walk, const uint64_t *at)
{
	unsigned int i;

	for (;;) {
		uint64_t word = load_acquire(at); /* (B) */
		int ret;

		if (word_is_inner(word)) {
			for (i = 0; i < NODE_CHILDREN; i++)
				if (!walk_word(walk, word_node(word) + i))
					return false;
			return true;
		}
		if (word_is_nothing(word))
			return true;
		ret = walk_leaf(walk, at, word);
		if (ret >= 0)
			return !ret;
	}
}

void handle_table_for_each(struct handle_table *table,
			   bool (*visit)(uintptr_t key, const uint64_t *record, void *arg),
			   void *arg)
{
	struct walk walk = {table, leaf_shape(handle_table_words(table)), visit, arg};

	walk_word(&walk, &table->root);
}
