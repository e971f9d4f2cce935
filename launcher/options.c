// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "options.h"
#include "message.h"
#include "trace_files.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void help(void)
{
	fputs("usage: ibvbuf-run [options] program [arguments]\n"
	      "       ibvbuf-run --check [--json] [options] [program]\n"
	      "       ibvbuf-run --print [--json] [options] [program]\n"
	      "\n"
	      "Start a program with the libibverbs buffer calls of rdma-core 65, whichever\n"
	      "libibverbs this machine has.\n"
	      "\n"
	      "  --preload         preload the drop-in: for programs with an RPATH of their own\n"
	      "  --plain           preload the calls alone: for programs built for an older\n"
	      "                    libibverbs, or against this project's header\n"
	      "  --real PATH       the libibverbs to stand in front of: a file, or its folder\n"
	      "  --set KEY=VALUE   an option of ibvbuf-preload.conf(5); see below\n"
	      "  --rehearse-cc     make every device look like one in a confidential guest:\n"
	      "                    --set cc_rehearsal=yes\n"
	      "  --trace[=FILE]    record what the program registers, for ibvbuf-trace(1); in "
	      "FILE:\n"
	      "                    --set trace=FILE, else " TRACE_FILE_NAME "\n"
	      "  --summary         tell what was recorded, on standard error, when the program\n"
	      "                    has ended; without --trace, nothing else is kept\n"
	      "  --check           tell what this machine offers and how the program must be\n"
	      "                    started; exit status 0 only if it would run\n"
	      "  --print           print the environment that the program would get\n"
	      "  --json            make --check and --print write JSON\n"
	      "  --help, --version\n"
	      "  --                the end of the options\n"
	      "\n"
	      "Keys for --set:\n",
	      stdout);
	settings_describe(stdout);
}

static void choose_way(struct options *options, enum way way)
{
	if (options->way != WAY_DROP_IN && options->way != way)
		fail("--preload and --plain exclude each other");
	options->way = way;
}

static void choose_action(struct options *options, enum action action)
{
	if (options->action != ACTION_RUN && options->action != action)
		fail("--check and --print exclude each other");
	options->action = action;
}

static void add_trace(struct options *options, const char *file)
{
	if (!*file)
		fail("--trace=: no file is named");
	settings_add(&options->settings, print_string("trace=%s", file));
}

/* Output that did not arrive is no success. */
static void finish(void)
{
	if (fflush(stdout) || ferror(stdout))
		fail("standard output cannot be written");
	exit(EXIT_SUCCESS);
}

void options_parse(struct options *options, int argc, char **argv)
{
	static const struct option names[] = {
		{"preload", no_argument, NULL, 'p'},
		{"plain", no_argument, NULL, 'P'},
		{"real", required_argument, NULL, 'r'},
		{"set", required_argument, NULL, 's'},
		{"trace", optional_argument, NULL, 't'},
		{"summary", no_argument, NULL, 'S'},
		{"check", no_argument, NULL, 'c'},
		{"json", no_argument, NULL, 'j'},
		{"print", no_argument, NULL, 'e'},
		{"rehearse-cc", no_argument, NULL, 'R'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'v'},
		{NULL, 0, NULL, 0},
	};
	const char *word;
	int option;

	memset(options, 0, sizeof(*options));
	options->way = WAY_DROP_IN;
	opterr = 0;
	/* "+": the options end at the program's name */
	for (;;) {
		/* There are only long ones, so each call looks at a new word; and whether optind
		 * is behind it afterwards depends on what is wrong with it. */
		word = argv[optind];
		option = getopt_long(argc, argv, "+:", names, NULL);
		if (option == -1)
			break;
		switch (option) {
		case 'p':
			choose_way(options, WAY_PRELOAD);
			break;
		case 'P':
			choose_way(options, WAY_PLAIN);
			break;
		case 'r':
			options->real = optarg;
			break;
		case 's':
			settings_add(&options->settings, optarg);
			break;
		case 'R':
			settings_add(&options->settings, "cc_rehearsal=yes");
			break;
		case 't':
			add_trace(options, optarg ? optarg : TRACE_FILE_NAME);
			break;
		case 'S':
			options->summary = true;
			break;
		case 'c':
			choose_action(options, ACTION_CHECK);
			break;
		case 'e':
			choose_action(options, ACTION_PRINT);
			break;
		case 'j':
			options->json = true;
			break;
		case 'h':
			help();
			finish();
			break;
		case 'v':
			puts("ibvbuf-run " IBVBUF_VERSION);
			finish();
			break;
		case ':':
			fail("'%s' needs a value; see ibvbuf-run --help", word);
		default:
			fail("no option '%s'; see ibvbuf-run --help", word);
		}
	}
	options->program = argv + optind;
	if (options->json && options->action == ACTION_RUN)
		fail("--json goes with --check or --print");
	if (options->summary && options->action != ACTION_RUN)
		fail("--summary goes with a program that is started");
	if (options->real && options->way == WAY_PLAIN)
		fail("--real has no effect with --plain: there the program loads its libibverbs "
		     "itself; use LD_LIBRARY_PATH");
}
