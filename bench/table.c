// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Operations of the handle table and of tables that could stand in its place, at several sizes and
 * numbers of threads. Values are nanoseconds of the wall clock for an operation of all threads
 * together: half as much with two threads means that two processors do twice as much.
 */
#include "harness.h"
#include "tables/table.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_THREADS 8
#define CONTENDERS  4

static const struct contender *const contenders[CONTENDERS] = {&contender_ours, &contender_lfht,
							       &contender_ck, &contender_mutex};

/* INSERT measures REMOVE as well. */
static const enum operation measured[] = {LOOKUP_HIT, LOOKUP_MISS, INSERT, PAIRS, MIXED};
#define MEASURED (sizeof(measured) / sizeof(*measured))

static const char *const subjects[OPERATIONS] = {
	[LOOKUP_HIT] = "table-lookup-hit",
	[LOOKUP_MISS] = "table-lookup-miss",
	[INSERT] = "table-insert",
	[REMOVE] = "table-remove",
	[PAIRS] = "table-pair",
	[MIXED] = "table-mixed",
};

struct options {
	const char *directory;
	uint64_t max_entries;
	unsigned int max_threads;
	unsigned int rounds;
	unsigned int milliseconds;
};

/* A thread of one run, and what all of them wait for. */
struct thread {
	struct worker worker;
	const struct contender *contender;
	enum operation operation;
	pthread_barrier_t *barrier;
	pthread_t id;
};

static void *run_thread(void *argument)
{
	struct thread *thread = argument;

	bench_pin(thread->worker.number);
	thread->contender->thread_begin();
	pthread_barrier_wait(thread->barrier);
	thread->contender->run(&thread->worker, thread->operation);
	thread->contender->thread_end();
	return NULL;
}

static void sleep_milliseconds(unsigned int milliseconds)
{
	struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};

	while (nanosleep(&time, &time) && errno == EINTR)
		;
}

/* A run of one contender: its threads, for a while. */
static void run(const struct contender *contender, struct thread *threads, unsigned int count,
		unsigned int milliseconds, enum operation operation)
{
	pthread_barrier_t barrier;
	bool stop = false;
	unsigned int i;

	pthread_barrier_init(&barrier, NULL, count + 1);
	for (i = 0; i < count; i++) {
		threads[i].worker.stop = &stop;
		threads[i].contender = contender;
		threads[i].operation = operation;
		threads[i].barrier = &barrier;
		memset(threads[i].worker.operations, 0, sizeof(threads[i].worker.operations));
		memset(threads[i].worker.time, 0, sizeof(threads[i].worker.time));
		if (pthread_create(&threads[i].id, NULL, run_thread, &threads[i]))
			bench_fail("cannot make a thread");
	}
	pthread_barrier_wait(&barrier);
	sleep_milliseconds(milliseconds);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < count; i++)
		pthread_join(threads[i].id, NULL);
	pthread_barrier_destroy(&barrier);
}

/* Nanoseconds for an operation of all threads together. */
static double cost(const struct thread *threads, unsigned int count, enum operation operation)
{
	double per_nanosecond = 0;
	unsigned int i;

	for (i = 0; i < count; i++)
		if (threads[i].worker.time[operation])
			per_nanosecond += (double)threads[i].worker.operations[operation] /
					  (double)threads[i].worker.time[operation];
	return per_nanosecond > 0 ? 1 / per_nanosecond : NAN;
}

static const char *entries_name(uint64_t entries, char *name, size_t size)
{
	if (entries % (1 << 20) == 0)
		snprintf(name, size, "%juM", (uintmax_t)entries >> 20);
	else if (entries % 1024 == 0)
		snprintf(name, size, "%juk", (uintmax_t)entries >> 10);
	else
		snprintf(name, size, "%ju", (uintmax_t)entries);
	return name;
}

