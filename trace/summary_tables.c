// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../launcher/message.h"
#include "file_words.h"
#include "process.h"
#include "text.h"

static void print_calls(const struct analysis *analysis)
{
	const struct analysis_call *call;
	struct text_numbers numbers;
	unsigned int number;

	puts("\nCalls                         count  failed      bytes      p50      p99      max  "
	     "  total");
	for (number = 0; number < ANALYSIS_CALLS; number++) {
		call = &analysis->calls[number];
		if (!call->count)
			continue;
		memset(&numbers, 0, sizeof(numbers));
		printf("  %-23s %9s %7s %10s %8s %8s %8s %8s\n", trace_call_name((uint16_t)number),
		       text_count(&numbers, call->count),
		       call->failed ? text_count(&numbers, call->failed) : "-",
		       call->bytes ? text_bytes(&numbers, call->bytes) : "-",
		       text_time(&numbers, histogram_permille(&call->time, 500)),
		       text_time(&numbers, histogram_permille(&call->time, 990)),
		       text_time(&numbers, call->time.most), text_time(&numbers, call->time.sum));
	}
}

/* What the application, or UCX and NCCL for it, asked on purpose. */
static void print_probes(const struct analysis *analysis)
{
	struct text_numbers numbers;
	char result[TRACE_WORDS_SIZE];
	size_t i;

	for (i = 0; i < analysis->probe_count; i++) {
		memset(&numbers, 0, sizeof(numbers));
		text_paragraph(2, 4,
			       "%s of ibv_reg_dmabuf_mr, with descriptor -1, asked whether "
			       "DMA-bufs can be registered: %s, so they can%s. No failure.",
			       text_count(&numbers, analysis->probes[i].count),
			       trace_result_words(analysis->probes[i].error, result),
			       failure_probe_supported(analysis->probes[i].error) ? "" : "not");
	}
}

static int more_first(uint64_t one, uint64_t other)
{
	return one > other ? -1 : one < other;
}

static int compare_bytes(const void *one, const void *other)
{
	const struct analysis_site *first = *(struct analysis_site *const *)one;
	const struct analysis_site *second = *(struct analysis_site *const *)other;

	if (first->bytes != second->bytes)
		return more_first(first->bytes, second->bytes);
	return more_first(first->time, second->time);
}

static int compare_times(const void *one, const void *other)
{
	const struct analysis_site *first = *(struct analysis_site *const *)one;
	const struct analysis_site *second = *(struct analysis_site *const *)other;

	if (first->time != second->time)
		return more_first(first->time, second->time);
	return more_first(first->calls, second->calls);
}

static void print_site(const struct summary *summary, const struct analysis_site *site)
{
	struct text_numbers numbers = {0};

	printf("  %10s %10s %11s %9s   ", site->bytes ? text_bytes(&numbers, site->bytes) : "-",
	       site->most_bytes ? text_bytes(&numbers, site->most_bytes) : "-",
	       text_count(&numbers, site->calls), text_time(&numbers, site->time));
	text_last(48, call_site_text(summary->input->sites, site->site));
}

/* Those that registered most; and the slowest, where it is none of these. */
static void print_sites(const struct summary *summary)
{
	struct analysis *analysis = summary->analysis;
	size_t count = analysis->site_count, i, shown, rest;
	struct analysis_site **sites, *slowest;

	if (!count || !summary->most)
		return;
	sites = grow(NULL, count, sizeof(struct analysis_site *));
	memcpy(sites, analysis->sites, count * sizeof(struct analysis_site *));
	qsort(sites, count, sizeof(struct analysis_site *), compare_times);
	slowest = sites[0];
	qsort(sites, count, sizeof(struct analysis_site *), compare_bytes);
	shown = count < summary->most ? count : summary->most;

	puts("\n  Registered    at most       calls      time   by the call site");
	for (i = 0; i < shown; i++) {
		print_site(summary, sites[i]);
		if (sites[i] == slowest)
			slowest = NULL;
	}
	rest = count - shown;
	if (slowest) {
		print_site(summary, slowest);
		rest--;
	}
	if (rest)
		printf("%48sand %zu other%s\n", "", rest, text_plural(rest));
	free(sites);
}

/* The calls that parts of rdma-core made by themselves. */
static void print_libraries(const struct analysis *analysis)
{
	const struct call_site *site;
	struct text_numbers numbers;
	uint64_t calls;
	size_t i, j;

	for (i = 0; i < analysis->site_count; i++) {
		site = analysis->sites[i]->site;
		if (!site->library)
			continue;
		calls = 0;
		for (j = 0; j < analysis->site_count; j++) {
			if (!analysis->sites[j]->site->library ||
			    strcmp(analysis->sites[j]->site->library, site->library) != 0)
				continue;
			if (j < i)
				break;
			calls += analysis->sites[j]->calls;
		}
		if (j < analysis->site_count)
			continue;
		memset(&numbers, 0, sizeof(numbers));
		text_paragraph(2, 4, "%s call%s made by %s itself, not by the application.",
			       text_count(&numbers, calls), calls == 1 ? " was" : "s were",
			       site->library);
	}
}

static int compare_processes(const void *one, const void *other)
{
	const struct ibvbuf_trace_header *first = &(*(struct trace_file *const *)one)->header;
	const struct ibvbuf_trace_header *second = &(*(struct trace_file *const *)other)->header;
	int order = strcmp(first->host, second->host);

	if (first->rank != second->rank)
		return first->rank < second->rank ? -1 : 1;
	if (order)
		return order;
	return first->process < second->process ? -1 : first->process > second->process;
}

static void print_process(const struct analysis_totals *totals, const char *rank,
			  const char *process, const char *host, const char *program)
{
	struct text_numbers numbers = {0};

	printf("  %6s %8s  %-14.14s %9s %7s %10s %10s %7s  ", rank, process, host,
	       text_count(&numbers, totals->calls),
	       totals->failed ? text_count(&numbers, totals->failed) : "-",
	       text_bytes(&numbers, totals->bytes), text_bytes(&numbers, totals->level.most_bytes),
	       totals->live[LIVE_MR] ? text_count(&numbers, totals->live[LIVE_MR]) : "-");
	text_last(84, program);
}

static void print_processes(const struct summary *summary)
{
	const struct trace_input *input = summary->input;
	struct trace_file **files;
	char rank[16], process[16];
	size_t i;

	if (input->file_count < 2)
		return;
	files = grow(NULL, input->file_count, sizeof(struct trace_file *));
	memcpy(files, input->files, input->file_count * sizeof(struct trace_file *));
	qsort(files, input->file_count, sizeof(struct trace_file *), compare_processes);

	puts("\n    Rank  process  host               calls  failed registered    at most MRs left "
	     " program");
	for (i = 0; i < input->file_count; i++) {
		snprintf(rank, sizeof(rank), "%" PRId32, files[i]->header.rank);
		snprintf(process, sizeof(process), "%" PRIu32, files[i]->header.process);
		print_process(&summary->analysis->processes[files[i]->index],
			      files[i]->header.rank < 0 ? "-" : rank, process,
			      printable(files[i]->header.host), process_program(files[i]));
	}
	print_process(&summary->analysis->all, "all", "", "", "");
	free(files);
}

void summary_print_tables(const struct summary *summary)
{
	print_processes(summary);
	if (!summary->analysis->all.calls)
		return;
	print_calls(summary->analysis);
	print_probes(summary->analysis);
	print_libraries(summary->analysis);
	print_sites(summary);
}
