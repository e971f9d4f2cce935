/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Running test/recorder/program.c, traced and as it is without the shim.
 */
#ifndef RECORDER_RUNS_H
#define RECORDER_RUNS_H

#include <sys/types.h>

#define RUN_ARGUMENTS 6

/**
 * struct run - how a program is run
 * @trace: the pattern of its trace; NULL: without the shim
 * @limit: of the file, or NULL
 * @keep: or NULL
 * @stack: return addresses, or NULL
 * @prepare: what is done in its process before it is started, or NULL
 * @wrapper: a program that runs it, found in PATH, with its arguments, or none
 * @arguments: of the program
 */
struct run {
	const char *trace;
	const char *limit;
	const char *keep;
	const char *stack;
	void (*prepare)(void);
	const char *wrapper[RUN_ARGUMENTS];
	const char *arguments[RUN_ARGUMENTS];
};

/**
 * struct outcome - what came of it
 * @status: as wait() has it
 * @output: what it wrote to standard output
 * @errors: and to standard error
 */
struct outcome {
	int status;
	char output[16 << 10];
	char errors[16 << 10];
};

/* Start it, with this process's standard output and error; wait() is the caller's. */
pid_t run_start(const struct run *run);

void run_program(const struct run *run, struct outcome *outcome);

/* That it ends with status 0, and prints and ends the same traced, as @run says, and without the
 * shim; the traced outcome. */
struct outcome *assert_runs_the_same(const struct run *run);

#endif
