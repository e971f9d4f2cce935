// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Threads use one handle table together, and every answer that can be known
 * beforehand is checked.
 *
 *	stress [threads [seconds [live [words [churn [forks]]]]]]
 *
 * Each thread has keys of its own, which it alone inserts and removes, and
 * looks up everybody's.  A cycle: grow from nothing to so many live keys;
 * replace every other key, over and over, churn times as many as are live;
 * shrink to nothing.  Cycles go on until the time is over; there is one at
 * least.  With forks, a child goes on with the table now and then while all the other
 * threads are gone for ever, wherever they were.
 *
 * What a thread wrote before it inserted a key is read by those who find it, without
 * any more ado: ThreadSanitizer sees whether the table orders that.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "handle_table.h"

#define MAX_THREADS 64

#define CHECK(condition, key)                                                                      \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "stress: line %d, key %#" PRIxPTR ": not so: %s\n",        \
				__LINE__, (uintptr_t)(key), #condition);                           \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

static struct handle_table table = HANDLE_TABLE_INITIALIZER(1);
static unsigned int threads = 4, words = 1;
static unsigned long live = 20000, each, churns = 4, forks;
static time_t deadline;
static bool over;
static pthread_barrier_t barrier;

static struct worker {
	pthread_t thread;
	unsigned int number;
	unsigned long present; /* keys below are in; moves by release stores */
	unsigned long absent;  /* keys from here on are out; likewise */
	uint64_t random;
	unsigned long operations;
	unsigned char *payload; /* a byte for each key, of the one who inserts it */
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

static void check_payload(uintptr_t key)
{
	unsigned long index = key >> 12 & ((1ul << 28) - 1);

	CHECK(worker[(key >> 40) - 1].payload[index] == (unsigned char)(index + 1), key);
}

static bool is_in(struct worker *w, uintptr_t key)
{
	uint64_t record[HANDLE_TABLE_MAX_WORDS];

	w->operations++;
	if (!handle_table_lookup(&table, key, record))
		return false;
	check_record(key, record);
	check_payload(key);
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

/* Whose insert may be known to us by nothing but the table */
static void look_at_newest(struct worker *w)
{
	struct worker *other = anybody(w);
	unsigned long present = __atomic_load_n(&other->present, __ATOMIC_RELAXED);

	if (present)
		is_in(w, key_of(other->number, present - 1));
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
		w->payload[i] = (unsigned char)(i + 1);
		insert(w, i);
		__atomic_store_n(&w->present, i + 1, __ATOMIC_RELEASE);
		look_at_newest(w);
		if (i % 4 == 0) {
			look_at_present(w);
			look_at_absent(w);
		}
	}
}

/* In a child: the others are gone, in the middle of it all */
static void go_on_alone(struct worker *w)
{
	unsigned long i;

	alarm(60); /* to wait for them would take for ever */
	for (i = 0; i < 1000; i++) {
		uintptr_t key = key_of(anybody(w)->number, next_random(w) % each & ~1ul);

		CHECK(is_in(w, key), key);
	}
	for (i = 0; i < 1000; i++) {
		uint64_t record[HANDLE_TABLE_MAX_WORDS] = {i};
		uintptr_t key = key_of(MAX_THREADS, i);

		CHECK(handle_table_insert(&table, key, record) == 0, key);
	}
	for (i = 0; i < 1000; i++) {
		uint64_t record[HANDLE_TABLE_MAX_WORDS];
		uintptr_t key = key_of(MAX_THREADS, i);

		CHECK(handle_table_remove(&table, key, record) && record[0] == i, key);
	}
	for (i = 0; i < each; i += 2)
		take_out(w, i);
	_exit(0);
}

static void fork_one(struct worker *w)
{
	int status;
	pid_t child = fork();

	if (!child)
		go_on_alone(w);
	CHECK(child > 0, 0);
	CHECK(waitpid(child, &status, 0) == child && status == 0, status);
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
		if (forks && i % (each * churns / forks + 1) == 0)
			fork_one(w);
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
	forks = argument(argc, argv, 6, forks);
	if (!threads || threads > MAX_THREADS || !words || words > HANDLE_TABLE_MAX_WORDS ||
	    live < 2 * threads) {
		fprintf(stderr,
			"usage: stress [threads [seconds [live [words [churn [forks]]]]]]\n");
		return 2;
	}
	each = live / threads;
	table.more_words = words - 1;
	pthread_barrier_init(&barrier, NULL, threads);
	for (i = 0; i < threads; i++) {
		worker[i].number = i;
		worker[i].random = i + 1;
		worker[i].payload = malloc(each);
		if (!worker[i].payload)
			return 2;
	}
	for (i = 0; i < threads; i++) {
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
