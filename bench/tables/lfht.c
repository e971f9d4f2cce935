// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The hash table of userspace-rcu, as its documentation says: the flavour that works best without
 * help from the program (urcu-memb), its read-side inlined, resized by its own thread, nodes from
 * malloc(), freed by call_rcu(). Its hash is ours: it has none.
 */
#define _LGPL_SOURCE
#define RCU_MEMB
#include <urcu.h>
#include <urcu/rculfhash.h>

#include "harness.h"

#include <malloc.h>
#include <stdlib.h>

#define HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

struct node {
	struct cds_lfht_node node;
	uintptr_t key;
	uint64_t record;
	struct rcu_head rcu;
};

static size_t bytes_before;

static inline unsigned long hash_of(uintptr_t key)
{
	unsigned __int128 product = (unsigned __int128)(key ^ 0xa0761d6478bd642full) * HASH_FACTOR;

	return (unsigned long)((uint64_t)product ^ (uint64_t)(product >> 64));
}

static int match(struct cds_lfht_node *node, const void *key)
{
	return caa_container_of(node, struct node, node)->key == *(const uintptr_t *)key;
}

static inline void do_insert(void *table, uintptr_t key, uint64_t record)
{
	struct node *node = malloc(sizeof(*node));

	if (!node)
		bench_fail("out of memory");
	cds_lfht_node_init(&node->node);
	node->key = key;
	node->record = record;
	rcu_read_lock();
	cds_lfht_add(table, hash_of(key), &node->node);
	rcu_read_unlock();
}

static inline bool do_lookup(void *table, uintptr_t key, uint64_t *record)
{
	struct cds_lfht_iter iterator;
	struct cds_lfht_node *found;

	rcu_read_lock();
	cds_lfht_lookup(table, hash_of(key), match, &key, &iterator);
	found = cds_lfht_iter_get_node(&iterator);
	if (found)
		*record = caa_container_of(found, struct node, node)->record;
	rcu_read_unlock();
	return found != NULL;
}

static void free_node(struct rcu_head *head)
{
	free(caa_container_of(head, struct node, rcu));
}

static inline bool do_remove(void *table, uintptr_t key, uint64_t *record)
{
	struct cds_lfht_iter iterator;
	struct cds_lfht_node *found;
	struct node *node = NULL;

	rcu_read_lock();
	cds_lfht_lookup(table, hash_of(key), match, &key, &iterator);
	found = cds_lfht_iter_get_node(&iterator);
	if (found && !cds_lfht_del(table, found)) {
		node = caa_container_of(found, struct node, node);
		*record = node->record;
	}
	rcu_read_unlock();
	if (!node)
		return false;
	call_rcu(&node->rcu, free_node);
	return true;
}

#include "loops.h"

static size_t heap_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static void thread_begin(void)
{
	rcu_register_thread();
}

static void thread_end(void)
{
	rcu_unregister_thread();
}

static void *create(void)
{
	struct cds_lfht *table;

	/* Before any thread is pinned, so that its own threads are not. */
	get_default_call_rcu_data();
	bytes_before = heap_bytes();
	table = cds_lfht_new(1, 1, 0, CDS_LFHT_AUTO_RESIZE | CDS_LFHT_ACCOUNTING, NULL);
	if (!table)
		bench_fail("out of memory");
	return table;
}

static void destroy(void *table)
{
	struct cds_lfht_iter iterator;
	struct node *node;

	thread_begin();
	rcu_read_lock();
	cds_lfht_for_each_entry(table, &iterator, node, node)
	{
		cds_lfht_del(table, &node->node);
		call_rcu(&node->rcu, free_node);
	}
	rcu_read_unlock();
	rcu_barrier();
	if (cds_lfht_destroy(table, NULL))
		bench_fail("cds_lfht_destroy failed");
	thread_end();
	/* What it freed, for the next contender's sake. */
	malloc_trim(0);
}

/* At its best: not in the middle of a growth. */
static void settle(void *table, uint64_t entries)
{
	unsigned long buckets = 1;

	while (buckets < entries)
		buckets *= 2;
	cds_lfht_resize(table, buckets);
	rcu_barrier();
}

static size_t bytes(void *table)
{
	(void)table;
	return heap_bytes() - bytes_before;
}

/*
 * It happens that it resizes itself no more (0.13, on a busy machine, in one of six growths to
 * 300,000 entries), and from then on the chains get longer without end. So, between insertions, it
 * is told now and then how large it is to be by now; that mends it.
 */
static uint64_t stride_end(void *table, uint64_t from, uint64_t to)
{
	uint64_t end = from + from / 2 + 1;

	settle(table, from);
	return end < to ? end : to;
}

static void fill(void *table, enum key_kind kind, uint64_t from, uint64_t to)
{
	uint64_t end;

	thread_begin();
	for (; from < to; from = end) {
		end = stride_end(table, from, to);
		contender_fill(table, kind, from, end);
	}
	thread_end();
}

static void grow(void *table, enum key_kind kind, uint64_t from, uint64_t to, uint32_t *wall,
		 uint32_t *processor)
{
	uint64_t end;

	thread_begin();
	for (; from < to; from = end) {
		end = stride_end(table, from, to);
		contender_grow(table, kind, from, end, wall, processor);
	}
	thread_end();
}

const struct contender contender_lfht = {
	.name = "cds_lfht",
	.create = create,
	.destroy = destroy,
	.settle = settle,
	.bytes = bytes,
	.fill = fill,
	.grow = grow,
	.thread_begin = thread_begin,
	.thread_end = thread_end,
	.run = contender_run,
};
