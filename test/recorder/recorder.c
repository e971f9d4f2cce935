// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "recorder.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char traced_to[PATH_MAX];

const char *trace_this_process(void)
{
	snprintf(traced_to, sizeof(traced_to), "%s", scratch_path("trace"));
	setenv("IBVBUF_TRACE", traced_to, 1);
	return traced_to;
}

struct trace *trace_now(void)
{
	struct trace *trace = trace_read(traced_to);

	cr_assert_not_null(trace, "there is no trace");
	cr_assert_eq(trace->unfinished, 0);
	return trace;
}

struct ibvbuf_trace_record next_record(enum ibvbuf_trace_call call)
{
	static uint64_t seen;
	struct trace *trace = trace_now();
	struct ibvbuf_trace_record record;

	cr_assert_eq(trace->count, seen + 1, "%zu records after %llu", trace->count,
		     (unsigned long long)seen);
	seen = trace->count;
	record = *trace_last(trace);
	cr_assert_eq(record.call, call, "call %u", record.call);
	trace_free(trace);
	return record;
}

const char *files_in(const char *directory)
{
	static char names[64 << 10];
	struct dirent **entries;
	int count = scandir(directory, &entries, NULL, alphasort);
	size_t length = 0;
	int i;

	cr_assert_geq(count, 0);
	names[0] = '\0';
	for (i = 0; i < count; i++) {
		if (entries[i]->d_name[0] != '.')
			length += (size_t)snprintf(names + length, sizeof(names) - length, "%s ",
						   entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return names;
}
