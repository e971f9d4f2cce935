/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the benchmarks have in common: clocks, pinned threads, and results.
 *
 * A case is measured in rounds. In each round every contender has its turn, in another order than
 * in the round before, so that what disturbs the machine disturbs them alike; and a ratio is taken
 * within a round. Of the rounds, the median and the quartiles are reported.
 */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <stdbool.h>
#include <stdint.h>

#define BENCH_MAX_CONTENDERS 8
#define BENCH_MAX_ROUNDS     4096

/**
 * struct bench_case - one case of a subject, and what was measured
 * @subject: a word of the goals table
 * @name: of the case: what was varied
 * @unit: of the values, of which less is better
 * @contenders: names; the first one is ours, unless it stands alone
 * @count: of contenders
 * @rounds: so far
 * @values: NAN where a contender had no turn
 */
struct bench_case {
	char subject[64];
	char name[96];
	char unit[24];
	const char *contenders[BENCH_MAX_CONTENDERS];
	unsigned int count;
	unsigned int rounds;
	double values[BENCH_MAX_CONTENDERS][BENCH_MAX_ROUNDS];
};

/**
 * bench_open - begin the results of a program
 * @program: its name: they go to @directory/@program.json, and as text to standard output
 */
void bench_open(const char *directory, const char *program);
void bench_close(void);

/* Ends the program: a benchmark that is not what it should be measures nothing. */
void bench_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

struct bench_case *bench_case_new(const char *subject, const char *unit, const char *name, ...)
	__attribute__((format(printf, 3, 4)));
void bench_case_report(struct bench_case *bench);

/* Nanoseconds; of the wall clock, and of the processor in this thread. */
uint64_t bench_now(void);
uint64_t bench_thread_time(void);

/* Which contender has its turn: in each round the order begins with another one. */
static inline unsigned int bench_turn(unsigned int round, unsigned int turn, unsigned int count)
{
	return round % 2 ? (round + count - turn) % count : (round + turn) % count;
}

/* Pin this thread to one of the processors that the program may use. */
void bench_pin(unsigned int number);

#endif
