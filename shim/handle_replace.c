// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Replacing a leaf of the handle table: growth, splitting and shrinking are one
 * and the same.  See handle_table.c for the whole, and for the letters.
 *
 * Any number of threads may replace the same leaf at a time, each on its own:
 * all freeze it, each builds the replacement in private, and one exchange of
 * the trie word decides.  A thread that comes too late reads what others made
 * of the leaf's memory since.  That can be anything, so nothing here trusts
 * what it reads further than to be a number; the exchange will fail.
 */
#include <errno.h>

#include "handle_leaf.h"

/* What a leaf is to be replaced by: one leaf, or the children of a node */
struct replacement {
	unsigned int parts;
	uint64_t part[NODE_CHILDREN]; /* trie words; 0 for nothing */
	uint32_t node;		      /* id; 0 for none */
};

struct content {
	unsigned int live;
	unsigned int killed;
	unsigned int child[NODE_CHILDREN];
};

static uint64_t next_epoch(struct handle_table *table)
{
	uint64_t epoch;

	/* Relaxed: only has to be different.  0 is the zero pages' */
	do {
		epoch = __atomic_add_fetch(&table->epoch, 1, __ATOMIC_RELAXED);
	} while (!(epoch << EPOCH_SHIFT));
	return epoch << EPOCH_SHIFT;
}

/* An empty leaf that only we know.  Returns its trie word, or 0 */
static uint64_t make_leaf(struct handle_table *table, struct leaf_shape shape, unsigned int class)
{
	uint32_t id = leaf_arena_take(&table->arena, class);
	uint64_t epoch, word;
	struct leaf leaf;
	unsigned int i, s;

	if (!id)
		return 0;
	epoch = next_epoch(table);
	word = epoch | (uint64_t)SLOT_LIVE << STATE_SHIFT |
	       (uint64_t)id << leaf_page_shift(class) << WORD_PAGE_SHIFT |
	       (uint64_t) class << WORD_CLASS_SHIFT;
	leaf = leaf_open(table, shape, word);
	/*
	 * (D) Release fence: who reads anything from here on, in the belief
	 * that it is an older incarnation, sees after an acquire fence that
	 * that one was replaced.
	 */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	for (i = 0; i <= leaf.mask; i++) {
		uint64_t *bucket = leaf_bucket(shape, &leaf, i);

		store_relaxed(bucket, word & ~LOWER_PART);
		for (s = 0; s < shape.slots; s++)
			store_relaxed(bucket_ctrl(shape, bucket, s), ctrl_with(epoch, SLOT_EMPTY));
	}
	/*
	 * (C) Release fence: who reads a key or record of this incarnation sees
	 * after an acquire fence that the slot's control has changed.
	 */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	return word;
}

static void discard(struct handle_table *table, struct replacement *new)
{
	unsigned int i;

	for (i = 0; i < new->parts; i++)
		if (new->part[i])
			leaf_arena_give(&table->arena, word_class(new->part[i]),
					word_id(new->part[i]));
	if (new->node)
		leaf_arena_give(&table->arena, LEAF_NODE_POOL, new->node);
}

/*
 * Puts the slot @from of @source into a leaf that only we know.  False when it
 * has no room, which says that the source is not what it was.
 */
static bool put(struct leaf_shape shape, const struct leaf *leaf, uint64_t hash, uint64_t *source,
		unsigned int from, uintptr_t key)
{
	unsigned int home = leaf_home(shape, leaf, hash);
	unsigned int i, s, w;

	for (i = 0; i <= leaf->mask; i++) {
		uint64_t *bucket = leaf_bucket(shape, leaf, home + i);

		for (s = 0; s < shape.slots; s++) {
			uint64_t *ctrl = bucket_ctrl(shape, bucket, s);
			uint64_t seen = load_relaxed(ctrl);

			if (ctrl_state(seen) != SLOT_EMPTY)
				continue;
			store_relaxed(bucket_key(bucket, s), key);
			for (w = 0; w < shape.words; w++)
				store_relaxed(bucket_record(shape, bucket, s) + w,
					      load_relaxed(bucket_record(shape, source, from) + w));
			store_relaxed(ctrl, ctrl_with(seen, SLOT_LIVE));
			return true;
		}
		store_relaxed(bucket, load_relaxed(bucket) + 1);
	}
	return false;
}

