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

static void print_missing(const struct limits *limits)
{
	struct text_numbers numbers = {0};

	if (limits->overwritten)
		text_paragraph(2, 4,
			       "%s record%s overwritten by newer ones (trace_limit): what was made "
			       "before is not known, and its bytes are in no total.",
			       text_count(&numbers, limits->overwritten),
			       limits->overwritten == 1 ? " was" : "s were");
	if (limits->full)
		text_paragraph(2, 4,
			       "%s record%s dropped because the file was full (trace_limit, "
			       "trace_keep=oldest): what was released after that is told as never "
			       "released.",
			       text_count(&numbers, limits->full),
			       limits->full == 1 ? " was" : "s were");
	if (limits->no_space)
		text_paragraph(
			2, 4,
			"%s record%s dropped because no space could be had: a full disk, a limit "
			"of file sizes (ulimit -f), or a file that was moved or deleted, or may "
			"not be "
			"opened any more (the process changed its privileges or its root folder).",
			text_count(&numbers, limits->no_space),
			limits->no_space == 1 ? " was" : "s were");
	if (limits->busy)
		text_paragraph(2, 4,
			       "%s record%s dropped because the slot was still being written by a "
			       "call that had come a whole file earlier: raise trace_limit.",
			       text_count(&numbers, limits->busy),
			       limits->busy == 1 ? " was" : "s were");
	if (limits->torn)
		text_paragraph(2, 4,
			       "%s record%s being written when the file was read, or when its "
			       "process was killed.",
			       text_count(&numbers, limits->torn),
			       limits->torn == 1 ? " was" : "s were");
	if (limits->absent)
		text_paragraph(2, 4,
			       "%s record%s not there: of calls that were about to return, or the "
			       "file was cut short.",
			       text_count(&numbers, limits->absent),
			       limits->absent == 1 ? " is" : "s are");
	if (limits->unlisted)
		text_paragraph(2, 4,
			       "%s device%s or module%s found no room in the file's tables: some "
			       "call sites are told by address alone.",
			       text_count(&numbers, limits->unlisted),
			       text_plural(limits->unlisted), text_plural(limits->unlisted));
}

static void print_unknown(const struct analysis *analysis)
{
	const uint64_t *unknown = analysis->all.unknown;
	struct text_numbers numbers = {0};

	if (unknown[LIVE_MR])
		text_paragraph(2, 4,
			       "%s deregistration%s registered before the first record, or whose "
			       "record is missing.",
			       text_count(&numbers, unknown[LIVE_MR]),
			       unknown[LIVE_MR] == 1 ? " is of an MR that was"
						     : "s are of MRs that were");
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
	if (analysis->unknown_calls)
		text_paragraph(2, 4,
			       "%s record%s of calls that a later version of ibvbuf-preload knows.",
			       text_count(&numbers, analysis->unknown_calls),
			       analysis->unknown_calls == 1 ? " is" : "s are");
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
