// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "input.h"
#include "file_words.h"
#include "../launcher/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Options of every command, past those of the filter. */
#define OPTION_HELP (FILTER_OPTION + 1000)

static void help(const struct trace_command *command)
{
	printf("usage: ibvbuf-trace %s [options] file...\n\n%s\n", command->name, command->purpose);
	if (command->help)
		printf("\n%s", command->help);
	printf("\nOnly these records; of options that are given more than once, each will do:\n%s",
	       filter_help);
}

/* The command's own options, those of the filter, and --help. */
static struct option *all_options(const struct trace_command *command)
{
	static const struct option help_option = {"help", no_argument, NULL, OPTION_HELP};
	struct option *options;
	size_t own = 0;

	while (command->options && command->options[own].name)
		own++;
	options = grow(NULL, own + filter_option_count + 2, sizeof(*options));
	if (own)
		memcpy(options, command->options, own * sizeof(*options));
	memcpy(options + own, filter_options, filter_option_count * sizeof(*options));
	options[own + filter_option_count] = help_option;
	memset(&options[own + filter_option_count + 1], 0, sizeof(*options));
	return options;
}

/* There are no options of one letter; of one that was tried, getopt_long() is still in the word. */
static void complain_of_option(const struct trace_command *command, int option, const char *word)
{
	if (option == ':')
		complain("'%s' needs a value; see ibvbuf-trace %s --help", printable(word),
			 command->name);
	else if (optopt > ' ' && optopt <= '~')
		complain("no option '-%c'; see ibvbuf-trace %s --help", optopt, command->name);
	else
		complain("no option '%s'; see ibvbuf-trace %s --help", printable(word),
			 command->name);
}

static bool take_options(const struct trace_command *command, struct filter *filter, int argc,
			 char **argv, int *status)
{
	struct option *options = all_options(command);
	int option, which;
	bool taken;

	opterr = 0;
	*status = EXIT_USAGE;
	while ((option = getopt_long(argc, argv, ":", options, &which)) != -1) {
		if (option == ':' || option == '?')
			complain_of_option(command, option, argv[optind - 1]);
		if (option == OPTION_HELP) {
			help(command);
			*status = EXIT_SUCCESS;
		}
		if (option == ':' || option == '?' || option == OPTION_HELP)
			break;
		taken = option < FILTER_OPTION ? command->take_option(option, optarg)
					       : filter_add(filter, option, optarg);
		if (!taken) {
			complain("'%s' is no value for --%s; see ibvbuf-trace %s --help",
				 printable(optarg), options[which].name, command->name);
			break;
		}
	}
	free(options);
	if (option == -1)
		*status = EXIT_SUCCESS;
	return option == -1;
}

/* A job has a file for each of its processes. */
static void allow_many_files(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* By whichever name it was opened before. */
static bool is_open(const struct trace_input *input, const struct trace_file *file)
{
	size_t i;

	for (i = 0; i < input->file_count; i++) {
		if (input->files[i]->file_system == file->file_system &&
		    input->files[i]->inode == file->inode)
			return true;
	}
	return false;
}

static void open_files(struct trace_input *input, char **paths, size_t count, int *status)
{
	struct trace_file *file;
	char *problem;
	size_t i;

	input->files = grow(NULL, count, sizeof(struct trace_file *));
	input->start = UINT64_MAX;
	for (i = 0; i < count; i++) {
		file = trace_file_open(paths[i], &problem);
		if (!file) {
			complain("%s: %s", printable(paths[i]), problem);
			free(problem);
			*status = EXIT_UNREADABLE;
			continue;
		}
		if (is_open(input, file) || !filter_takes_file(input->filter, file)) {
			trace_file_close(file);
			continue;
		}
		if (file->damage)
			complain("%s: %s", printable(paths[i]), file->damage);
		file->index = input->file_count;
		input->files[input->file_count++] = file;
		if (file->header.start_realtime < input->start)
			input->start = file->header.start_realtime;
	}
}

struct trace_input *trace_input_open(const struct trace_command *command, int argc, char **argv,
				     int *status)
{
	struct trace_input *input = grow(NULL, 1, sizeof(*input));

	memset(input, 0, sizeof(*input));
	input->filter = filter_new();
	input->sites = call_sites_new();
	if (!take_options(command, input->filter, argc, argv, status))
		goto close;
	if (optind == argc) {
		complain("no file named; see ibvbuf-trace --help");
		*status = EXIT_USAGE;
		goto close;
	}
	allow_many_files();
	open_files(input, argv + optind, (size_t)(argc - optind), status);
	if (!input->file_count) {
		if (*status == EXIT_SUCCESS) {
			complain("no file is of that process and rank");
			*status = EXIT_UNREADABLE;
		}
		goto close;
	}
	filter_start(input->filter, input->start);
	input->stream = trace_stream_open(input->files, input->file_count,
					  command->follows && command->follows());
	return input;

close:
	trace_input_close(input);
	return NULL;
}

void trace_input_close(struct trace_input *input)
{
	size_t i;

	if (input->stream)
		trace_stream_close(input->stream);
	call_sites_free(input->sites);
	filter_free(input->filter);
	for (i = 0; i < input->file_count; i++)
		trace_file_close(input->files[i]);
	free(input->files);
	free(input);
}

bool trace_input_next(struct trace_input *input, struct trace_event *event)
{
	while (!ferror_unlocked(stdout) && trace_stream_next(input->stream, event)) {
		if (filter_takes(input->filter, input->sites, event))
			return true;
	}
	return false;
}
