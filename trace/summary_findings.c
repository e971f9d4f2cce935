// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../launcher/message.h"
#include "process.h"
#include "text.h"

/* Where texts of call sites begin in lists. */
#define SITE_COLUMN 31

static const char *site_text(const struct summary *summary, const struct call_site *site)
{
	return call_site_text(summary->input->sites, site);
}

/* What is behind the first lines of a list. */
static void print_rest(size_t lines, const char *of_what)
{
	if (lines)
		printf("%*sand %zu other %s%s\n", SITE_COLUMN, "", lines, of_what,
		       text_plural(lines));
}

/* Pointers that can be sorted without those of the analysis. */
static void *copy_of(void *const *pointers, size_t count)
{
	void *copy = grow(NULL, count ? count : 1, sizeof(*pointers));

	if (count)
		memcpy(copy, pointers, count * sizeof(*pointers));
	return copy;
}

static int more_first(uint64_t one, uint64_t other)
{
	return one > other ? -1 : one < other;
}

/* By the bytes that live, then by their number. */
#define COMPARE_LIVE(name, kind)                                                                   \
	static int name(const void *one, const void *other)                                        \
	{                                                                                          \
		const struct analysis_site *first = *(struct analysis_site *const *)one;           \
		const struct analysis_site *second = *(struct analysis_site *const *)other;        \
                                                                                                   \
		if (first->live_bytes[kind] != second->live_bytes[kind])                           \
			return more_first(first->live_bytes[kind], second->live_bytes[kind]);      \
		return more_first(first->live[kind], second->live[kind]);                          \
	}

COMPARE_LIVE(compare_mrs, LIVE_MR)
COMPARE_LIVE(compare_imported_mrs, LIVE_IMPORTED_MR)
COMPARE_LIVE(compare_buffers, LIVE_BUFFER)
COMPARE_LIVE(compare_domains, LIVE_DOMAIN)
COMPARE_LIVE(compare_windows, LIVE_WINDOW)

static const struct {
	const char *what;
	const char *released;
	int (*compare)(const void *one, const void *other);
} kinds[LIVE_KINDS] = {
	[LIVE_MR] = {"MR", "deregistered", compare_mrs},
	[LIVE_IMPORTED_MR] = {"imported MR", "unimported", compare_imported_mrs},
	[LIVE_BUFFER] = {"buffer", "freed", compare_buffers},
	[LIVE_DOMAIN] = {"protection domain", "deallocated", compare_domains},
	[LIVE_WINDOW] = {"memory window", "deallocated", compare_windows},
};

static void print_unreleased_sites(const struct summary *summary, enum live_kind kind)
{
	struct analysis *analysis = summary->analysis;
	struct analysis_site **sites;
	struct text_numbers numbers;
	char of[2 * UNITS_TEXT_SIZE + 8];
	size_t i;

	sites = copy_of((void *const *)analysis->sites, analysis->site_count);
	qsort(sites, analysis->site_count, sizeof(struct analysis_site *), kinds[kind].compare);
	for (i = 0; i < analysis->site_count && sites[i]->live[kind]; i++) {
		if (i >= summary->most)
			continue;
		memset(&numbers, 0, sizeof(numbers));
		snprintf(of, sizeof(of), "%s of %s", text_count(&numbers, sites[i]->live[kind]),
			 text_count(&numbers, sites[i]->made[kind]));
		printf("    %14s %10s  ", of,
		       sites[i]->live_bytes[kind] ? text_bytes(&numbers, sites[i]->live_bytes[kind])
						  : "");
		text_last(SITE_COLUMN, site_text(summary, sites[i]->site));
	}
	if (i > summary->most)
		print_rest(i - summary->most, "call site");
	free(sites);
}

static void print_unreleased(const struct summary *summary, enum live_kind kind)
{
	const struct analysis_totals *all = &summary->analysis->all;
	uint64_t live = all->live[kind], live_bytes = all->live_bytes[kind];
	struct text_numbers numbers = {0};

	if (!live)
		return;
	printf("  %s of %s %s%s %s %s%s", text_count(&numbers, live),
	       text_count(&numbers, all->made[kind]), kinds[kind].what,
	       text_plural(all->made[kind]), live == 1 ? "was" : "were",
	       summary->running ? "not yet " : "never ", kinds[kind].released);
	if (live_bytes)
		printf(": %s (%s bytes)", text_bytes(&numbers, live_bytes),
		       text_count(&numbers, live_bytes));
	if (summary_missing(summary))
		fputs(", as far as is known", stdout);
	putchar('\n');
	print_unreleased_sites(summary, kind);
}

