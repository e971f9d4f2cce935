/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A lock-free hash table from a pointer-sized key to a record of 1 to 8
 * words.
 *
 * Any number of threads may read and write it.  It allocates nothing but
 * pages from the kernel, holds no lock, waits for nobody and keeps nothing per
 * thread: a thread may be stopped for ever anywhere in here and the others go
 * on; so a signal handler may use it, and so may the child of a fork().
 * Nothing lives in it that a caller could hold: records are copied in and out.
 *
 * All functions leave errno as it was.
 */
#ifndef HANDLE_TABLE_H
#define HANDLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leaf_arena.h"

#define HANDLE_TABLE_MAX_WORDS 8

/**
 * struct handle_table - a table; the members are its own business
 * @root: top word of the trie
 * @more_words: words that a record has above one: so an empty table of one is all zeroes, and a
 *	static one costs a process that never uses it no page
 * @epoch: the last incarnation number given to a leaf
 * @arena: memory of leaves and inner nodes
 */
struct handle_table {
	uint64_t root;
	unsigned int more_words;
	uint64_t epoch __attribute__((aligned(64)));
	struct leaf_arena arena;
};

/**
 * HANDLE_TABLE_INITIALIZER() - an empty table
 * @n_words: words a record has, 1 to HANDLE_TABLE_MAX_WORDS
 *
 * For static storage; the table maps its first memory at the first insert.
 */
#define HANDLE_TABLE_INITIALIZER(n_words)                                                          \
	{                                                                                          \
		.more_words = (n_words)-1                                                          \
	}

/** handle_table_words() - words a record has */
static inline unsigned int handle_table_words(const struct handle_table *table)
{
	return table->more_words + 1;
}

/**
 * handle_table_insert() - put a key and its record in
 * @table: the table
 * @key: not 0, not in the table, and in no other thread's hands to be inserted:
 *	an address of, or a serial number for, something that is alive
 * @record: its words; copied
 *
 * What the caller wrote before is visible to whoever finds the key.
 *
 * Return: 0; EINVAL when @key is 0; ENOMEM, and the table is as it was.
 */
int handle_table_insert(struct handle_table *table, uintptr_t key, const uint64_t *record);

/**
 * handle_table_lookup() - find the record of a key
 * @table: the table
 * @key: any value
 * @record: where to copy the words, which were the record all at one time;
 *	written to, perhaps in vain, also when the answer is false
 *
 * Return: whether the key was in the table.
 */
bool handle_table_lookup(struct handle_table *table, uintptr_t key, uint64_t *record);

/**
 * handle_table_remove() - take a key and its record out
 * @table: the table
 * @key: any value
 * @record: where to copy the words, as handle_table_lookup() does
 *
 * Return: true to exactly one of several that remove the same insertion;
 * false when the key was not in the table.
 */
bool handle_table_remove(struct handle_table *table, uintptr_t key, uint64_t *record);

/**
 * handle_table_remove_if() - take a key out if its record is a certain one
 * @table: the table
 * @key: any value
 * @first: the first word of that record
 *
 * Return: as handle_table_remove(); false also when the key has another record.
 */
bool handle_table_remove_if(struct handle_table *table, uintptr_t key, uint64_t first);

/**
 * handle_table_for_each() - visit what is in the table
 * @table: the table
 * @visit: called with each key and a copy of its record, and @arg; returns
 *	whether to go on; may itself use the table
 * @arg: for @visit
 *
 * A key that is in the table from the call until the return, without a break,
 * is visited exactly once.  One that is in only part of the time may be
 * visited or not, and once for each time it was inserted.  At each visit the
 * key was in the table, with that record, after the previous visit ended.
 * Uses up to 10 KiB of stack.
 */
void handle_table_for_each(struct handle_table *table,
			   bool (*visit)(uintptr_t key, const uint64_t *record, void *arg),
			   void *arg);

/**
 * handle_table_bytes() - memory that the table occupies
 * @table: the table
 *
 * Return: bytes touched and not given back to the kernel; exact while nobody
 * changes the table.
 */
size_t handle_table_bytes(const struct handle_table *table);

/**
 * handle_table_destroy() - unmap everything; the table is empty afterwards
 * @table: the table, which nobody else may be using, not even a thread that is
 *	stopped; so this is for tests
 */
void handle_table_destroy(struct handle_table *table);

#endif /* HANDLE_TABLE_H */
