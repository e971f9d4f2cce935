/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The command line of a command, and the files that it names. */
#ifndef IBVBUF_TRACE_INPUT_H
#define IBVBUF_TRACE_INPUT_H

#include "command.h"

#define EXIT_UNREADABLE 1
#define EXIT_USAGE	2

/*
 * Reads the options and opens the files; `argv[0]` is not looked at. What cannot be opened is
 * complained of, and makes *status EXIT_UNREADABLE. NULL if nothing is left to be done: an option
 * made no sense (*status is EXIT_USAGE), --help was printed, or no file is left.
 */
struct trace_input *trace_input_open(const struct trace_command *command, int argc, char **argv,
				     int *status);
void trace_input_close(struct trace_input *input);

#endif
