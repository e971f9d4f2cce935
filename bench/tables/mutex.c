// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What one would write: an open-addressed table with linear probing behind a mutex. It doubles at
 * 70 %, and a removal moves up what lies behind, so that it needs no tombstones.
 */
#include "harness.h"

#include <pthread.h>
#include <stdlib.h>

struct slot {
	uintptr_t key;
	uint64_t record;
};

struct table {
	pthread_mutex_t lock;
	struct slot *slots;
	size_t mask;
	size_t used;
};

static inline size_t home_of(const struct table *table, uintptr_t key)
{
	unsigned __int128 product =
		(unsigned __int128)(key ^ 0xa0761d6478bd642full) * 0x9e3779b97f4a7c15ull;

	return ((size_t)product ^ (size_t)(product >> 64)) & table->mask;
}

/* Where the key is, or would be. */
static inline size_t find(const struct table *table, uintptr_t key)
{
	size_t place = home_of(table, key);

	while (table->slots[place].key && table->slots[place].key != key)
		place = (place + 1) & table->mask;
	return place;
}

static void set_size(struct table *table, size_t slots)
{
	struct slot *old = table->slots;
	size_t old_slots = table->mask + 1;
	size_t i;

	table->slots = calloc(slots, sizeof(*table->slots));
	if (!table->slots)
		bench_fail("out of memory");
	table->mask = slots - 1;
	for (i = 0; old && i < old_slots; i++)
		if (old[i].key)
			table->slots[find(table, old[i].key)] = old[i];
	free(old);
}

static inline void do_insert(void *argument, uintptr_t key, uint64_t record)
{
	struct table *table = argument;

	pthread_mutex_lock(&table->lock);
	if ((table->used + 1) * 10 > (table->mask + 1) * 7)
		set_size(table, (table->mask + 1) * 2);
	table->slots[find(table, key)] = (struct slot){key, record};
	table->used++;
	pthread_mutex_unlock(&table->lock);
}

static inline bool do_lookup(void *argument, uintptr_t key, uint64_t *record)
{
	struct table *table = argument;
	size_t place;
	bool found;

	pthread_mutex_lock(&table->lock);
	place = find(table, key);
	found = table->slots[place].key == key;
	*record = table->slots[place].record;
	pthread_mutex_unlock(&table->lock);
	return found;
}

static void take_out(struct table *table, size_t hole)
{
	size_t place = hole;

	for (;;) {
		place = (place + 1) & table->mask;
		if (!table->slots[place].key)
			break;
		/* One that may not lie before its home stays. */
		if (((place - home_of(table, table->slots[place].key)) & table->mask) <
		    ((place - hole) & table->mask))
			continue;
		table->slots[hole] = table->slots[place];
		hole = place;
	}
	table->slots[hole].key = 0;
	table->used--;
}

static inline bool do_remove(void *argument, uintptr_t key, uint64_t *record)
{
	struct table *table = argument;
	size_t place;
	bool found;

	pthread_mutex_lock(&table->lock);
	place = find(table, key);
	found = table->slots[place].key == key;
	if (found) {
		*record = table->slots[place].record;
		take_out(table, place);
	}
	pthread_mutex_unlock(&table->lock);
	return found;
}

#include "loops.h"

static void *create(void)
{
	struct table *table = calloc(1, sizeof(*table));

	if (!table)
		bench_fail("out of memory");
	pthread_mutex_init(&table->lock, NULL);
	set_size(table, 32);
	return table;
}

static void destroy(void *argument)
{
	struct table *table = argument;

	free(table->slots);
	free(table);
}

static void settle(void *table, uint64_t entries)
{
	(void)table;
	(void)entries;
}

static size_t bytes(void *argument)
{
	struct table *table = argument;

	return sizeof(*table) + (table->mask + 1) * sizeof(*table->slots);
}

static void nothing(void)
{
}

const struct contender contender_mutex = {
	.name = "mutex",
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
