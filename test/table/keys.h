/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Keys, and records that tell which key they belong to */
#ifndef TEST_TABLE_KEYS_H
#define TEST_TABLE_KEYS_H

#include <stdint.h>

#include "handle_table.h"

static inline uintptr_t key_of(unsigned long index)
{
	return 0x7f0000000000ul + (index << 12);
}

static inline uint64_t word_of(uintptr_t key, unsigned int word)
{
	return (key + word) * 0x9e3779b97f4a7c15ull;
}

static inline int insert_key(struct handle_table *table, uintptr_t key)
{
	uint64_t record[HANDLE_TABLE_MAX_WORDS];
	unsigned int i;

	for (i = 0; i < HANDLE_TABLE_MAX_WORDS; i++)
		record[i] = word_of(key, i);
	return handle_table_insert(table, key, record);
}

static inline bool record_is_of(const struct handle_table *table, uintptr_t key,
				const uint64_t *record)
{
	unsigned int i;

	for (i = 0; i < handle_table_words(table); i++)
		if (record[i] != word_of(key, i))
			return false;
	return true;
}

/* Found, with its own record */
static inline bool has_key(struct handle_table *table, uintptr_t key)
{
	uint64_t record[HANDLE_TABLE_MAX_WORDS];

	return handle_table_lookup(table, key, record) && record_is_of(table, key, record);
}

static inline bool lacks_key(struct handle_table *table, uintptr_t key)
{
	uint64_t record[HANDLE_TABLE_MAX_WORDS];

	return !handle_table_lookup(table, key, record);
}

static inline bool remove_key(struct handle_table *table, uintptr_t key)
{
	uint64_t record[HANDLE_TABLE_MAX_WORDS];

	return handle_table_remove(table, key, record) && record_is_of(table, key, record);
}

/* How many of the keys [from, to) are there */
static inline unsigned long count_keys(struct handle_table *table, unsigned long from,
				       unsigned long to)
{
	unsigned long i, found = 0;

	for (i = from; i < to; i++)
		found += has_key(table, key_of(i));
	return found;
}

/* How many of the keys [from, to) were inserted */
static inline unsigned long insert_keys(struct handle_table *table, unsigned long from,
					unsigned long to)
{
	unsigned long i, inserted = 0;

	for (i = from; i < to; i++)
		inserted += insert_key(table, key_of(i)) == 0;
	return inserted;
}

static inline unsigned long remove_keys(struct handle_table *table, unsigned long from,
					unsigned long to)
{
	unsigned long i, removed = 0;

	for (i = from; i < to; i++)
		removed += remove_key(table, key_of(i));
	return removed;
}

static inline bool count_visit(uintptr_t key, const uint64_t *record, void *arg)
{
	(void)key;
	(void)record;
	++*(unsigned long *)arg;
	return true;
}

#endif /* TEST_TABLE_KEYS_H */
