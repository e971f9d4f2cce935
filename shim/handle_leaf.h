/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The words of a handle table: how trie words, leaves and slots are laid out.
 * For the files of the handle table only; handle_table.c says what it is for.
 */
#ifndef HANDLE_LEAF_H
#define HANDLE_LEAF_H

#include "handle_table.h"

/*
 * Every 64-bit word that is compared and swapped has, in its upper 36 bits, the
 * epoch: the incarnation of the leaf that it names or belongs to.
 *
 *	trie word	epoch 36 | LIVE 3 | page 22 | class 2 | 0	a leaf
 *			epoch 36 | LIVE 3 | 0				nothing
 *			address of an inner node              | 1
 *	slot control	epoch 36 | state 3 | use 25
 *	bucket word	epoch 36 | LIVE 3 | keys whose search goes on, 25
 *
 * As all have the state of a live slot where slots have theirs, one comparison
 * of the upper part tells both that a slot is of this leaf and that it is live.
 */
#define STATE_SHIFT	 25
#define EPOCH_SHIFT	 28
#define EPOCH_ONE	 (1ull << EPOCH_SHIFT)
#define WORD_INNER	 1ull
#define WORD_CLASS_SHIFT 1
#define WORD_PAGE_SHIFT	 3
#define LOWER_PART	 ((1ull << STATE_SHIFT) - 1)

_Static_assert(WORD_PAGE_SHIFT + LEAF_PAGE_BITS == STATE_SHIFT, "a page fits a trie word");
_Static_assert(LEAF_SMALLEST < 1 << (WORD_PAGE_SHIFT - WORD_CLASS_SHIFT), "so does a class");

/* How often a slot may be used in one incarnation; less, for tests */
#ifndef HANDLE_TABLE_USE_LIMIT
#define HANDLE_TABLE_USE_LIMIT LOWER_PART
#endif

enum slot_state {
	SLOT_EMPTY, /* 0: what the kernel's zero pages say, in epoch 0 */
	SLOT_PENDING,
	SLOT_LIVE,
	SLOT_FROZEN,
	SLOT_DEAD,
	SLOT_KILLED,
};

/* Fill of a leaf, in percent of its slots */
#define FILL_FULL   85 /* from here on it is replaced by more memory */
#define FILL_CHOSEN 60 /* at most, in the class chosen for a new leaf */
#define FILL_SPARSE 15 /* up to here it is replaced by less memory */

#define NODE_CHILDREN 4
#define LEVEL_BITS    2
#define HASH_LEVELS   (64 / LEVEL_BITS)
#define LEVELS	      (2 * HASH_LEVELS)

#define BUCKET_MAX_SLOTS 9
#define LEAF_MAX_SLOTS	 320

#define ALWAYS_INLINE inline __attribute__((always_inline))

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#ifndef HANDLE_TABLE_HASH
#define HANDLE_TABLE_HASH(key) handle_hash(key)
#endif

/*
 * The trie takes bits from the top, a leaf takes its bucket from the lower
 * half; so both have to be good for keys that count up in steps of any power
 * of two.  One multiplication to 128 bits, folded, after Wang Yi's wyhash.
 */
