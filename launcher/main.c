// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibvbuf-run: start a program with the buffer calls of rdma-core 65, or tell what would be in the
 * way.
 *
 * The program takes this process's place: nothing of the launcher stays, and whatever the program
 * starts in its turn is started with the same environment. But with --summary, the launcher waits.
 */
#define _GNU_SOURCE
#include "doctor.h"
#include "environment.h"
#include "json.h"
#include "message.h"
#include "options.h"
#include "program.h"
#include "summary.h"
#include "trace_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void set_variable(const char *name, const char *value)
{
	if (value ? setenv(name, value, 1) : unsetenv(name))
		fail("%s cannot be set: %s", name, strerror(errno));
}

static void run(const char *name, const struct options *options,
		const struct environment *environment)
{
	const char *traced = settings_value(&options->settings, "trace");
	size_t i;
	int error;

	if (options->summary)
		traced = summary_fork(traced && *traced ? trace_files_pattern(traced) : NULL);
	set_variable("LD_LIBRARY_PATH", environment->library_path);
	set_variable("LD_PRELOAD", environment->preload);
	for (i = 0; i < options->settings.count; i++)
		set_variable(options->settings.items[i].variable, options->settings.items[i].value);
	if (options->summary)
		set_variable("IBVBUF_TRACE", traced);

	execvp(name, options->program);
	error = errno;
	complain("'%s': %s", name, strerror(error));
	exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE);
}

/* A line that a shell can take: quotes within are closed, escaped and opened again. */
static void print_export(const char *name, const char *value)
{
	printf("export %s='", name);
	for (; *value; value++) {
		if (*value == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*value);
	}
	puts("'");
}

static void print(const struct options *options, const struct environment *environment)
{
	const struct setting *settings = options->settings.items;
	struct json json;
	size_t i;

	if (!options->json) {
		if (environment->library_path)
			print_export("LD_LIBRARY_PATH", environment->library_path);
		if (environment->preload)
			print_export("LD_PRELOAD", environment->preload);
		for (i = 0; i < options->settings.count; i++)
			print_export(settings[i].variable, settings[i].value);
	} else {
		json_start(&json, stdout);
		json_open(&json, NULL, '{');
		if (environment->library_path)
			json_string(&json, "LD_LIBRARY_PATH", environment->library_path);
		if (environment->preload)
			json_string(&json, "LD_PRELOAD", environment->preload);
		for (i = 0; i < options->settings.count; i++)
			json_string(&json, settings[i].variable, settings[i].value);
		json_close(&json, '}');
	}
}

int main(int argc, char **argv)
{
	struct environment environment;
	struct options options;
	struct program program;
	int status = EXIT_SUCCESS;
	const char *name;
	char *problem;

	options_parse(&options, argc, argv);
	name = options.program[0];
	if (options.action == ACTION_CHECK) {
		status = doctor(&options);
	} else {
		if (!name && options.action == ACTION_RUN)
			fail("no program named; see ibvbuf-run --help");
		program.error = ENOENT;
		if (name)
			program_find(&program, name);
		if (!environment_prepare(&environment, options.way, options.real,
					 program.error ? NULL : &program.elf, &problem))
			fail("%s", problem);
		if (name && options.action == ACTION_RUN)
			run(name, &options, &environment);
		print(&options, &environment);
	}
	if (fflush(stdout) || ferror(stdout))
		fail("standard output cannot be written");
	return status;
}
