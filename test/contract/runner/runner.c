// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * runner [PATTERN...]
 *
 * Run the tests, as many at a time as there are processors, whose "suite/name" matches a pattern
 * and no pattern after a "!", each in a child that ends as a program does, so that what looks for
 * leaks at the end finds its place. Ends with "N passed, N failed".
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>

#include <fcntl.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define SKIPPED		77
#define DEFAULT_TIMEOUT 120
/* Tests that are about time allow for the tools' being slow. */
#define TIMEOUT_FACTOR 10

static struct runner_test *tests;
static FILE *output;
static unsigned int passed, failed, skipped;
static long running;

void runner_add(struct runner_test *test)
{
	struct runner_test **place = &tests;

	while (*place)
		place = &(*place)->next;
	*place = test;
}

/* A test may have sent standard output and error elsewhere; the parent's copy is its own. */
__attribute__((format(printf, 1, 0))) static void print(const char *format, va_list arguments)
{
	fputs("     ", output);
	vfprintf(output, format, arguments);
	fputc('\n', output);
	fflush(output);
}

void runner_fail(const char *file, int line, const char *condition, const char *format, ...)
{
	va_list arguments;

	fprintf(output, "    %s:%d: %s\n", file, line, condition);
	va_start(arguments, format);
	print(format, arguments);
	va_end(arguments);
	exit(1);
}

void runner_skip(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print(format, arguments);
	va_end(arguments);
	exit(SKIPPED);
}

static bool is_wanted(const struct runner_test *test, char **patterns)
{
	bool wanted = !*patterns || **patterns == '!';
	char name[256];

	snprintf(name, sizeof(name), "%s/%s", test->suite, test->name);
	for (; *patterns; patterns++) {
		if (**patterns == '!' && !fnmatch(*patterns + 1, name, 0))
			return false;
		if (**patterns != '!' && !fnmatch(*patterns, name, 0))
			wanted = true;
	}
	return wanted;
}

static void start(struct runner_test *test)
{
	double timeout = test->options.timeout * TIMEOUT_FACTOR;
	pid_t child;

	fflush(output);
	child = fork();
	if (child < 0) {
		perror("fork");
		exit(2);
	}
	if (!child) {
		alarm(timeout > 0 ? (unsigned int)timeout : DEFAULT_TIMEOUT);
		test->run();
		exit(0);
	}
	test->process = child;
}

/* Wait for one of those that run. */
static void finish(void)
{
	struct runner_test *test = tests;
	int status;
	pid_t child = wait(&status);

	while (test && test->process != child)
		test = test->next;
	if (!test)
		return;
	test->process = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
		skipped++;
	} else if (!status) {
		passed++;
	} else {
		failed++;
		fprintf(output, "  FAILED %s/%s (status %#x)\n", test->suite, test->name,
			(unsigned int)status);
	}
	running--;
}

int main(int argc, char **argv)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct runner_test *test;

	(void)argc;
	output = fdopen(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100), "w");
	if (!output)
		return 2;
	for (test = tests; test; test = test->next) {
		if (!is_wanted(test, argv + 1))
			continue;
		if (running == processors)
			finish();
		start(test);
		running++;
	}
	while (running)
		finish();
	if (skipped)
		fprintf(output, "%u skipped\n", skipped);
	fprintf(output, "%u passed, %u failed\n", passed, failed);
	fclose(output);
	return failed ? 1 : 0;
}
