// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How long a single insertion takes while a table grows from 16 entries, and how much memory an
 * entry costs.
 *
 * Each insertion is timed, by the wall clock, which also runs while others have the processor, and
 * by the processor time of the thread, which also counts interrupts that others caused. Both meet
 * some insertion or other by chance. What an insertion takes by itself it takes each time; so each
 * table grows several times with the same keys, and an insertion counts with the least that it
 * took: "again" in the results. That leaves out pauses which do not come at the same insertion
 * each time, so the quietest growth as a whole is there beside it.
 *
 * And what the machine does by itself is measured in the same run: the longest pause of a thread
 * that only reads the clock, as often, and what it costs to touch a page for the first time.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "tables/table.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CONTENDERS  4
#define FIRST	    16
#define MAX_GROWTHS 16

static const struct contender *const contenders[CONTENDERS] = {&contender_ours, &contender_lfht,
							       &contender_ck, &contender_mutex};

/* What was asked for, and for each insertion the least that it took so far. */
struct growth {
	const struct contender *contender;
	uint64_t entries;
	uint32_t *wall;
	uint32_t *processor;
	uint32_t *least;
	double most_bytes;
};

static void *allocate(uint64_t entries)
{
	void *memory = malloc(entries * sizeof(uint32_t));

	if (!memory)
		bench_fail("out of memory");
	/* Not while the clock runs. */
	memset(memory, 0, entries * sizeof(uint32_t));
	return memory;
}

static void *grow(void *argument)
{
	struct growth *growth = argument;
	const struct contender *contender = growth->contender;
	void *table = contender->create();

	bench_pin(0);
	contender->fill(table, KEYS_ARE_SERIALS, 0, FIRST);
	contender->grow(table, KEYS_ARE_SERIALS, FIRST, growth->entries, growth->wall,
			growth->processor);
	contender->destroy(table);
	return NULL;
}

/* The memory of an entry is looked at in a growth of its own. */
static void *weigh(void *argument)
{
	struct growth *growth = argument;
	const struct contender *contender = growth->contender;
	void *table = contender->create();
	uint64_t entries = FIRST, next;

	contender->fill(table, KEYS_ARE_SERIALS, 0, FIRST);
	while (entries < growth->entries) {
		next = entries + entries / 64 + 1;
		if (next > growth->entries)
			next = growth->entries;
		contender->fill(table, KEYS_ARE_SERIALS, entries, next);
		entries = next;
		if (entries >= 1000 &&
		    (double)contender->bytes(table) / (double)entries > growth->most_bytes)
			growth->most_bytes = (double)contender->bytes(table) / (double)entries;
	}
	contender->destroy(table);
	return NULL;
}

static void in_a_thread(void *(*function)(void *), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, argument))
		bench_fail("cannot make a thread");
	pthread_join(thread, NULL);
}

static double longest(const uint32_t *times, uint64_t from, uint64_t to)
{
	uint32_t most = 0;

	for (; from < to; from++)
		if (times[from] > most)
			most = times[from];
	return most / 1000.0;
}

static void name_contenders(struct bench_case *bench, unsigned int rounds)
{
	unsigned int i;

	bench->count = CONTENDERS;
	bench->rounds = rounds;
	for (i = 0; i < CONTENDERS; i++)
		bench->contenders[i] = contenders[i]->name;
}

/* What is reported of growths up to some number of entries. */
struct report {
	uint64_t entries;
	struct bench_case *wall;
	struct bench_case *processor;
	struct bench_case *quietest;
	struct bench_case *again;
};

static void new_report(struct report *report, uint64_t entries, unsigned int rounds)
{
	double millions = (double)entries / 1e6;

	report->entries = entries;
	report->wall = bench_case_new("growth-wall", "us", "16 to %gM, each growth", millions);
	report->processor =
		bench_case_new("growth-processor", "us", "16 to %gM, each growth", millions);
	report->quietest =
		bench_case_new("growth-quietest", "us", "16 to %gM, quietest growth", millions);
	report->again =
		bench_case_new("growth-again", "us", "16 to %gM, again each growth", millions);
	name_contenders(report->wall, rounds);
	name_contenders(report->processor, rounds);
	name_contenders(report->quietest, 1);
	name_contenders(report->again, 1);
}

static void add_growth(struct report *report, const struct growth *growth, unsigned int contender,
		       unsigned int round)
{
	double most = longest(growth->processor, FIRST, report->entries);

	report->wall->values[contender][round] = longest(growth->wall, FIRST, report->entries);
	report->processor->values[contender][round] = most;
	if (!round || most < report->quietest->values[contender][0])
		report->quietest->values[contender][0] = most;
	report->again->values[contender][0] = longest(growth->least, FIRST, report->entries);
}