static struct bench_case *new_case(enum operation operation, enum key_kind kind, uint64_t entries,
				   unsigned int threads)
{
	struct bench_case *bench;
	char name[32];
	unsigned int i;

	bench = bench_case_new(subjects[operation], "ns", "%s %s, %u thread%s",
			       entries_name(entries, name, sizeof(name)),
			       kind == KEYS_ARE_SERIALS ? "serials" : "addresses", threads,
			       threads == 1 ? "" : "s");
	bench->count = CONTENDERS;
	for (i = 0; i < CONTENDERS; i++)
		bench->contenders[i] = contenders[i]->name;
	return bench;
}

static void measure(const struct options *options, struct thread threads[][MAX_THREADS],
		    unsigned int count, enum operation operation)
{
	const struct worker *first = &threads[0][0].worker;
	bool writes = operation != LOOKUP_HIT && operation != LOOKUP_MISS;
	unsigned int cpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	/* Threads that share a processor need longer to have their fair share of it. */
	unsigned int milliseconds = options->milliseconds * (count > cpus ? count / cpus : 1);
	struct bench_case *bench = new_case(operation, first->kind, first->entries, count);
	struct bench_case *removal = NULL;
	unsigned int round, turn;

	if (operation == INSERT)
		removal = new_case(REMOVE, first->kind, first->entries, count);
	/* The first round warms up. */
	for (round = 0; round <= options->rounds; round++) {
		for (turn = 0; turn < CONTENDERS; turn++) {
			unsigned int i = bench_turn(round, turn, CONTENDERS);
			unsigned int at = round ? round - 1 : 0;

			bench->values[i][at] = NAN;
			if (removal)
				removal->values[i][at] = NAN;
			if (contenders[i]->one_writer && writes && count > 1)
				continue;
			run(contenders[i], threads[i], count,
			    round ? milliseconds : milliseconds / 2 + 1, operation);
			if (writes)
				contenders[i]->settle(threads[i][0].worker.table, first->entries);
			bench->values[i][at] = cost(threads[i], count, operation);
			if (removal)
				removal->values[i][at] = cost(threads[i], count, REMOVE);
		}
	}
	bench->rounds = options->rounds;
	bench_case_report(bench);
	if (removal) {
		removal->rounds = options->rounds;
		bench_case_report(removal);
	}
}

static void measure_size(const struct options *options, enum key_kind kind, uint64_t entries)
{
	static struct thread threads[CONTENDERS][MAX_THREADS];
	unsigned int count, operation, i, j;

	for (i = 0; i < CONTENDERS; i++) {
		void *table = contenders[i]->create();

		contenders[i]->fill(table, kind, 0, entries);
		contenders[i]->settle(table, entries);
		for (j = 0; j < MAX_THREADS; j++)
			threads[i][j].worker = (struct worker){
				.table = table, .kind = kind, .entries = entries, .number = j};
	}
	for (operation = 0; operation < MEASURED; operation++)
		for (count = 1; count <= options->max_threads; count *= 2)
			measure(options, threads, count, measured[operation]);
	for (i = 0; i < CONTENDERS; i++)
		contenders[i]->destroy(threads[i][0].worker.table);
}

int main(int argc, char **argv)
{
	static const uint64_t sizes[] = {16, 1 << 10, 64 << 10, 1 << 20, 10 << 20};
	struct options options;
	unsigned int i;

	if (argc != 6) {
		fprintf(stderr, "usage: %s DIRECTORY MAX-ENTRIES MAX-THREADS ROUNDS MILLISECONDS\n",
			argv[0]);
		return 2;
	}
	options.directory = argv[1];
	options.max_entries = strtoull(argv[2], NULL, 0);
	options.max_threads = (unsigned int)atoi(argv[3]);
	options.rounds = (unsigned int)atoi(argv[4]);
	options.milliseconds = (unsigned int)atoi(argv[5]);
	if (!options.rounds || options.rounds > BENCH_MAX_ROUNDS ||
	    options.max_threads > MAX_THREADS)
		bench_fail("that many rounds, or threads, cannot be measured");

	bench_open(options.directory, "table");
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes) && sizes[i] <= options.max_entries; i++) {
		measure_size(&options, KEYS_ARE_SERIALS, sizes[i]);
		measure_size(&options, KEYS_ARE_ADDRESSES, sizes[i]);
	}
	bench_close();
	return 0;
}
