// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the preload costs a program that uses no verbs: from the fork to its end, with and without,
 * by turns.
 */
#define _GNU_SOURCE
#include "harness.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum contender { WITH, WITHOUT, CONTENDERS };

static double run(const char *program, char **environment)
{
	char *arguments[] = {(char *)program, NULL};
	uint64_t begin = bench_now();
	int status, error;
	pid_t process;

	error = posix_spawn(&process, program, NULL, NULL, arguments, environment);
	if (error)
		bench_fail("%s: %s", program, strerror(error));
	while (waitpid(process, &status, 0) < 0)
		if (errno != EINTR)
			bench_fail("waitpid: %s", strerror(errno));
	if (status)
		bench_fail("%s ended with %#x", program, (unsigned int)status);
	return (double)(bench_now() - begin) / 1000;
}

int main(int argc, char **argv)
{
	struct bench_case *bench, *added;
	char *preloads[2] = {NULL, NULL};
	char *none[1] = {NULL};
	unsigned int rounds, round, turn;
	char preload[4096];

	if (argc != 5) {
		fprintf(stderr, "usage: %s DIRECTORY PRELOAD PROGRAM ROUNDS\n", argv[0]);
		return 2;
	}
	rounds = (unsigned int)atoi(argv[4]);
	if (!rounds || rounds > BENCH_MAX_ROUNDS)
		bench_fail("that many rounds cannot be measured");
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", argv[2]);
	preloads[0] = preload;

	bench_open(argv[1], "startup");
	/* The program as well: it inherits that. */
	bench_pin(0);
	bench = bench_case_new("start", "us", "%s", argv[3]);
	added = bench_case_new("start-added", "us", "%s", argv[3]);
	for (round = 0; round <= rounds; round++) {
		unsigned int at = round ? round - 1 : 0;

		for (turn = 0; turn < CONTENDERS; turn++) {
			unsigned int i = bench_turn(round, turn, CONTENDERS);

			bench->values[i][at] = run(argv[3], i == WITH ? preloads : none);
		}
		added->values[0][at] = bench->values[WITH][at] - bench->values[WITHOUT][at];
	}
	bench->count = CONTENDERS;
	bench->contenders[WITH] = "with the preload";
	bench->contenders[WITHOUT] = "without";
	bench->rounds = rounds;
	bench_case_report(bench);
	added->count = 1;
	added->contenders[0] = "ours";
	added->rounds = rounds;
	bench_case_report(added);
	bench_close();
	return 0;
}