/* How often the clocks are read, and the longest time from one reading to the next. */
struct nothing {
	uint64_t readings;
	uint64_t longest;
};

static void *do_nothing(void *argument)
{
	struct nothing *nothing = argument;
	uint64_t before, now, wall, i;

	bench_pin(0);
	before = bench_thread_time();
	for (i = 0; i < nothing->readings; i++) {
		now = bench_thread_time();
		wall = bench_now();
		__asm__ volatile("" : : "r"(wall));
		if (now - before > nothing->longest)
			nothing->longest = now - before;
		before = now;
	}
	return NULL;
}

static void measure_nothing(uint64_t entries, unsigned int rounds)
{
	struct bench_case *bench = bench_case_new("growth-nothing", "us", "clocks read %gM times",
						  (double)entries / 1e6);
	unsigned int round;

	bench->count = 1;
	bench->contenders[0] = "machine";
	bench->rounds = rounds;
	for (round = 0; round < rounds; round++) {
		struct nothing nothing = {entries, 0};

		in_a_thread(do_nothing, &nothing);
		bench->values[0][round] = (double)nothing.longest / 1000;
	}
	bench_case_report(bench);
}

static void measure_first_touch(void)
{
	struct bench_case *bench =
		bench_case_new("growth-page", "us", "a page touched for the first time");
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned int rounds = BENCH_MAX_ROUNDS, round;
	uint64_t begin;
	char *pages;

	pages = mmap(NULL, rounds * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (pages == MAP_FAILED)
		bench_fail("out of memory");
	madvise(pages, rounds * page, MADV_NOHUGEPAGE);
	bench->count = 1;
	bench->contenders[0] = "machine";
	bench->rounds = rounds;
	for (round = 0; round < rounds; round++) {
		begin = bench_now();
		*(volatile char *)(pages + round * page) = 1;
		bench->values[0][round] = (double)(bench_now() - begin) / 1000;
	}
	munmap(pages, rounds * page);
	bench_case_report(bench);
}

int main(int argc, char **argv)
{
	struct growth growth[CONTENDERS] = {{0}};
	struct bench_case *bytes;
	struct report reports[4];
	unsigned int count = 0, rounds, round, turn;
	uint64_t entries, part, i;

	if (argc != 4) {
		fprintf(stderr, "usage: %s DIRECTORY ENTRIES GROWTHS\n", argv[0]);
		return 2;
	}
	entries = strtoull(argv[2], NULL, 0);
	rounds = (unsigned int)atoi(argv[3]);
	if (entries <= FIRST || !rounds || rounds > MAX_GROWTHS)
		bench_fail("that cannot be measured");

	bench_open(argv[1], "growth");
	for (part = 100000; part < entries && count < 3; part *= 10)
		new_report(&reports[count++], part, rounds);
	new_report(&reports[count++], entries, rounds);
	bytes = bench_case_new("bytes", "bytes", "an entry, at most, from 1000 to %gM",
			       (double)entries / 1e6);
	name_contenders(bytes, 1);

	for (turn = 0; turn < CONTENDERS; turn++) {
		growth[turn].contender = contenders[turn];
		growth[turn].entries = entries;
		growth[turn].wall = turn ? growth[0].wall : allocate(entries);
		growth[turn].processor = turn ? growth[0].processor : allocate(entries);
		growth[turn].least = allocate(entries);
		in_a_thread(weigh, &growth[turn]);
		bytes->values[turn][0] = growth[turn].most_bytes;
	}
	for (round = 0; round < rounds; round++) {
		for (turn = 0; turn < CONTENDERS; turn++) {
			struct growth *one = &growth[bench_turn(round, turn, CONTENDERS)];

			in_a_thread(grow, one);
			for (i = FIRST; i < entries; i++)
				if (!round || one->processor[i] < one->least[i])
					one->least[i] = one->processor[i];
			for (i = 0; i < count; i++)
				add_growth(&reports[i], one, (unsigned int)(one - growth), round);
		}
	}
	for (i = 0; i < count; i++)
		bench_case_report(reports[i].wall);
	for (i = 0; i < count; i++)
		bench_case_report(reports[i].processor);
	for (i = 0; i < count; i++)
		bench_case_report(reports[i].quietest);
	for (i = 0; i < count; i++)
		bench_case_report(reports[i].again);
	bench_case_report(bytes);
	measure_nothing(entries, rounds);
	measure_first_touch();
	bench_close();
	return 0;
}
