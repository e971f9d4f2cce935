/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The measured loops, for the file of a contender, which defines before it includes this:
 *
 *	static inline void do_insert(void *table, uintptr_t key, uint64_t record);
 *	static inline bool do_lookup(void *table, uintptr_t key, uint64_t *record);
 *	static inline bool do_remove(void *table, uintptr_t key, uint64_t *record);
 *
 * Each answer is checked: a table that loses keys is none.
 */
#include "harness.h"
#include "table.h"

/* Operations between two looks at whether to stop, or at the clock */
#define STRIDE	  64
#define MAX_BATCH 1024

/* Addresses come back, serials never do */
#define ADDRESSES_USED 4096

static inline uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 32;
}

static inline bool is_to_stop(const struct worker *worker)
{
	return __atomic_load_n(worker->stop, __ATOMIC_RELAXED);
}

/* A key that is not in the table, and that no other thread makes. */
static inline uintptr_t fresh_key(struct worker *worker)
{
	uint64_t first = UINT64_C(1) << 30;

	if (worker->kind == KEYS_ARE_ADDRESSES)
		return table_key(worker->kind, (first >> 5) + worker->number * ADDRESSES_USED +
						       worker->fresh++ % ADDRESSES_USED);
	return table_key(worker->kind, (first << 6) * (worker->number + 1) + worker->fresh++);
}

static inline uintptr_t random_key(const struct worker *worker, uint64_t *state)
{
	return table_key(worker->kind, next_random(state) * worker->entries >> 32);
}

static inline void check_hit(void *table, uintptr_t key)
{
	uint64_t record = 0;

	if (!do_lookup(table, key, &record) || record != table_record(key))
		bench_fail("a key was not found");
}

static inline void check_removal(void *table, uintptr_t key)
{
	uint64_t record = 0;

	if (!do_remove(table, key, &record) || record != table_record(key))
		bench_fail("a key could not be removed");
}

static void run_lookups(struct worker *worker, bool hit)
{
	uint64_t state = worker->number * UINT64_C(0x9e3779b97f4a7c15) + 1;
	uint64_t begin = bench_now();
	uint64_t record;
	unsigned int i;

	while (!is_to_stop(worker)) {
		for (i = 0; i < STRIDE; i++) {
			uintptr_t key;

			if (hit) {
				check_hit(worker->table, random_key(worker, &state));
				continue;
			}
			key = table_key(worker->kind,
					worker->entries + next_random(&state) % (1 << 24));
			if (do_lookup(worker->table, key, &record))
				bench_fail("a key was found that is not there");
		}
		worker->operations[hit ? LOOKUP_HIT : LOOKUP_MISS] += STRIDE;
	}
	worker->time[hit ? LOOKUP_HIT : LOOKUP_MISS] += bench_now() - begin;
}

static void run_inserts(struct worker *worker)
{
	uint64_t batch = worker->entries / 4;
	uintptr_t keys[MAX_BATCH];
	uint64_t times[3];
	unsigned int i;

	if (batch > MAX_BATCH)
		batch = MAX_BATCH;
	if (batch < 16)
		batch = 16;
	while (!is_to_stop(worker)) {
		for (i = 0; i < batch; i++)
			keys[i] = fresh_key(worker);
		times[0] = bench_now();
		for (i = 0; i < batch; i++)
			do_insert(worker->table, keys[i], table_record(keys[i]));
		times[1] = bench_now();
		for (i = 0; i < batch; i++)
			check_removal(worker->table, keys[i]);
		times[2] = bench_now();
		worker->operations[INSERT] += batch;
		worker->operations[REMOVE] += batch;
		worker->time[INSERT] += times[1] - times[0];
		worker->time[REMOVE] += times[2] - times[1];
	}
}

static void run_pairs(struct worker *worker)
{
	uint64_t begin = bench_now();
	unsigned int i;

	while (!is_to_stop(worker)) {
		for (i = 0; i < STRIDE; i++) {
			uintptr_t key = fresh_key(worker);

			do_insert(worker->table, key, table_record(key));
			check_removal(worker->table, key);
		}
		worker->operations[PAIRS] += STRIDE;
	}
	worker->time[PAIRS] += bench_now() - begin;
}

/* 90 lookups, 5 inserts, 5 removals; the inserted keys live for a while. */
static void run_mixed(struct worker *worker)
{
	uint64_t state = worker->number * UINT64_C(0x9e3779b97f4a7c15) + 1;
	uint64_t begin = bench_now();
	unsigned int i, j;

	while (!is_to_stop(worker)) {
		for (i = 0; i < STRIDE / 20 + 1; i++) {
			uintptr_t key = fresh_key(worker);

			do_insert(worker->table, key, table_record(key));
			for (j = 0; j < 18; j++)
				check_hit(worker->table, random_key(worker, &state));
			check_removal(worker->table, key);
			worker->operations[MIXED] += 20;
		}
	}
	worker->time[MIXED] += bench_now() - begin;
}

static void contender_run(struct worker *worker, enum operation operation)
{
	switch (operation) {
	case LOOKUP_HIT:
	case LOOKUP_MISS:
		run_lookups(worker, operation == LOOKUP_HIT);
		break;
	case INSERT:
		run_inserts(worker);
		break;
	case PAIRS:
		run_pairs(worker);
		break;
	default:
		run_mixed(worker);
		break;
	}
}

static void contender_fill(void *table, enum key_kind kind, uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		do_insert(table, table_key(kind, from), table_record(table_key(kind, from)));
}

static void contender_grow(void *table, enum key_kind kind, uint64_t from, uint64_t to,
			   uint32_t *wall, uint32_t *processor)
{
	uint64_t wall_before = bench_now(), processor_before = bench_thread_time();
	uint64_t i;

	for (i = from; i < to; i++) {
		uintptr_t key = table_key(kind, i);
		uint64_t now, thread_time;

		do_insert(table, key, table_record(key));
		thread_time = bench_thread_time();
		now = bench_now();
		wall[i] = (uint32_t)(now - wall_before);
		processor[i] = (uint32_t)(thread_time - processor_before);
		wall_before = now;
		processor_before = thread_time;
	}
}