static bool has_unreleased(const struct analysis *analysis)
{
	int kind;

	for (kind = 0; kind < LIVE_KINDS && !analysis->all.live[kind]; kind++)
		;
	return kind < LIVE_KINDS;
}

/* Failures with one errno and cause stand together. */
static int compare_failures(const void *one, const void *other)
{
	const struct analysis_failure *first = *(struct analysis_failure *const *)one;
	const struct analysis_failure *second = *(struct analysis_failure *const *)other;

	if (first->cause != second->cause)
		return first->cause < second->cause ? -1 : 1;
	if (first->error != second->error)
		return first->error < second->error ? -1 : 1;
	return more_first(first->count, second->count);
}

/* Failures with one errno and cause. */
struct failures {
	struct analysis_failure **failures;
	size_t count;
	uint64_t sum;
};

static int compare_groups(const void *one, const void *other)
{
	return more_first(((const struct failures *)one)->sum,
			  ((const struct failures *)other)->sum);
}

/* The first that came, and what it asked for. */
static void print_example(const struct summary *summary, const struct failures *group)
{
	const struct analysis_failure *failure = group->failures[0];
	uint64_t least_bytes = failure->least_bytes, least_mrs = failure->least_mrs;
	struct text_numbers numbers = {0};
	char access[TRACE_WORDS_SIZE], process[PROCESS_TEXT_SIZE], where[64] = "", asked[512] = "";
	const struct ibvbuf_trace_record *record;
	enum trace_effect effect;
	size_t i;

	for (i = 1; i < group->count; i++) {
		if (group->failures[i]->first_end < failure->first_end)
			failure = group->failures[i];
		if (group->failures[i]->least_bytes < least_bytes) {
			least_bytes = group->failures[i]->least_bytes;
			least_mrs = group->failures[i]->least_mrs;
		}
	}
	record = &failure->first;
	effect = trace_call_effect(record->call);
	if (record->address)
		snprintf(where, sizeof(where), " at 0x%" PRIx64, record->address);
	if (record->fd >= 0)
		snprintf(where + strlen(where), sizeof(where) - strlen(where),
			 " of descriptor %" PRId32, record->fd);
	if (effect == TRACE_EFFECT_REGISTERS)
		snprintf(asked, sizeof(asked), ": %s%s, access %s",
			 text_bytes(&numbers, record->length), where,
			 trace_access_words(record->access, access));
	else if (effect == TRACE_EFFECT_ALLOCATES)
		snprintf(asked, sizeof(asked), ": %s", text_bytes(&numbers, record->length));
	else if (record->object)
		snprintf(asked, sizeof(asked), ", of 0x%" PRIx64, record->object);
	text_paragraph(6, 8, "%s after %s%s%s%s; %s%s %s registered in %s MR%s.",
		       group->sum > 1 ? "The first" : "It came",
		       text_time(&numbers, summary_since_start(summary, failure->first_end)),
		       summary->input->file_count > 1 ? " in " : "",
		       summary->input->file_count > 1 ? process_text(failure->first_file, process)
						      : "",
		       asked, group->sum > 1 ? "at least " : "",
		       least_bytes ? text_bytes(&numbers, least_bytes) : "nothing",
		       least_mrs > 1 && least_bytes ? "were" : "was",
		       text_count(&numbers, least_mrs), text_plural(least_mrs));
}

static const char *call_name(uint16_t call)
{
	const char *name = trace_call_name(call);

	return name ? name : "unknown call";
}

static void print_failure_sites(const struct summary *summary, const struct failures *group)
{
	struct text_numbers numbers;
	size_t i;

	for (i = 0; i < group->count && i < summary->most; i++) {
		memset(&numbers, 0, sizeof(numbers));
		printf("  %8s  %-18s  ", text_count(&numbers, group->failures[i]->count),
		       call_name(group->failures[i]->call));
		text_last(SITE_COLUMN + 1, site_text(summary, group->failures[i]->site));
	}
	print_rest(group->count - i, "call site");
}

