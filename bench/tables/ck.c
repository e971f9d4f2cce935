// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The hash table of Concurrency Kit, with keys and records in its slots, and its own hash. One
 * thread may write while others read. Its old maps are freed at once: nobody reads while it grows
 * here, so it does without the epochs that its user would need.
 */
#include "harness.h"

#include <ck_ht.h>
#include <stdlib.h>

struct table {
	ck_ht_t ht;
};

static size_t allocated;

static inline void do_insert(void *table, uintptr_t key, uint64_t record)
{
	ck_ht_t *ht = &((struct table *)table)->ht;
	ck_ht_entry_t entry;
	ck_ht_hash_t hash;

	ck_ht_hash_direct(&hash, ht, key);
	ck_ht_entry_set_direct(&entry, hash, key, (uintptr_t)record);
	if (!ck_ht_put_spmc(ht, hash, &entry))
		bench_fail("an insertion failed");
}

static inline bool do_lookup(void *table, uintptr_t key, uint64_t *record)
{
	ck_ht_t *ht = &((struct table *)table)->ht;
	ck_ht_entry_t entry;
	ck_ht_hash_t hash;

	ck_ht_hash_direct(&hash, ht, key);
	ck_ht_entry_key_set_direct(&entry, key);
	if (!ck_ht_get_spmc(ht, hash, &entry))
		return false;
	*record = ck_ht_entry_value_direct(&entry);
	return true;
}

static inline bool do_remove(void *table, uintptr_t key, uint64_t *record)
{
	ck_ht_t *ht = &((struct table *)table)->ht;
	ck_ht_entry_t entry;
	ck_ht_hash_t hash;

	ck_ht_hash_direct(&hash, ht, key);
	ck_ht_entry_key_set_direct(&entry, key);
	if (!ck_ht_remove_spmc(ht, hash, &entry))
		return false;
	*record = ck_ht_entry_value_direct(&entry);
	return true;
}

#include "loops.h"

static void *count_malloc(size_t size)
{
	allocated += size;
	return malloc(size);
}

static void count_free(void *memory, size_t size, bool defer)
{
	(void)defer;
	allocated -= size;
	free(memory);
}

static struct ck_malloc allocator = {.malloc = count_malloc, .free = count_free};

static void *create(void)
{
	struct table *table = calloc(1, sizeof(*table));

	if (!table || !ck_ht_init(&table->ht, CK_HT_MODE_DIRECT | CK_HT_WORKLOAD_DELETE, NULL,
				  &allocator, 16, 1))
		bench_fail("out of memory");
	return table;
}

static void destroy(void *table)
{
	ck_ht_destroy(&((struct table *)table)->ht);
	free(table);
}

/* Clears away the traces of what was removed. */
static void settle(void *table, uint64_t entries)
{
	(void)entries;
	ck_ht_gc(&((struct table *)table)->ht, 0, 1);
}

static size_t bytes(void *table)
{
	(void)table;
	return allocated;
}

static void nothing(void)
{
}

const struct contender contender_ck = {
	.name = "ck_ht",
	.one_writer = true,
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
