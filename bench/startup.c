// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a program that uses no verbs pays, from the fork to its end, by turns with and without: for
 * the preload, and for the folder that ibvbuf-run puts into LD_LIBRARY_PATH.
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

static double run(char *const *arguments, char **environment)
{
	const char *program = arguments[0];
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

/* What one of @processes takes, with @variable and without, and the difference. */
static void measure(const char *subject, const char *name, const char *with, char *const *arguments,
		    unsigned int processes, char *variable, unsigned int rounds)
{
	struct bench_case *bench, *added;
	char *environments[CONTENDERS][2] = {{variable, NULL}, {NULL}};
	char added_subject[32];
	unsigned int round, turn;

	snprintf(added_subject, sizeof(added_subject), "%s-added", subject);
	bench = bench_case_new(subject, "us", "%s", name);
	added = bench_case_new(added_subject, "us", "%s", name);
	for (round = 0; round <= rounds; round++) {
		unsigned int at = round ? round - 1 : 0;

		for (turn = 0; turn < CONTENDERS; turn++) {
			unsigned int i = bench_turn(round, turn, CONTENDERS);

			bench->values[i][at] = run(arguments, environments[i]) / processes;
		}
		added->values[0][at] = bench->values[WITH][at] - bench->values[WITHOUT][at];
	}
	bench->count = CONTENDERS;
	bench->contenders[WITH] = with;
	bench->contenders[WITHOUT] = "without";
	bench->rounds = rounds;
	bench_case_report(bench);
	added->count = 1;
	added->contenders[0] = "ours";
	added->rounds = rounds;
	bench_case_report(added);
}

int main(int argc, char **argv)
{
	char *one[] = {"/bin/true", NULL};
	char *shell[] = {"/bin/sh", "-c", "/bin/true; /bin/true; /bin/true; :", NULL};
	unsigned int rounds;
	char variable[4096];

	if (argc != 5) {
		fprintf(stderr, "usage: %s DIRECTORY PRELOAD LIBRARY-PATH ROUNDS\n", argv[0]);
		return 2;
	}
	rounds = (unsigned int)atoi(argv[4]);
	if (!rounds || rounds > BENCH_MAX_ROUNDS)
		bench_fail("that many rounds cannot be measured");

	bench_open(argv[1], "startup");
	/* The programs as well: they inherit that. */
	bench_pin(0);
	snprintf(variable, sizeof(variable), "LD_PRELOAD=%s", argv[2]);
	measure("start", one[0], "with the preload", one, 1, variable, rounds);
	snprintf(variable, sizeof(variable), "LD_LIBRARY_PATH=%s", argv[3]);
	measure("launched", "ibvbuf-run: a process of sh -c", "started by ibvbuf-run", shell, 4,
		variable, rounds);
	bench_close();
	return 0;
}
