/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The commands of ibvbuf-trace. */
#ifndef IBVBUF_TRACE_COMMAND_H
#define IBVBUF_TRACE_COMMAND_H

#include "filter.h"
#include "trace_stream.h"

/**
 * struct trace_input - what a command works on
 * @files: @file_count files that could be opened and that the filter takes
 * @file_count: at least 1
 * @start: when the first of them was made, in nanoseconds since 1970
 * @stream: their records
 * @sites: where calls were made
 * @filter: which records are wanted
 */
struct trace_input {
	struct trace_file **files;
	size_t file_count;
	uint64_t start;
	struct trace_stream *stream;
	struct call_sites *sites;
	struct filter *filter;
};

/*
 * The next record that is wanted; none if standard output cannot be written any more. A command
 * that has to see all records uses trace_stream_next().
 */
bool trace_input_next(struct trace_input *input, struct trace_event *event);

/**
 * struct trace_command - a command
 * @name: its name
 * @purpose: a line of --help
 * @help: the lines of its own --help for its options; NULL if it has none
 * @options: its options, their values below FILTER_OPTION, ended by zeros; NULL if it has none
 * @take_option: takes one of them; false if its value makes no sense
 * @follows: whether it goes on with trace_stream_resume(); NULL if it never does
 * @run: does it, on standard output. Output that cannot be written is seen by the caller.
 */
struct trace_command {
	const char *name;
	const char *purpose;
	const char *help;
	const struct option *options;
	bool (*take_option)(int option, const char *value);
	bool (*follows)(void);
	void (*run)(struct trace_input *input);
};

extern const struct trace_command command_summary;
extern const struct trace_command command_print;
extern const struct trace_command command_jsonl;
extern const struct trace_command command_csv;
extern const struct trace_command command_timeline;
extern const struct trace_command command_plot;
extern const struct trace_command command_info;

#endif
