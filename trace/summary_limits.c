// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "summary.h"

#include <stdio.h>

#include "process.h"
#include "text.h"

/* Sums over the files. */
struct limits {
	uint64_t overwritten;
	uint64_t no_space;
	uint64_t full;
	uint64_t busy;
	uint64_t absent;
	uint64_t torn;
	uint64_t unlisted;
};

/* What was dropped has a number and is absent; it is counted with its reason alone. */
static struct limits sum_limits(const struct trace_input *input)
{
	struct limits sum = {0};
	uint64_t dropped;
	size_t i;

	for (i = 0; i < input->file_count; i++) {
		const struct trace_file *file = input->files[i];

		sum.overwritten += file->overwritten;
		sum.no_space += file->header.dropped_no_space;
		sum.full += file->header.dropped_full;
		sum.busy += file->header.dropped_busy;
		sum.torn += file->torn;
		sum.unlisted += file->header.unlisted;
		dropped = trace_file_dropped(file);
		sum.absent += file->absent > dropped ? file->absent - dropped : 0;
	}
	return sum;
}

uint64_t summary_missing(const struct summary *summary)
{
	const struct limits limits = sum_limits(summary->input);

	return limits.no_space + limits.full + limits.busy + limits.absent + limits.torn;
}

/* "1 record was ..." or "3 records were ..."; nothing of none. */
static void print_if_any(uint64_t count, const char *one, const char *several, const char *what)
{
	struct text_numbers numbers = {0};

	if (count)
		text_paragraph(2, 4, "%s %s %s", text_count(&numbers, count),
			       count == 1 ? one : several, what);
}

static void print_missing(const struct limits *limits)
{
	static const char was[] = "record was", were[] = "records were";

	print_if_any(limits->overwritten, was, were,
		     "overwritten by newer ones (trace_limit): what was made before is not known, "
		     "and its bytes are in no total.");
	print_if_any(limits->full, was, were,
		     "dropped because the file was full (trace_limit, trace_keep=oldest): what was "
		     "released after that is told as never released.");
	print_if_any(limits->no_space, was, were,
		     "dropped because no space could be had: a full disk, a limit of file sizes "
		     "(ulimit -f), or a file that was moved or deleted, or may not be opened any "
		     "more (the process changed its privileges or its root folder).");
	print_if_any(limits->busy, was, were,
		     "dropped because the slot was still being written by a call that had come a "
		     "whole file earlier: raise trace_limit.");
	print_if_any(limits->torn, was, were,
		     "being written when the file was read, or when its process was killed.");
	print_if_any(limits->absent, "record is", "records are",
		     "not there: of calls that were about to return, or the file was cut short.");
	print_if_any(limits->unlisted, "device or module", "devices or modules",
		     "found no room in the file's tables: some call sites are told by address "
		     "alone.");
}

static void print_unknown(const struct analysis *analysis)
{
	const uint64_t *unknown = analysis->all.unknown;
	struct text_numbers numbers = {0};

	print_if_any(unknown[LIVE_MR], "deregistration is of an MR that was",
		     "deregistrations are of MRs that were",
		     "registered before the first record, or whose record is missing.");
	if (analysis->passed_by)
		text_paragraph(
			2, 4,
			"%s registration%s made by libibverbs in calls that passed "
			"ibvbuf-preload by, since the program opened libibverbs itself (start "
			"it with ibvbuf-run without --plain). As little is seen of the "
			"deregistrations, so %s counted among what lives.",
			text_count(&numbers, analysis->passed_by),
			analysis->passed_by == 1 ? " was" : "s were",
			analysis->passed_by == 1 ? "it is not" : "they are not");
	print_if_any(analysis->unknown_calls, "record is", "records are",
		     "of calls that a later version of ibvbuf-preload knows.");
	if (analysis->calls[IBVBUF_TRACE_ALLOC_MW].count)
		text_paragraph(
			2, 4,
			"Memory windows are seen when they are allocated and deallocated; that "
			"they are bound, to which MR, is a work request, and not seen.");
}

static void print_damage(const struct trace_input *input)
{
	size_t i;

	for (i = 0; i < input->file_count; i++) {
		if (input->files[i]->damage)
			text_paragraph(2, 4, "%s: %s.", input->files[i]->path,
				       input->files[i]->damage);
	}
}

static bool is_damaged(const struct trace_input *input)
{
	size_t i;

	for (i = 0; i < input->file_count && !input->files[i]->damage; i++)
		;
	return i < input->file_count;
}

void summary_print_limits(const struct summary *summary)
{
	const struct limits limits = sum_limits(summary->input);
	const struct analysis *analysis = summary->analysis;

	if (!limits.overwritten && !summary_missing(summary) && !limits.unlisted &&
	    !analysis->all.unknown[LIVE_MR] && !analysis->passed_by && !analysis->unknown_calls &&
	    !analysis->calls[IBVBUF_TRACE_ALLOC_MW].count && !is_damaged(summary->input))
		return;
	puts("\nNot known");
	print_damage(summary->input);
	print_missing(&limits);
	print_unknown(analysis);
}
