/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBVBUF_LAUNCHER_OPTIONS_H
#define IBVBUF_LAUNCHER_OPTIONS_H

#include <stdbool.h>

#include "environment.h"
#include "settings.h"

enum action { ACTION_RUN, ACTION_CHECK, ACTION_PRINT };

/**
 * struct options - the command line
 * @action: what to do
 * @way: how the program is started
 * @summary: whether it is told, after the program, what was traced
 * @json: for a script, not for a person
 * @real: the library that was named, or NULL
 * @settings: for the shim
 * @program: its name and arguments, up to a NULL
 */
struct options {
	enum action action;
	enum way way;
	bool summary;
	bool json;
	const char *real;
	struct settings settings;
	char **program;
};

/* Ends the process at --help, --version and at what is wrong. */
void options_parse(struct options *options, int argc, char **argv);

#endif
