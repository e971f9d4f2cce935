// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The handle table
 * ================
 *
 * A trie over the bits of a hash, after the Ctrie (A. Prokopec, N. Bronson,
 * P. Bagwell, M. Odersky, "Concurrent tries with efficient non-blocking
 * snapshots", 2012), whose leaves are small open-addressed hash tables.  A
 * leaf that is too full, too empty or worn out is frozen slot by slot, copied,
 * and replaced by one exchange of the trie word above it, after C. Click's
 * non-blocking hash map (2007); every thread that meets a frozen leaf helps, so
 * nobody waits.  Handed-out memory is never unmapped, only used again as the
 * same kind of thing; instead of somebody's waiting until nobody reads it,
 * everything in it carries the number of its incarnation, and readers check
 * that nothing changed while they read (L. Lamport, "Concurrent reading and
 * writing", 1977).  Operations are linearizable (M. Herlihy, J. Wing, 1990).
 *
 * Trie words: the root, and the 4 children in each inner node.  A word is
 * nothing, a leaf or an inner node.  Nothing becomes a leaf; a leaf becomes
 * another leaf, nothing, or an inner node; an inner node stays for ever.
 *
 * Slots.  A leaf has buckets, a bucket has slots, a slot has a key, a record
 * and a control word {epoch, use, state}:
 *
 *	EMPTY -> PENDING	an inserter reserves it; from then on it alone
 *				writes key and record
 *	PENDING -> LIVE		the same inserter; the key is in the table
 *	LIVE -> EMPTY		a remover; use + 1; the key is out
 *	EMPTY -> DEAD		\
 *	LIVE -> FROZEN		 > whoever replaces the leaf; these are final
 *	PENDING -> KILLED	/
 *	any -> {new epoch, 0, EMPTY}	the owner of a leaf taken from the arena
 *
 * All but the last are compare-and-swaps of the whole control word.
 *
 * Invariants
 *  I1  An epoch belongs to one incarnation of one leaf; the leaf's trie word,
 *	bucket words and control words carry it.  So a compare-and-swap by a
 *	thread that comes late fails.
 *  I2  A leaf is given back by the winner of the exchange that took it out of
 *	the trie, and all its slots are final then.  So in a leaf that is free,
 *	or was given to the kernel, no compare-and-swap succeeds on a control
 *	word (zero pages are of epoch 0, which no leaf has).  A late count may
 *	still change a bucket word there, which whoever takes the leaf sets
 *	anew.  Nothing else is stored, except by inserters that were killed:
 *	the leaf is not given back before they are done.  Each of them
 *	finds out when it wants to make its slot live, and reports it
 *	(leaf_arena_settle()); the last one gives the leaf back.
 *  I3  Key and record change only in PENDING, or by the thread that makes a
 *	leaf of old memory, after it gave all controls the new epoch; so they
 *	are constant while the control word is {epoch, use, LIVE or FROZEN} of
 *	a leaf that was published.
 *  I4  A key is in at most one slot LIVE in the leaves of the trie.  It is there
 *	in its home bucket or behind it, and every bucket from home up to before
 *	its own counts it in its bucket word, from before it is LIVE until after
 *	it no longer is.  A count may be too high, for a thread that stopped.
 *  I5  A leaf whose trie word is unchanged has held, since that word was loaded,
 *	every key of its part of the hash that was in the table.
 *
 * Where each operation takes place at once
 *  insert: at PENDING -> LIVE.  It can succeed only in a leaf that is in the
 *	trie, and is copied from then on.
 *  remove: at LIVE -> EMPTY, likewise.  False: as lookup.  Where only a certain
 *	record is to go: at the compare-and-swap too, as the record is that of this
 *	use of the slot; false for another record, as lookup that is true.
 *  lookup, true: if the slot was LIVE, where its control was last read.  If it
 *	was FROZEN and its leaf out of the trie, just before that happened: it
 *	was after the lookup began, as the lookup found the leaf in the trie.
 *  lookup, false: if the key was at no time during the scan, anywhere in it.  A
 *	key that was in all the time would have been found (I4, I5); one that
 *	came or went was out at some time.  The trie word, read again at the
 *	end, says that the leaf was in the trie all the time.
 *	Lookup glances at the home bucket first, and believes what it sees in
 *	two cases: a slot with the key is live, and still is after its record was
 *	read; no slot has the key, and no key was passed on.  A slot that is
 *	EMPTY keeps the key it had, so a second one may be live: all other cases
 *	are for a search that looks at everything.
 *  Freezing, replacing, splitting and shrinking change nothing that an operation
 *	can tell.
 *
 * Progress.  A lookup is wait-free as long as nobody replaces the leaf it reads;
 * it starts again only when somebody has, which takes inserts or removes that
 * were successful.  insert and remove are lock-free: each retry is for another
 * thread's success, or for a step of a replacement, which ends.  Replacing a
 * leaf is bounded: at most LEAF_MAX_SLOTS slots are frozen and copied, by every
 * thread that meets it.
 *
 * Memory.  Full is 85 %, and a leaf doubles, or is split in 4 of half its size
 * each; so what grows is 42.5 % full at least, on the average of its leaves.  With
 * records of one word that is 60 bytes an entry at most, and the table itself, of
 * about 1 KiB; below 70 entries, a leaf of 4 KiB.  Free leaves whose memory is kept
 * are a 64th of all there were, and 32 of each size at most.
 * A leaf that is 15 % full shrinks, one without a key goes, except at the root.
 * What stays of a table that was large: inner nodes, 32 bytes for each time that a
 * leaf of 8 KiB was split, and 8 bytes for each leaf there was, together less than a
 * hundredth of what it had; free leaves of up to 384 KiB.  A leaf of 4 KiB with a
 * single key stays: after shrinking, a table has as many leaves as keys at most,
 * and not more than when it was largest.  Where pages are larger than a leaf
 * (16 or 64 KiB, on some arm64), its memory is used again but not given to the
 * kernel.
 *
 * Pauses.  What an insert does at most is to freeze 320 slots, to copy 272 records,
 * to touch 4 new leaves, and to give one back; whatever the size of the table.
 *
 * Out of memory.  insert asks for memory before it freezes anything, so that it
 * can fail and leave the leaf in order.  A remove that meets a frozen leaf
 * cannot fail; for it, and for whoever is in the middle of a replacement, a
 * reserve of LEAF_RESERVE elements of each kind is mapped ahead.  Only when there
 * is no memory, and the reserve is in the hands of threads that stopped (each
 * can have 4 leaves and a node), does a remove repeat in vain.
 *
 * What a thread that stopped for ever costs: the leaf that it was inserting
 * into, if that was replaced; up to 4 leaves and a node that it was building;
 * a count that is too high in some bucket words until their leaf is replaced.
 *
 * Bounds.  A thread that stops between reading and exchanging a word, while
 * exactly a multiple of 2^36 leaves are taken, and comes back to the same leaf
 * in the same epoch, can be mistaken; at a million leaves a second that is 19
 * hours.  Within an incarnation a slot is used 2^25 - 1 times, then its leaf is
 * replaced.  There can be 2^22 leaves of 4 KiB and 2^21 of
 * 8 KiB: more than 200 million entries with records of one word.
 *
 * Memory order.  Pairs, by letter:
 *  (A)	what an inserter wrote, the key and the record, before the slot is LIVE:
 *	release at PENDING -> LIVE; acquire where a control word is read before
 *	its key and record.  The states that follow are read-modify-writes, so
 *	LIVE -> FROZEN hands it on.
 *  (B)	a leaf, or inner node, as it was built: release at the exchange of the
 *	trie word; acquire at each trie word on the way down.
 *  (C)	reader of a slot: control (acquire), key, record, acquire fence, control
 *	again.  Writer: control, release fence, key, record.  A reader that saw
 *	anything of a later writer sees the control changed.
 *  (D)	reader of a leaf: slots, acquire fence, trie word again.  Whoever uses a
 *	leaf again: release fence, slots; after it had the leaf, by acquire and
 *	release through the arena, from who replaced it.  A reader that saw
 *	anything of a later incarnation sees the trie word changed.
 *  (E)	remover: key and record, then LIVE -> EMPTY (release).  Inserter: EMPTY ->
 *	PENDING (acquire), then key and record.  So what a remover returns is
 *	from before anybody could use the slot again.
 */
#include <errno.h>

#include "handle_slots.h"

static ALWAYS_INLINE struct place descend(struct handle_table *table, uintptr_t key, uint64_t hash)
{
	struct place place = {.at = &table->root};
	uint64_t path = hash;

	/* (B) Acquire, here and below */
	place.word = load_acquire(place.at);
	while (word_is_inner(place.word)) {
		place.at = word_node(place.word) + path_child(path);
		path <<= LEVEL_BITS;
		place.word = load_acquire(place.at);
		if (unlikely(++place.level == HASH_LEVELS))
			path = key;
		/* Rather a branch that is never taken than work at each level */
		__asm__("" : "+r"(path));
	}
	return place;
}

static inline bool place_unchanged(const struct place *place)
{
	/* (D) */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return load_relaxed(place->at) == place->word;
}

static ALWAYS_INLINE int insert(struct handle_table *table, struct leaf_shape shape, uintptr_t key,
				const uint64_t *record)
{
	uint64_t hash = HANDLE_TABLE_HASH(key);

	for (;;) {
		struct place place = descend(table, key, hash);
		unsigned int home, passed;
		struct leaf leaf;
		int ret = 0;

		if (unlikely(word_is_nothing(place.word))) {
			ret = handle_plant(table, shape, &place);
			if (ret)
				return ret;
			continue;
		}
		leaf = leaf_open(table, shape, place.word);
		home = leaf_home(shape, &leaf, hash);
		switch (add(shape, &leaf, home, key, record, &passed)) {
		case ADDED:
			return 0;
		case KILLED:
			leaf_arena_settle(&table->arena, leaf.class, word_id(leaf.word), 1);
			/* fall through */
		case FROZEN:
			ret = handle_replace(table, shape, &place);
			break;
		case FULL:
			/* All keys of this leaf are the same one */
			if (place.level == LEVELS && leaf.class == LEAF_LARGEST)
				ret = ENOMEM;
			/* fall through */
		case WORN:
			if (ret || !leaf_arena_prepare(&table->arena)) {
				uncount_passed(shape, &leaf, home, passed);
				return ENOMEM;
			}
			ret = handle_replace(table, shape, &place);
			break;
		default:
			break;
		}
		if (ret)
			return ret;
	}
}

static ALWAYS_INLINE bool look_closely(struct handle_table *table, struct leaf_shape shape,
				       uintptr_t key, uint64_t *record)
{
	uint64_t hash = HANDLE_TABLE_HASH(key);

	for (;;) {
		struct place place = descend(table, key, hash);
		struct found found;
		struct leaf leaf;

		if (unlikely(word_is_nothing(place.word)))
			return false;
		leaf = leaf_open(table, shape, place.word);
		switch (search(shape, &leaf, leaf_home(shape, &leaf, hash), key, record, &found)) {
		case FOUND:
			return true;
		case ABSENT:
			if (likely(place_unchanged(&place)))
				return false;
			break;
		default:
			break;
		}
	}
}

static ALWAYS_INLINE enum answer lookup(struct handle_table *table, struct leaf_shape shape,
					uintptr_t key, uint64_t *record)
{
	uint64_t hash = HANDLE_TABLE_HASH(key);
	struct place place = descend(table, key, hash);
	enum answer answer;
	struct leaf leaf;

	if (unlikely(word_is_nothing(place.word)))
		return ABSENT;
	leaf = leaf_open(table, shape, place.word);
	answer = glance(shape, leaf.word, leaf_home_bucket(shape, &leaf, hash), key, record);
	return likely(answer != ABSENT || place_unchanged(&place)) ? answer : STALE;
}

/* After a key went from @bucket: is the leaf worth being replaced by less? */
static bool is_sparse(struct leaf_shape shape, const struct place *place, const struct leaf *leaf,
		      uint64_t *bucket)
{
	unsigned int limit = 0;
	unsigned int s;

	if (leaf->class == LEAF_SMALLEST && !place->level)
		return false;
	for (s = 0; s < shape.slots; s++)
		if (ctrl_state(load_relaxed(bucket_ctrl(shape, bucket, s))) != SLOT_EMPTY)
			return false;
	if (leaf->class != LEAF_SMALLEST)
		limit = leaf_slots(shape, leaf->class) * FILL_SPARSE / 100;
	return count_used(shape, leaf, limit + 1) <= limit;
}

/* Any record, where @first is NULL, or one whose first word is *@first */
static ALWAYS_INLINE bool take_out_if(struct handle_table *table, struct leaf_shape shape,
				      uintptr_t key, uint64_t *record, const uint64_t *first)
{
	uint64_t hash = HANDLE_TABLE_HASH(key);

	for (;;) {
		struct place place = descend(table, key, hash);
		unsigned int home;
		struct found found;
		struct leaf leaf;
		uint64_t empty;

		if (unlikely(word_is_nothing(place.word)))
			return false;
		leaf = leaf_open(table, shape, place.word);
		home = leaf_home(shape, &leaf, hash);
		switch (search(shape, &leaf, home, key, record, &found)) {
		case FOUND:
			break;
		case ABSENT:
			if (likely(place_unchanged(&place)))
				return false;
			continue;
		default:
			continue;
		}
		/* Where the control was last read it was in, with this record */
		if (first && *record != *first)
			return false;
		if (unlikely(ctrl_state(found.seen) == SLOT_FROZEN)) {
			/* In want of memory: until others, or the reserve, help */
			handle_replace(table, shape, &place);
			continue;
		}
		empty = ctrl_with(found.seen, SLOT_EMPTY) + 1;
		/* (E) Release.  That it succeeds says that the record is right */
		if (unlikely(!__atomic_compare_exchange_n(found.ctrl, &found.seen, empty, false,
							  __ATOMIC_RELEASE, __ATOMIC_RELAXED)))
			continue;
		uncount_passed(shape, &leaf, home, found.passed);
		if (unlikely(is_sparse(shape, &place, &leaf, found.bucket)) &&
		    leaf_arena_prepare(&table->arena))
			handle_replace(table, shape, &place);
		return true;
	}
}

static ALWAYS_INLINE bool take_out(struct handle_table *table, struct leaf_shape shape,
				   uintptr_t key, uint64_t *record)
{
	return take_out_if(table, shape, key, record, NULL);
}

/*
 * Code with constants for two widths.  Each function is one of its own, so that it
 * saves no more registers than it needs.
 */
#define WITH_SHAPE(type, function, name, words, ...)                                               \
	static __attribute__((noinline))                                                           \
	type function##_##name(struct handle_table *table, uintptr_t key, __VA_ARGS__)             \
	{                                                                                          \
		return function(table, leaf_shape(words), key, record);                            \
	}

#define LOOKUP(name, words)                                                                        \
	WITH_SHAPE(bool, look_closely, name, words, uint64_t *record)                              \
	static __attribute__((noinline)) bool lookup_##name(struct handle_table *table,            \
							    uintptr_t key, uint64_t *record)       \
	{                                                                                          \
		enum answer answer = lookup(table, leaf_shape(words), key, record);                \
                                                                                                   \
		return likely(answer != STALE) ? answer == FOUND                                   \
					       : look_closely_##name(table, key, record);          \
	}

#define OPERATIONS(name, words)                                                                    \
	WITH_SHAPE(int, insert, name, words, const uint64_t *record)                               \
	WITH_SHAPE(bool, take_out, name, words, uint64_t *record)                                  \
	LOOKUP(name, words)

OPERATIONS(1, 1)
OPERATIONS(7, 7)
OPERATIONS(any, handle_table_words(table))

#define BY_WIDTH(function, ...)                                                                    \
	(likely(!table->more_words)	  ? function##_1(__VA_ARGS__)                              \
	 : likely(table->more_words == 6) ? function##_7(__VA_ARGS__)                              \
					  : function##_any(__VA_ARGS__))

int handle_table_insert(struct handle_table *table, uintptr_t key, const uint64_t *record)
{
	return key ? BY_WIDTH(insert, table, key, record) : EINVAL;
}

bool handle_table_lookup(struct handle_table *table, uintptr_t key, uint64_t *record)
{
	return BY_WIDTH(lookup, table, key, record);
}

bool handle_table_remove(struct handle_table *table, uintptr_t key, uint64_t *record)
{
	return BY_WIDTH(take_out, table, key, record);
}

bool handle_table_remove_if(struct handle_table *table, uintptr_t key, uint64_t first)
{
	uint64_t record[HANDLE_TABLE_MAX_WORDS];

	return take_out_if(table, leaf_shape(handle_table_words(table)), key, record, &first);
}

size_t handle_table_bytes(const struct handle_table *table)
{
	return sizeof(*table) + leaf_arena_bytes(&table->arena);
}

void handle_table_destroy(struct handle_table *table)
{
	leaf_arena_destroy(&table->arena);
	table->root = 0;
	table->epoch = 0;
}