static void print_failure(const struct summary *summary, const struct failures *group)
{
	const struct analysis_failure *first = group->failures[0];
	struct text_numbers numbers = {0};
	char result[TRACE_WORDS_SIZE];
	size_t i;

	for (i = 1; i < group->count && group->failures[i]->call == first->call; i++)
		;
	printf("  %s x %s: %s\n", text_count(&numbers, group->sum),
	       i < group->count ? "several calls" : call_name(first->call),
	       trace_result_words(first->error, result));
	text_paragraph(6, 6, "%s", first->cause->why);
	if (first->cause->remedy)
		text_paragraph(6, 8, "> %s", first->cause->remedy);
	print_example(summary, group);
	print_failure_sites(summary, group);
}

static void print_failures(const struct summary *summary)
{
	struct analysis *analysis = summary->analysis;
	struct analysis_failure **failures;
	struct failures *groups;
	size_t i, count = 0;

	failures = copy_of((void *const *)analysis->failures, analysis->failure_count);
	groups = grow(NULL, analysis->failure_count + 1, sizeof(*groups));
	qsort(failures, analysis->failure_count, sizeof(struct analysis_failure *),
	      compare_failures);
	for (i = 0; i < analysis->failure_count; i++) {
		if (!i || failures[i]->cause != failures[i - 1]->cause ||
		    failures[i]->error != failures[i - 1]->error)
			groups[count++] = (struct failures){.failures = failures + i};
		groups[count - 1].count++;
		groups[count - 1].sum += failures[i]->count;
	}
	qsort(groups, count, sizeof(*groups), compare_groups);
	for (i = 0; i < count; i++)
		print_failure(summary, &groups[i]);
	free(groups);
	free(failures);
}

static int compare_pairs(const void *one, const void *other)
{
	const struct analysis_pair *first = *(struct analysis_pair *const *)one;
	const struct analysis_pair *second = *(struct analysis_pair *const *)other;

	if (first->kind != second->kind)
		return first->kind < second->kind ? -1 : 1;
	if (first->time != second->time)
		return more_first(first->time, second->time);
	return more_first(first->count, second->count);
}

/* Of one kind. */
struct pairs {
	struct analysis_pair **pairs;
	size_t count;
	struct analysis_pair sum;
};

/* `sorted`: all kinds, each together. */
static struct pairs pairs_of(struct analysis_pair **sorted, size_t count,
			     enum analysis_pair_kind kind)
{
	struct pairs found = {.pairs = sorted};
	size_t i;

	for (i = 0; i < count; i++) {
		if (sorted[i]->kind < kind)
			found.pairs++;
		if (sorted[i]->kind != kind)
			continue;
		found.count++;
		found.sum.count += sorted[i]->count;
		found.sum.bytes += sorted[i]->bytes;
		found.sum.time += sorted[i]->time;
		found.sum.on_dmabuf += sorted[i]->on_dmabuf;
		found.sum.at_least |= sorted[i]->at_least;
	}
	return found;
}

/* What is said before a number that may be larger. */
static const char *at_least(const struct analysis_pair *pair)
{
	return pair->at_least ? "at least " : "";
}

/* `at` and `other`: what is said before the sites; `other` also stands where both are the same. */
static void print_pair_sites(const struct summary *summary, const struct pairs *pairs,
			     const char *at, const char *other)
{
	struct text_numbers numbers;
	size_t i;

	for (i = 0; i < pairs->count && i < summary->most; i++) {
		const struct analysis_pair *pair = pairs->pairs[i];
		unsigned int width = SITE_COLUMN + (unsigned int)strlen(at);

		memset(&numbers, 0, sizeof(numbers));
		printf("    %14s %10s  %s", text_count(&numbers, pair->count),
		       pair->bytes ? text_bytes(&numbers, pair->bytes) : "", at);
		text_last(width, site_text(summary, pair->site));
		if (pair->other == pair->site)
			continue;
		printf("%*s%s", SITE_COLUMN, "", other);
		text_last(SITE_COLUMN + (unsigned int)strlen(other),
			  site_text(summary, pair->other));
	}
	print_rest(pairs->count - i, "pair");
}

