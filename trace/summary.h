/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The summary, on standard output: its parts as text, and the whole as JSON. */
#ifndef IBVBUF_TRACE_SUMMARY_H
#define IBVBUF_TRACE_SUMMARY_H

#include "analysis.h"

/**
 * struct summary - what is told
 * @input: of which @analysis was made
 * @most: call sites that a list has at most
 * @running: processes that still run
 */
struct summary {
	struct trace_input *input;
	struct analysis *analysis;
	size_t most;
	size_t running;
};

/* Nanoseconds from the start of the first file. */
uint64_t summary_since_start(const struct summary *summary, uint64_t time);

/* Whether the process still runs. */
bool summary_runs(const struct trace_input *input, const struct trace_file *file);

/* What is wrong, and what is worth a look: summary_findings.c */
void summary_print_findings(const struct summary *summary);
/* Tables of calls, call sites and processes: summary_tables.c */
void summary_print_tables(const struct summary *summary);
/* What the files do not tell; summary_limits.c */
void summary_print_limits(const struct summary *summary);
/* Records that were made, and are not in the files. */
uint64_t summary_missing(const struct summary *summary);

/* All of it: summary_json.c */
void summary_write(const struct summary *summary);

#endif
