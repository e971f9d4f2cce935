// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "runs.h"
#include "contract.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* A program that hangs does not hang the tests. */
#define SECONDS 60

static void set(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static void execute(const struct run *run)
{
	const char *arguments[2 * RUN_ARGUMENTS + 2];
	char program[PATH_MAX];
	int count = 0, i;

	snprintf(program, sizeof(program), "%s/program", getenv("RECORDER_PROGRAMS"));
	for (i = 0; i < RUN_ARGUMENTS && run->wrapper[i]; i++)
		arguments[count++] = run->wrapper[i];
	arguments[count++] = program;
	for (i = 0; i < RUN_ARGUMENTS && run->arguments[i]; i++)
		arguments[count++] = run->arguments[i];
	arguments[count] = NULL;
	if (run->prepare)
		run->prepare();
	alarm(SECONDS);
	execvp(arguments[0], (char *const *)(uintptr_t)arguments);
	_exit(127);
}

pid_t run_start(const struct run *run)
{
	pid_t child = fork();

	cr_assert_geq(child, 0);
	if (child)
		return child;
	if (!run->trace)
		unsetenv("LD_PRELOAD");
	set("IBVBUF_TRACE", run->trace);
	set("IBVBUF_TRACE_LIMIT", run->limit);
	set("IBVBUF_TRACE_KEEP", run->keep);
	set("IBVBUF_TRACE_STACK", run->stack);
	execute(run);
	return 0;
}

static void read_all(int fd, char *text, size_t capacity)
{
	ssize_t length = pread(fd, text, capacity - 1, 0);

	cr_assert_geq(length, 0);
	text[length] = '\0';
	close(fd);
}

void run_program(const struct run *run, struct outcome *outcome)
{
	int output = memfd_create("standard output", MFD_CLOEXEC);
	int errors = memfd_create("standard error", MFD_CLOEXEC);
	int own_output = dup(STDOUT_FILENO), own_errors = dup(STDERR_FILENO);
	pid_t child;

	fflush(NULL);
	dup2(output, STDOUT_FILENO);
	dup2(errors, STDERR_FILENO);
	child = run_start(run);
	dup2(own_output, STDOUT_FILENO);
	dup2(own_errors, STDERR_FILENO);
	close(own_output);
	close(own_errors);
	cr_assert_eq(waitpid(child, &outcome->status, 0), child);
	read_all(output, outcome->output, sizeof(outcome->output));
	read_all(errors, outcome->errors, sizeof(outcome->errors));
}

struct outcome *assert_runs_the_same(const struct run *run)
{
	static struct outcome traced, plain;
	struct run without = *run;

	without.trace = NULL;
	run_program(&without, &plain);
	run_program(run, &traced);
	cr_assert_str_eq(plain.errors, "", "without the shim it said %s", plain.errors);
	cr_assert_str_eq(traced.output, plain.output, "it printed\n%s instead of\n%s",
			 traced.output, plain.output);
	cr_assert_eq(traced.status, plain.status, "status %#x instead of %#x",
		     (unsigned int)traced.status, (unsigned int)plain.status);
	return &traced;
}