/* Stops a slot; returns its last control, in that incarnation */
static uint64_t freeze_slot(uint64_t *ctrl, uint64_t word)
{
	uint64_t seen = load_relaxed(ctrl);
	uint64_t frozen;

	for (;;) {
		if (!same_epoch(seen, word))
			return seen;
		switch (ctrl_state(seen)) {
		case SLOT_EMPTY:
			frozen = ctrl_with(seen, SLOT_DEAD);
			break;
		case SLOT_PENDING:
			frozen = ctrl_with(seen, SLOT_KILLED);
			break;
		case SLOT_LIVE:
			frozen = ctrl_with(seen, SLOT_FROZEN);
			break;
		default:
			return seen;
		}
		/*
		 * Relaxed: as a read-modify-write it hands on the inserter's
		 * release (A); the second look in freeze() takes it.
		 */
		if (__atomic_compare_exchange_n(ctrl, &seen, frozen, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return frozen;
	}
}

/* Stops all of a leaf and counts; false when it has been replaced already */
static bool freeze(struct leaf_shape shape, const struct leaf *leaf, unsigned int level,
		   struct content *content)
{
	unsigned int i, s;

	*content = (struct content){0};
	for (i = 0; i <= leaf->mask; i++) {
		uint64_t *bucket = leaf_bucket(shape, leaf, i);

		for (s = 0; s < shape.slots; s++) {
			uint64_t ctrl = freeze_slot(bucket_ctrl(shape, bucket, s), leaf->word);
			if (!same_epoch(ctrl, leaf->word))
				return false;
			content->killed += ctrl_state(ctrl) == SLOT_KILLED;
		}
	}
	for (i = 0; i <= leaf->mask; i++) {
		uint64_t *bucket = leaf_bucket(shape, leaf, i);

		for (s = 0; s < shape.slots; s++) {
			uintptr_t key;

			/* (A) Acquire: pairs with the release that made the slot live */
			if (ctrl_state(load_acquire(bucket_ctrl(shape, bucket, s))) != SLOT_FROZEN)
				continue;
			key = load_relaxed(bucket_key(bucket, s));
			content->live++;
			content->child[path_child(path_at(key, HANDLE_TABLE_HASH(key), level))]++;
		}
	}
	return true;
}

/* The class of leaf for so many keys; 0 if there are too many */
static unsigned int choose_class(struct leaf_shape shape, unsigned int live)
{
	unsigned int class;

	for (class = LEAF_SMALLEST; class >= LEAF_LARGEST; class --)
		if (live * 100 <= leaf_slots(shape, class) * FILL_CHOSEN)
			return class;
	return live * 100 < leaf_slots(shape, LEAF_LARGEST) * FILL_FULL ? LEAF_LARGEST : 0;
}

/* Makes the empty leaves, and the node, that the content needs */
static int make_parts(struct handle_table *table, struct leaf_shape shape, unsigned int level,
		      const struct content *content, struct replacement *new)
{
	unsigned int class = choose_class(shape, content->live);
	unsigned int i;

	*new = (struct replacement){.parts = 1};
	if (!content->live && level)
		return 0;
	if (!class && level == LEVELS)
		class = LEAF_LARGEST; /* the same key over and over */
	if (class) {
		new->part[0] = make_leaf(table, shape, class);
		return new->part[0] ? 0 : ENOMEM;
	}

	new->parts = NODE_CHILDREN;
	new->node = leaf_arena_take(&table->arena, LEAF_NODE_POOL);
	if (!new->node)
		return ENOMEM;
	for (i = 0; i < NODE_CHILDREN; i++) {
		if (!content->child[i])
			continue;
		class = choose_class(shape, content->child[i]);
		/* A bad hash: it will be split again at the next insert */
		if (!class)
			class = LEAF_LARGEST;
		new->part[i] = make_leaf(table, shape, class);
		if (!new->part[i])
			return ENOMEM;
	}
	return 0;
}

/* Copies what is frozen; false when the leaf is no longer what was counted */
static bool copy(struct handle_table *table, struct leaf_shape shape, const struct leaf *leaf,
		 unsigned int level, const struct replacement *new)
{
	struct leaf part[NODE_CHILDREN];
	unsigned int i, s, child = 0;

	for (i = 0; i < new->parts; i++)
		if (new->part[i])
			part[i] = leaf_open(table, shape, new->part[i]);
	for (i = 0; i <= leaf->mask; i++) {
		uint64_t *bucket = leaf_bucket(shape, leaf, i);

		for (s = 0; s < shape.slots; s++) {
			uintptr_t key;
			uint64_t hash;

			if (ctrl_state(load_relaxed(bucket_ctrl(shape, bucket, s))) != SLOT_FROZEN)
				continue;
			key = load_relaxed(bucket_key(bucket, s));
			hash = HANDLE_TABLE_HASH(key);
			if (new->node)
				child = path_child(path_at(key, hash, level));
			if (!new->part[child] || !put(shape, &part[child], hash, bucket, s, key))
				return false;
		}
	}
	return true;
}

/* The trie word of a replacement that is complete */
static uint64_t link_parts(struct handle_table *table, uint64_t old, const struct replacement *new)
{
	uint64_t *node;
	unsigned int i;

	if (!new->node) {
		if (new->part[0])
			return new->part[0];
		/* Nothing, in the epoch of what was there: never the same twice */
		return old & ~LOWER_PART;
	}
	node = leaf_arena_node(&table->arena, new->node);
	for (i = 0; i < NODE_CHILDREN; i++)
		store_relaxed(&node[i], new->part[i]);
	return (uint64_t)(uintptr_t)node | WORD_INNER;
}

int handle_replace(struct handle_table *table, struct leaf_shape shape, const struct place *place)
{
	struct leaf leaf = leaf_open(table, shape, place->word);
	uint64_t seen = place->word;
	struct replacement new;
	struct content content;

	if (load_relaxed(place->at) != place->word ||
	    !freeze(shape, &leaf, place->level, &content) || load_relaxed(place->at) != place->word)
		return 0;
	if (make_parts(table, shape, place->level, &content, &new)) {
		discard(table, &new);
		/* What others have done is as good */
		return load_relaxed(place->at) == place->word ? ENOMEM : 0;
	}
	/*
	 * (B) Release: pairs with the acquire of whoever comes by this word, who
	 * then sees the replacement whole.  And our reads of the old leaf come
	 * before it; so if it succeeds, they were before anybody retired it.
	 */
	if (copy(table, shape, &leaf, place->level, &new) &&
	    __atomic_compare_exchange_n(place->at, &seen, link_parts(table, place->word, &new),
					false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		leaf_arena_settle(&table->arena, leaf.class, word_id(leaf.word),
				  -(int)content.killed);
	else
		discard(table, &new);
	return 0;
}

int handle_plant(struct handle_table *table, struct leaf_shape shape, const struct place *place)
{
	uint64_t seen = place->word;
	uint64_t word;

	if (!leaf_arena_prepare(&table->arena))
		return ENOMEM;
	word = make_leaf(table, shape, LEAF_SMALLEST);
	if (!word)
		return ENOMEM;
	/* (B) Release: as in handle_replace() */
	if (!__atomic_compare_exchange_n(place->at, &seen, word, false, __ATOMIC_RELEASE,
					 __ATOMIC_RELAXED))
		leaf_arena_give(&table->arena, LEAF_SMALLEST, word_id(word));
	return 0;
}
