// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "file_words.h"
#include "process.h"
#include "text.h"
#include "traced_process.h"

enum { OPTION_JSON = 1, OPTION_TOP };

static const struct option options[] = {
	{"json", no_argument, NULL, OPTION_JSON},
	{"top", required_argument, NULL, OPTION_TOP},
	{NULL, 0, NULL, 0},
};

static bool as_json;
static size_t most = 5;

static bool take_option(int option, const char *value)
{
	unsigned long number;
	char *end;

	if (option == OPTION_JSON) {
		as_json = true;
		return true;
	}
	errno = 0;
	number = strtoul(value, &end, 10);
	if (errno || end == value || *end || *value == '-')
		return false;
	most = number;
	return true;
}

uint64_t summary_since_start(const struct summary *summary, uint64_t time)
{
	return time > summary->input->start ? time - summary->input->start : 0;
}

static size_t count_different(const struct trace_input *input,
			      bool (*same)(const struct trace_file *one,
					   const struct trace_file *other))
{
	size_t i, j, count = 0;

	for (i = 0; i < input->file_count; i++) {
		for (j = 0; j < i && !same(input->files[i], input->files[j]); j++)
			;
		count += j == i;
	}
	return count;
}

static bool same_host(const struct trace_file *one, const struct trace_file *other)
{
	return !strcmp(one->header.host, other->header.host);
}

static void print_subject(const struct summary *summary)
{
	const struct trace_input *input = summary->input;
	const struct trace_file *first = input->files[0];
	const struct analysis *analysis = summary->analysis;
	char text[PROCESS_TEXT_SIZE];
	struct text_numbers numbers = {0};
	size_t hosts, i;

	if (input->file_count == 1) {
		fputs(printable(process_text(first, text)), stdout);
	} else {
		hosts = count_different(input, same_host);
		printf("%s processes on %s host%s", text_count(&numbers, input->file_count),
		       text_count(&numbers, hosts), text_plural(hosts));
	}
	for (i = 0; i < analysis->device_count && i < 8; i++)
		printf("%s%s", i ? ", " : "; ", printable(analysis->devices[i]));
	puts(i < analysis->device_count ? ", ..." : "");
}

static void print_moment(const struct summary *summary)
{
	time_t seconds = (time_t)(summary->input->start / 1000000000);
	struct text_numbers numbers = {0};
	char text[64] = "";
	struct tm broken;

	if (localtime_r(&seconds, &broken))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &broken);
	printf("%s, %s", text,
	       text_time(&numbers, summary_since_start(summary, summary->analysis->all.end)));
	if (summary->running && summary->input->file_count == 1)
		fputs(", and the process still runs", stdout);
	else if (summary->running)
		printf(", and %s of them still run%s", text_count(&numbers, summary->running),
		       summary->running == 1 ? "s" : "");
	if (filter_is_set(summary->input->filter))
		fputs("; only the records that were asked for", stdout);
	putchar('\n');
}

static void print_totals(const struct summary *summary)
{
	const struct analysis_totals *all = &summary->analysis->all;
	const struct analysis_level *level = &all->level;
	struct text_numbers calls = {0}, levels = {0};

	text_paragraph(0, 2, "%s call%s, %s in them; %s failed. %s registered in total.",
		       text_count(&calls, all->calls), text_plural(all->calls),
		       text_time(&calls, all->time),
		       all->failed ? text_count(&calls, all->failed) : "none",
		       text_bytes(&calls, all->bytes));
	if (!level->most_mrs)
		return;
	text_paragraph(
		0, 2,
		"At most %s at once (after %s), and %s MR%s (after %s); at the end %s in %s MR%s.",
		text_bytes(&levels, level->most_bytes),
		text_time(&levels, summary_since_start(summary, level->most_bytes_at)),
		text_count(&levels, level->most_mrs), text_plural(level->most_mrs),
		text_time(&levels, summary_since_start(summary, level->most_mrs_at)),
		text_bytes(&levels, level->bytes), text_count(&levels, level->mrs),
		text_plural(level->mrs));
}

/* Of many, those in containers are not looked for, which would take long. */
bool summary_runs(const struct trace_input *input, const struct trace_file *file)
{
	struct traced_process process;

	if (input->file_count > 1)
		return traced_process_is_here(file);
	traced_process_find(&process, file);
	return process.process != 0;
}

static void run(struct trace_input *input)
{
	struct summary summary = {.input = input, .most = most};
	size_t i;

	summary.analysis = analysis_of(input, true);
	for (i = 0; i < input->file_count; i++)
		summary.running += summary_runs(input, input->files[i]);
	if (as_json) {
		summary_write(&summary);
	} else {
		print_subject(&summary);
		print_moment(&summary);
		print_totals(&summary);
		summary_print_findings(&summary);
		summary_print_tables(&summary);
		summary_print_limits(&summary);
	}
	analysis_free(summary.analysis);
}

const struct trace_command command_summary = {
	.name = "summary",
	.purpose = "what was registered, what failed and why, what was never deregistered",
	.help = "  --json            all of it, for programs\n"
		"  --top=COUNT       call sites in each list (5)\n",
	.options = options,
	.take_option = take_option,
	.run = run,
};