static void print_orphans(const struct summary *summary, const struct pairs *orphans)
{
	struct text_numbers numbers = {0};
	uint64_t count = orphans->sum.count;

	if (!count)
		return;
	text_paragraph(2, 6, "%s%s MR%s (%s) lived when %s memory was freed",
		       at_least(&orphans->sum), text_count(&numbers, count), text_plural(count),
		       text_bytes(&numbers, orphans->sum.bytes), count == 1 ? "its" : "their");
	if (orphans->sum.on_dmabuf < count)
		text_paragraph(
			6, 6,
			"The device still reaches the old pages, while their addresses become "
			"something else's: what it sends or receives there is lost or foreign.");
	if (orphans->sum.on_dmabuf)
		text_paragraph(6, 6, "Memory of a DMA-buf (%s MR%s) stays as long as its MR.",
			       text_count(&numbers, orphans->sum.on_dmabuf),
			       text_plural(orphans->sum.on_dmabuf));
	text_paragraph(6, 8, "> Call ibv_dereg_mr before ibv_free_buf.");
	print_pair_sites(summary, orphans, "freed by ", "registered by ");
}

static void print_repeats(const struct summary *summary, const struct pairs *repeats)
{
	struct text_numbers numbers = {0};
	uint64_t count = repeats->sum.count;

	if (!count)
		return;
	text_paragraph(2, 6,
		       "%s registration%s repeated one that lived, of the same range and domain: "
		       "%s%s twice, %s in the calls. One MR would do, unless the access differs.",
		       text_count(&numbers, count), text_plural(count), at_least(&repeats->sum),
		       text_bytes(&numbers, repeats->sum.bytes),
		       text_time(&numbers, repeats->sum.time));
	print_pair_sites(summary, repeats, "", "what was registered by ");
}

static void print_overlaps(const struct summary *summary, const struct pairs *overlaps)
{
	struct text_numbers numbers = {0};
	uint64_t count = overlaps->sum.count;

	if (!count)
		return;
	text_paragraph(
		2, 6,
		"%s registration%s shared bytes with MRs of the same domain that lived: %s%s "
		"twice.",
		text_count(&numbers, count), text_plural(count), at_least(&overlaps->sum),
		text_bytes(&numbers, overlaps->sum.bytes));
	print_pair_sites(summary, overlaps, "", "with what was registered by ");
}

static void print_again(const struct summary *summary, const struct pairs *again)
{
	struct text_numbers numbers = {0};
	uint64_t count = again->sum.count;

	if (!count)
		return;
	text_paragraph(2, 6,
		       "%s registration%s of a range that had been registered before and "
		       "deregistered: %s in these calls and the deregistrations before them. A "
		       "registration cache would save that.",
		       text_count(&numbers, count), count == 1 ? " was" : "s were",
		       text_time(&numbers, again->sum.time));
	print_pair_sites(summary, again, "", "");
}

void summary_print_findings(const struct summary *summary)
{
	struct analysis *analysis = summary->analysis;
	struct analysis_pair **sorted;
	struct pairs pairs[ANALYSIS_PAIR_KINDS];
	int kind;

	sorted = copy_of((void *const *)analysis->pairs, analysis->pair_count);
	qsort(sorted, analysis->pair_count, sizeof(struct analysis_pair *), compare_pairs);
	for (kind = 0; kind < ANALYSIS_PAIR_KINDS; kind++)
		pairs[kind] = pairs_of(sorted, analysis->pair_count, (enum analysis_pair_kind)kind);

	if (pairs[ANALYSIS_ORPHAN].count || analysis->all.failed || has_unreleased(analysis)) {
		puts(summary->running && !pairs[ANALYSIS_ORPHAN].count && !analysis->all.failed
			     ? "\nLives now"
			     : "\nWrong");
		print_orphans(summary, &pairs[ANALYSIS_ORPHAN]);
		print_failures(summary);
		for (kind = 0; kind < LIVE_KINDS; kind++)
			print_unreleased(summary, (enum live_kind)kind);
	} else if (analysis->all.calls) {
		puts("\nNothing is wrong: no call failed, and what was made was released.");
	}
	if (pairs[ANALYSIS_REPEAT].count || pairs[ANALYSIS_OVERLAP].count ||
	    pairs[ANALYSIS_AGAIN].count) {
		puts("\nWorth a look");
		print_repeats(summary, &pairs[ANALYSIS_REPEAT]);
		print_overlaps(summary, &pairs[ANALYSIS_OVERLAP]);
		print_again(summary, &pairs[ANALYSIS_AGAIN]);
	}
	free(sorted);
}
