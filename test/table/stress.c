// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Threads use one handle table together, and every answer that can be known
 * beforehand is checked.
 *
 *	stress [threads [seconds [live [words [churn]]]]]
 *
 * Each thread has keys of its own, which it alone inserts and removes, and
 * looks up everybody's.  A cycle: grow from nothing to so many live keys;
 * replace every other key, over and over, churn times as many as are live;
 * shrink to nothing.  Cycles go on until the time is over; there is one at
 * least.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "handle_table.h"

#define MAX_THREADS	64

#define CHECK(condition, key)						\
	do {								\
		if (!(condition)) {					\
			fprintf(stderr, "stress: line %d, key %#" PRIxPTR \
				": not so: %s\n", __LINE__,		\
				(uintptr_t)(key), #condition);		\
			abort();					\
		}							\
	} while (0)

static struct handle_table table = HANDLE_TABLE_INITIALIZER(1);
static unsigned int threads = 4, words = 1;
static unsigned long live = 20000, each, churns = 4;
static time_t deadline;
static bool over;
static pthread_barrier_t barrier;

static struct worker {
	pthread_t thread;
	unsigned int number;
	unsigned long present;	/* keys below are in; moves by release stores */
	unsigned long absent;	/* keys from here on are out; likewise */
	uint64_t random;
	unsigned long operations;
} __attribute__((aligned(64))) worker[MAX_THREADS];

/* Page-aligned, as the addresses of buffers are */
static uintptr_t key_of(unsigned int number, unsigned long index)
{
	return ((uintptr_t)(number + 1) << 40) + (index << 12);
}

static uint64_t word_of(uintptr_t key, unsigned int word)
{
	return (key + word) * 0x9e3779b97f4a7c15ull;
}

static uint64_t next_random(struct worker *w)
{
	w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
	return w->random >> 33;
}

static void check_record(uintptr_t key, const uint64_t *record)
{
	unsigned int i;

	for (i = 0; i < words; i++)
		CHECK(record[i] == word_of(key, i), key);
}

static void insert(struct worker *w, unsigned long index)
{
	uintptr_t key = key_of(w->number, index);
	uint64_t record[HANDLE_TABLE_MAX_WORDS];
	unsigned int i;

	for (i = 0; i < words; i++)
		record[i] = word_of(key, i);
	CHECK(handle_table_insert(&table, key, record) == 0, key);
	w->operations++;
}

static void take_out(struct worker *w, unsigned long index)
{
	uintptr_t key = key_of(w->number, index);
	uint64_t record[HANDLE_TABLE_MAX_WORDS];

	CHECK(handle_table_remove(&table, key, record), key);
	check_record(key, record);
	w->operations++;
}

static bool is_in(struct worker *w, uintptr_t key)
{
	uint64_t record[HANDLE_TABLE_MAX_WORDS];

	w->operations++;
	if (!handle_table_lookup(&table, key, record))
		return false;
	check_record(key, record);
	return true;
}

static struct worker *anybody(struct worker *w)
{
	return &worker[next_random(w) % threads];
}

static void look_at_present(struct worker *w)
{
	struct worker *other = anybody(w);
	unsigned long present = __atomic_load_n(&other->present, __ATOMIC_ACQUIRE);
	unsigned long index;

	if (!present)
		return;
	index = next_random(w) % present;
	/* It may be going just now, but then its owner has said so before */
	if (!is_in(w, key_of(other->number, index)))
		CHECK(__atomic_load_n(&other->present, __ATOMIC_ACQUIRE) <= index,
		      key_of(other->number, index));
}

static void look_at_absent(struct worker *w)
{
	struct worker *other = anybody(w);
	unsigned long absent = __atomic_load_n(&other->absent, __ATOMIC_ACQUIRE);
	uintptr_t key = key_of(other->number, absent + next_random(w) % each);

	CHECK(!is_in(w, key), key);
	CHECK(!is_in(w, key + 8), key + 8);
}

static void grow(struct worker *w)
{
	unsigned long i;

	__atomic_store_n(&w->absent, each, __ATOMIC_RELEASE);
	pthread_barrier_wait(&barrier);
	for (i = 0; i < each; i++) {
		insert(w, i);
		__atomic_store_n(&w->present, i + 1, __ATOMIC_RELEASE);
		look_at_present(w);
		if (i % 4 == 0)
			look_at_absent(w);
	}
}

/* Odd keys come and go, even ones stay */
static void churn(struct worker *w)
{
	unsigned long i;

	for (i = 0; i < each * churns; i++) {
		unsigned long index = (next_random(w) % each) | 1;
		struct worker *other = anybody(w);
		uintptr_t key;

		if (index >= each)
			continue;
		take_out(w, index);
		key = key_of(w->number, index);
		CHECK(!is_in(w, key), key);
		key = key_of(other->number, next_random(w) % each & ~1ul);
		CHECK(is_in(w, key), key);
		insert(w, index);
		key = key_of(w->number, index);
		CHECK(is_in(w, key), key);
		is_in(w, key_of(other->number, (next_random(w) % each) | 1));
	}
}

static void shrink(struct worker *w)
{
	unsigned long i;

	for (i = each; i-- > 0;) {
		__atomic_store_n(&w->present, i, __ATOMIC_RELEASE);
		take_out(w, i);
		__atomic_store_n(&w->absent, i, __ATOMIC_RELEASE);
		look_at_present(w);
		if (i % 4 == 0)
			look_at_absent(w);
	}
}

static bool count(uintptr_t key, const uint64_t *record, void *arg)
{
	check_record(key, record);
	++*(unsigned long *)arg;
	return true;
}

static void *work(void *arg)
{
	struct worker *w = arg;

	do {
		unsigned long left = 0;
		size_t large;

		grow(w);
		pthread_barrier_wait(&barrier);
		churn(w);
		large = handle_table_bytes(&table);
		pthread_barrier_wait(&barrier);
		handle_table_for_each(&table, count, &left);
		CHECK(left == each * threads, left);
		pthread_barrier_wait(&barrier);
		shrink(w);
		pthread_barrier_wait(&barrier);
		left = 0;
		handle_table_for_each(&table, count, &left);
		CHECK(left == 0, left);
		/* What is kept for the next leaf, and less than a hundredth */
		CHECK(handle_table_bytes(&table) < (2 << 20) + large / 100,
		      handle_table_bytes(&table));
		if (w->number == 0)
			over = time(NULL) >= deadline;
		pthread_barrier_wait(&barrier);
	} while (!over);
	return NULL;
}

static unsigned long argument(int argc, char **argv, int i, unsigned long otherwise)
{
	return i < argc ? strtoul(argv[i], NULL, 0) : otherwise;
}

int main(int argc, char **argv)
{
	unsigned long operations = 0;
	unsigned int i;

	threads = (unsigned int)argument(argc, argv, 1, threads);
	deadline = time(NULL) + (time_t)argument(argc, argv, 2, 1);
	live = argument(argc, argv, 3, live);
	words = (unsigned int)argument(argc, argv, 4, words);
	churns = argument(argc, argv, 5, churns);
	if (!threads || threads > MAX_THREADS || !words ||
	    words > HANDLE_TABLE_MAX_WORDS || live < 2 * threads) {
		fprintf(stderr, "usage: stress [threads [seconds [live [words [churn]]]]]\n");
		return 2;
	}
	each = live / threads;
	table.words = words;
	pthread_barrier_init(&barrier, NULL, threads);
	for (i = 0; i < threads; i++) {
		worker[i].number = i;
		worker[i].random = i + 1;
		if (pthread_create(&worker[i].thread, NULL, work, &worker[i])) {
			perror("stress: pthread_create");
			return 2;
		}
	}
	for (i = 0; i < threads; i++) {
		pthread_join(worker[i].thread, NULL);
		operations += worker[i].operations;
	}
	printf("stress: %u threads, %lu live, %u words: %lu operations, all as they should be\n",
	       threads, each * threads, words, operations);
	return 0;
}
