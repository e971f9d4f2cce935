// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "output.h"
#include "../../trace/input.h"

#include <criterion/criterion.h>

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define MOST_ARGUMENTS 16
#define MOST_OUTPUT    (1 << 20)

static void run(const struct trace_command *command, int argc, char **argv)
{
	struct trace_input *input;
	int status;

	optind = 1;
	input = trace_input_open(command, argc, argv, &status);
	cr_assert_not_null(input);
	command->run(input);
	trace_input_close(input);
}

const char *output_of(const struct trace_command *command, ...)
{
	static char text[MOST_OUTPUT];
	char *argv[MOST_ARGUMENTS] = {(char *)command->name};
	const int real = dup(STDOUT_FILENO);
	FILE *file = tmpfile();
	va_list arguments;
	size_t length;
	int argc = 1;

	va_start(arguments, command);
	while ((argv[argc] = va_arg(arguments, char *)) && argc < MOST_ARGUMENTS - 1)
		argc++;
	va_end(arguments);

	cr_assert(real >= 0 && file);
	fflush(stdout);
	dup2(fileno(file), STDOUT_FILENO);
	run(command, argc, argv);
	fflush(stdout);
	dup2(real, STDOUT_FILENO);
	close(real);
	rewind(file);
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = '\0';
	fclose(file);
	return text;
}