static inline uint64_t handle_hash(uintptr_t key)
{
	unsigned __int128 product =
		(unsigned __int128)(key ^ 0xa0761d6478bd642full) * 0x9e3779b97f4a7c15ull;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/*
 * The bits that choose the way from a level on, at the top.  After those of the
 * hash come those of the key itself, so that any two keys part in the end,
 * whatever the hash does.
 */
static inline uint64_t path_at(uintptr_t key, uint64_t hash, unsigned int level)
{
	if (level < HASH_LEVELS)
		return hash << (LEVEL_BITS * level);
	return (uint64_t)key << (LEVEL_BITS * (level - HASH_LEVELS));
}

static inline unsigned int path_child(uint64_t path)
{
	return (unsigned int)(path >> (64 - LEVEL_BITS));
}

/**
 * struct leaf_shape - what depends on the width of the records
 * @words: words of a record
 * @slots: slots of a bucket
 * @bucket_shift: log2 of the bytes of a bucket: its word, the keys, the
 *	controls, the records, and what is left over
 *
 * A bucket never crosses a page, so what the kernel takes it takes at once.
 */
struct leaf_shape {
	unsigned int words;
	unsigned int slots;
	unsigned int bucket_shift;
};

static ALWAYS_INLINE struct leaf_shape leaf_shape(unsigned int words)
{
	static const unsigned char slots[] = {0, 5, 7, 6, 5, 9, 7, 7, 6};

	/* The least power of two for 5 slots: (words of a bucket - 1) / (2 + words) */
	return (struct leaf_shape){words, slots[words], words == 1 ? 7 : words <= 4 ? 8 : 9};
}

static inline unsigned int leaf_shift(unsigned int class)
{
	return LEAF_PAGE_SHIFT + leaf_page_shift(class);
}

static inline unsigned int leaf_buckets(struct leaf_shape shape, unsigned int class)
{
	return 1u << (leaf_shift(class) - shape.bucket_shift);
}

static inline unsigned int leaf_slots(struct leaf_shape shape, unsigned int class)
{
	return leaf_buckets(shape, class) * shape.slots;
}

/**
 * struct leaf - a leaf as a trie word named it
 * @base: its memory, which may be another incarnation's by now
 * @word: the trie word
 * @class: of its size
 * @mask: number of buckets, less one
 */
struct leaf {
	uint64_t *base;
	uint64_t word;
	unsigned int class;
	unsigned int mask;
};

static inline bool word_is_inner(uint64_t word)
{
	return word & WORD_INNER;
}

static inline bool word_is_nothing(uint64_t word)
{
	return !(word & LOWER_PART);
}

static inline uint64_t *word_node(uint64_t word)
{
	return (uint64_t *)(uintptr_t)(word - WORD_INNER);
}

static inline unsigned int word_class(uint64_t word)
{
	return (unsigned int)(word >> WORD_CLASS_SHIFT) & 3;
}

static inline uint32_t word_page(uint64_t word)
{
	return (uint32_t)(word & LOWER_PART) >> WORD_PAGE_SHIFT;
}

static inline uint32_t word_id(uint64_t word)
{
	return word_page(word) >> leaf_page_shift(word_class(word));
}

static inline bool same_epoch(uint64_t a, uint64_t b)
{
	return (a ^ b) < EPOCH_ONE;
}

static inline struct leaf leaf_open(struct handle_table *table, struct leaf_shape shape,
				    uint64_t word)
{
	unsigned int class = word_class(word);

	return (struct leaf){
		.base = leaf_arena_leaf(&table->arena, class, word_page(word)),
		.word = word,
		.class = class,
		.mask = leaf_buckets(shape, class) - 1,
	};
}

static inline unsigned int leaf_home(struct leaf_shape shape, const struct leaf *leaf,
				     uint64_t hash)
{
	return ((uint32_t)hash >> leaf->class) >> (32 - leaf_shift(0) + shape.bucket_shift);
}

static inline uint64_t *leaf_bucket(struct leaf_shape shape, const struct leaf *leaf,
				    unsigned int index)
{
	return leaf->base + ((size_t)(index & leaf->mask) << (shape.bucket_shift - 3));
}

/* leaf_bucket() of leaf_home(), which needs no mask */
static inline uint64_t *leaf_home_bucket(struct leaf_shape shape, const struct leaf *leaf,
					 uint64_t hash)
{
	return leaf->base + ((size_t)leaf_home(shape, leaf, hash) << (shape.bucket_shift - 3));
}

static inline uint64_t *bucket_key(uint64_t *bucket, unsigned int slot)
{
	return bucket + 1 + slot;
}

static inline uint64_t *bucket_ctrl(struct leaf_shape shape, uint64_t *bucket, unsigned int slot)
{
	return bucket + 1 + shape.slots + slot;
}

static inline uint64_t *bucket_record(struct leaf_shape shape, uint64_t *bucket, unsigned int slot)
{
	return bucket + 1 + (size_t)2 * shape.slots + (size_t)slot * shape.words;
}

static inline enum slot_state ctrl_state(uint64_t ctrl)
{
	return (enum slot_state)(ctrl >> STATE_SHIFT & 7);
}

static inline uint64_t ctrl_use(uint64_t ctrl)
{
	return ctrl & LOWER_PART;
}

static inline uint64_t ctrl_with(uint64_t ctrl, enum slot_state state)
{
	return (ctrl & ~(7ull << STATE_SHIFT)) | (uint64_t)state << STATE_SHIFT;
}

/* A live slot, or a bucket, of the leaf that a trie word names */
static inline bool is_live_in(uint64_t ctrl, uint64_t word)
{
	return (ctrl ^ word) <= LOWER_PART;
}

static inline uint64_t load_relaxed(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline uint64_t load_acquire(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void store_relaxed(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/**
 * struct place - where the way of a key ended
 * @at: the trie word
 * @word: what it was; not an inner node
 * @level: inner nodes passed
 */
struct place {
	uint64_t *at;
	uint64_t word;
	unsigned int level;
};

/**
 * handle_plant() - put an empty leaf where there is nothing
 * @table: the table
 * @shape: its shape
 * @place: where
 *
 * Return: 0, also when another thread was first; ENOMEM.
 */
int handle_plant(struct handle_table *table, struct leaf_shape shape, const struct place *place);

/**
 * handle_replace() - replace a leaf by what suits its content, or help to
 * @table: the table
 * @shape: its shape
 * @place: the leaf
 *
 * Whoever is the first should have called leaf_arena_prepare() before, since
 * the leaf takes no more changes once this has begun.
 *
 * Return: 0 when @place is no longer what it was; ENOMEM.
 */
int handle_replace(struct handle_table *table, struct leaf_shape shape, const struct place *place);

#endif /* HANDLE_LEAF_H */
