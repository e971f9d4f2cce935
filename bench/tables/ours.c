// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The shim's own, with records of one word. */
#include "handle_table.h"
#include "harness.h"

#include <stdlib.h>

static inline void do_insert(void *table, uintptr_t key, uint64_t record)
{
	if (handle_table_insert(table, key, &record))
		bench_fail("an insertion failed");
}

static inline bool do_lookup(void *table, uintptr_t key, uint64_t *record)
{
	return handle_table_lookup(table, key, record);
}

static inline bool do_remove(void *table, uintptr_t key, uint64_t *record)
{
	return handle_table_remove(table, key, record);
}

#include "loops.h"

static void *create(void)
{
	struct handle_table *table = aligned_alloc(64, sizeof(*table));

	if (!table)
		bench_fail("out of memory");
	*table = (struct handle_table)HANDLE_TABLE_INITIALIZER(1);
	return table;
}

static void destroy(void *table)
{
	handle_table_destroy(table);
	free(table);
}

static size_t bytes(void *table)
{
	return handle_table_bytes(table);
}

static void nothing(void)
{
}

static void settle(void *table, uint64_t entries)
{
	(void)table;
	(void)entries;
}

const struct contender contender_ours = {
	.name = "ours",
	.create = create,
	.destroy = destroy,
	.settle = settle,
	.bytes = bytes,
	.fill = contender_fill,
	.grow = contender_grow,
	.thread_begin = nothing,
	.thread_end = nothing,
	.run = contender_run,
};
