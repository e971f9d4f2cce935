// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibvbuf-trace: read what ibvbuf-preload recorded of RDMA programs.
 */
#define _GNU_SOURCE
#include "input.h"
#include "../launcher/message.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first one is what is done where only files are named. */
static const struct trace_command *const commands[] = {
	&command_summary,  &command_print, &command_jsonl, &command_csv,
	&command_timeline, &command_plot,  &command_info,
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void help(void)
{
	size_t i;

	fputs("usage: ibvbuf-trace [command] [options] file...\n"
	      "\n"
	      "Read the trace files that ibvbuf-preload writes of RDMA programs: also of those\n"
	      "that are running, or were killed. Several files are merged by the time.\n"
	      "\n",
	      stdout);
	for (i = 0; i < COMMAND_COUNT; i++)
		printf("  %-12s %s\n", commands[i]->name, commands[i]->purpose);
	fputs("\n"
	      "Without a command: summary. 'ibvbuf-trace command --help' tells the options of a\n"
	      "command; --help and --version stand alone.\n",
	      stdout);
}

static const struct trace_command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < COMMAND_COUNT; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}

/* Nobody reads the other end of the pipe any more. */
static bool output_was_left(void)
{
	struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&output, 1, 0) > 0 && output.revents & POLLERR;
}

/* A reader that has seen enough, as head(1) does, is no error. */
static int finish(int status)
{
	if ((!fflush(stdout) && !ferror(stdout)) || output_was_left())
		return status;
	complain("standard output cannot be written");
	return EXIT_UNREADABLE;
}

int main(int argc, char **argv)
{
	const struct trace_command *command = NULL;
	struct trace_input *input;
	int status = EXIT_SUCCESS;

	message_from("ibvbuf-trace", EXIT_UNREADABLE);
	signal(SIGPIPE, SIG_IGN);
	__fsetlocking(stdout, FSETLOCKING_BYCALLER);
	if (argc < 2) {
		complain("no file named; see ibvbuf-trace --help");
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help")) {
		help();
		return finish(EXIT_SUCCESS);
	}
	if (!strcmp(argv[1], "--version")) {
		puts("ibvbuf-trace " IBVBUF_VERSION);
		return finish(EXIT_SUCCESS);
	}
	command = find_command(argv[1]);
	if (command) {
		argc--;
		argv++;
	} else {
		command = commands[0];
	}
	input = trace_input_open(command, argc, argv, &status);
	if (input) {
		command->run(input);
		trace_input_close(input);
	}
	return finish(status);
}
