/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The tables that are compared: each in a file of its own, with the loops of loops.h compiled into
 * it, so that no contender pays for a call that its user would not make.
 */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As the shim has them: handles are serials with a mark, domains are addresses. */
enum key_kind { KEYS_ARE_SERIALS, KEYS_ARE_ADDRESSES };

static inline uintptr_t table_key(enum key_kind kind, uint64_t index)
{
	if (kind == KEYS_ARE_SERIALS)
		return (uintptr_t)((UINT64_C(0x1b5f) << 48) | (index + 1));
	return (uintptr_t)(UINT64_C(0x7f0000000000) + (index << 12));
}

static inline uint64_t table_record(uintptr_t key)
{
	return (key >> 3) | 1;
}

enum operation { LOOKUP_HIT, LOOKUP_MISS, INSERT, REMOVE, PAIRS, MIXED, OPERATIONS };

/**
 * struct worker - what one thread does, and did
 * @table: the contender's
 * @kind: of the keys
 * @entries: keys 0 to @entries - 1 are in the table all the time
 * @number: of the thread
 * @stop: when to end
 * @fresh: index of its next new key; it comes back at the next run
 * @operations: done, by kind
 * @time: that they took, in nanoseconds
 */
struct worker {
	void *table;
	enum key_kind kind;
	uint64_t entries;
	unsigned int number;
	const bool *stop;
	uint64_t fresh;
	uint64_t operations[OPERATIONS];
	uint64_t time[OPERATIONS];
};

/**
 * struct contender - a table
 * @name: of it
 * @one_writer: only one thread may insert and remove
 * @create: an empty one
 * @destroy: gives everything back
 * @settle: after the table was filled, or rested: what its user would do now and then
 * @bytes: memory that it holds now, entries included
 * @fill: insert keys @from up to before @to; may be called when no thread has begun
 * @grow: as @fill, and store how long each insertion took, on the wall and on the processor
 * @thread_begin: what a thread does before it uses it, and after
 * @run: an operation, again and again, until it is to stop
 *
 * INSERT does removals as well, and measures both.
 */
struct contender {
	const char *name;
	bool one_writer;
	void *(*create)(void);
	void (*destroy)(void *table);
	void (*settle)(void *table, uint64_t entries);
	size_t (*bytes)(void *table);
	void (*fill)(void *table, enum key_kind kind, uint64_t from, uint64_t to);
	void (*grow)(void *table, enum key_kind kind, uint64_t from, uint64_t to, uint32_t *wall,
		     uint32_t *processor);
	void (*thread_begin)(void);
	void (*thread_end)(void);
	void (*run)(struct worker *worker, enum operation operation);
};

extern const struct contender contender_ours, contender_lfht, contender_ck, contender_mutex;

#endif
