// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "summary.h"

#include <stdio.h>

#include "../launcher/json.h"

static const char *const kind_names[LIVE_KINDS] = {
	[LIVE_MR] = "mrs",	   [LIVE_IMPORTED_MR] = "imported_mrs", [LIVE_BUFFER] = "buffers",
	[LIVE_DOMAIN] = "domains", [LIVE_WINDOW] = "windows",
};

static const char *const pair_names[ANALYSIS_PAIR_KINDS] = {
	[ANALYSIS_REPEAT] = "repeated",
	[ANALYSIS_OVERLAP] = "overlapping",
	[ANALYSIS_AGAIN] = "registered_again",
	[ANALYSIS_ORPHAN] = "memory_freed",
};

/* A call site, and what of it is a number. */
static void write_site(struct json *json, const struct summary *summary, const char *key,
		       const struct call_site *site)
{
	json_open(json, key, '{');
	json_string(json, "text", call_site_text(summary->input->sites, site));
	json_string(json, "module", site->module);
	json_number(json, "offset", site->offset);
	json_string(json, "function", call_site_function(summary->input->sites, site));
	json_string(json, "library", site->library);
	json_close(json, '}');
}

static void write_kinds(struct json *json, const char *key, const uint64_t kinds[LIVE_KINDS])
{
	int kind;

	json_open(json, key, '{');
	for (kind = 0; kind < LIVE_KINDS; kind++)
		json_number(json, kind_names[kind], kinds[kind]);
	json_close(json, '}');
}

/* Names its errno, or "failed" where there is none. */
static void write_error(struct json *json, int32_t error)
{
	char result[TRACE_WORDS_SIZE];

	json_string(json, "error", trace_result_words(error, result));
}

static void write_totals(struct json *json, const struct summary *summary,
			 const struct analysis_totals *totals)
{
	const struct analysis_level *level = &totals->level;

	json_number(json, "calls", totals->calls);
	json_number(json, "failed", totals->failed);
	json_number(json, "time_ns", totals->time);
	json_number(json, "registered_bytes", totals->bytes);
	json_number(json, "most_bytes", level->most_bytes);
	json_number(json, "most_bytes_at_ns", summary_since_start(summary, level->most_bytes_at));
	json_number(json, "most_mrs", level->most_mrs);
	json_number(json, "most_mrs_at_ns", summary_since_start(summary, level->most_mrs_at));
	write_kinds(json, "made", totals->made);
	write_kinds(json, "live", totals->live);
	write_kinds(json, "live_bytes", totals->live_bytes);
	write_kinds(json, "unknown", totals->unknown);
}

static void write_process(struct json *json, const struct summary *summary,
			  const struct trace_file *file)
{
	const struct ibvbuf_trace_header *header = &file->header;

	json_open(json, NULL, '{');
	json_string(json, "file", file->path);
	json_string(json, "program", header->program);
	json_string(json, "host", header->host);
	json_number(json, "process", header->process);
	if (header->rank < 0)
		json_null(json, "rank");
	else
		json_number(json, "rank", (uint64_t)header->rank);
	json_number(json, "start_ns", header->start_realtime);
	json_boolean(json, "runs", summary_runs(summary->input, file));
	json_string(json, "damage", file->damage);
	json_number(json, "records", file->records);
	json_number(json, "overwritten", file->overwritten);
	json_number(json, "absent", file->absent);
	json_number(json, "torn", file->torn);
	json_number(json, "dropped_no_space", header->dropped_no_space);
	json_number(json, "dropped_full", header->dropped_full);
	json_number(json, "dropped_busy", header->dropped_busy);
	json_number(json, "unlisted", header->unlisted);
	write_totals(json, summary, &summary->analysis->processes[file->index]);
	json_close(json, '}');
}

static void write_call(struct json *json, unsigned int number, const struct analysis_call *call)
{
	size_t i;

	json_open(json, NULL, '{');
	json_string(json, "call", trace_call_name((uint16_t)number));
	json_number(json, "count", call->count);
	json_number(json, "failed", call->failed);
	json_number(json, "probes", call->probes);
	json_number(json, "bytes", call->bytes);
	json_number(json, "p50_ns", histogram_permille(&call->time, 500));
	json_number(json, "p99_ns", histogram_permille(&call->time, 990));
	json_number(json, "max_ns", call->time.most);
	json_number(json, "time_ns", call->time.sum);
	json_open(json, "errors", '[');
	for (i = 0; i < call->error_count; i++) {
		json_open(json, NULL, '{');
		write_error(json, call->errors[i].error);
		json_number(json, "count", call->errors[i].count);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
}

static void write_call_site(struct json *json, const struct summary *summary,
			    const struct analysis_site *site)
{
	json_open(json, NULL, '{');
	write_site(json, summary, "site", site->site);
	json_number(json, "calls", site->calls);
	json_number(json, "failed", site->failed);
	json_number(json, "registered_bytes", site->bytes);
	json_number(json, "most_bytes", site->most_bytes);
	json_number(json, "time_ns", site->time);
	write_kinds(json, "made", site->made);
	write_kinds(json, "live", site->live);
	write_kinds(json, "live_bytes", site->live_bytes);
	json_close(json, '}');
}

static void write_failure(struct json *json, const struct summary *summary,
			  const struct analysis_failure *failure)
{
	char access[TRACE_WORDS_SIZE];

	json_open(json, NULL, '{');
	json_string(json, "call", trace_call_name(failure->call));
	write_error(json, failure->error);
	json_number(json, "count", failure->count);
	json_string(json, "cause", failure->cause->name);
	json_string(json, "why", failure->cause->why);
	json_string(json, "remedy", failure->cause->remedy);
	json_number(json, "least_bytes_registered", failure->least_bytes);
	json_number(json, "least_mrs_registered", failure->least_mrs);
	json_number(json, "first_at_ns", summary_since_start(summary, failure->first_end));
	json_string(json, "first_file", failure->first_file->path);
	json_number(json, "first_address", failure->first.address);
	json_number(json, "first_length", failure->first.length);
	json_string(json, "first_access", trace_access_words(failure->first.access, access));
	write_site(json, summary, "site", failure->site);
	json_close(json, '}');
}

static void write_pair(struct json *json, const struct summary *summary,
		       const struct analysis_pair *pair)
{
	json_open(json, NULL, '{');
	json_string(json, "kind", pair_names[pair->kind]);
	json_number(json, "count", pair->count);
	json_number(json, "bytes", pair->bytes);
	json_number(json, "time_ns", pair->time);
	json_number(json, "of_dmabuf", pair->on_dmabuf);
	json_boolean(json, "at_least", pair->at_least);
	write_site(json, summary, "site", pair->site);
	write_site(json, summary, "other_site", pair->other);
	json_close(json, '}');
}

static void write_lists(struct json *json, const struct summary *summary)
{
	const struct analysis *analysis = summary->analysis;
	size_t i;

	json_open(json, "failures", '[');
	for (i = 0; i < analysis->failure_count; i++)
		write_failure(json, summary, analysis->failures[i]);
	json_close(json, ']');
	json_open(json, "probes", '[');
	for (i = 0; i < analysis->probe_count; i++) {
		json_open(json, NULL, '{');
		write_error(json, analysis->probes[i].error);
		json_number(json, "count", analysis->probes[i].count);
		json_boolean(json, "supported", failure_probe_supported(analysis->probes[i].error));
		json_close(json, '}');
	}
	json_close(json, ']');
	json_open(json, "pairs", '[');
	for (i = 0; i < analysis->pair_count; i++)
		write_pair(json, summary, analysis->pairs[i]);
	json_close(json, ']');
	json_open(json, "sites", '[');
	for (i = 0; i < analysis->site_count; i++)
		write_call_site(json, summary, analysis->sites[i]);
	json_close(json, ']');
}

void summary_write(const struct summary *summary)
{
	const struct trace_input *input = summary->input;
	const struct analysis *analysis = summary->analysis;
	struct json json;
	unsigned int number;
	size_t i;

	json_start(&json, stdout);
	json_open(&json, NULL, '{');
	json_number(&json, "start_ns", input->start);
	json_open(&json, "all", '{');
	write_totals(&json, summary, &analysis->all);
	json_close(&json, '}');
	json_number(&json, "unknown_calls", analysis->unknown_calls);
	json_number(&json, "passed_by", analysis->passed_by);
	json_open(&json, "devices", '[');
	for (i = 0; i < analysis->device_count; i++)
		json_string(&json, NULL, analysis->devices[i]);
	json_close(&json, ']');
	json_open(&json, "processes", '[');
	for (i = 0; i < input->file_count; i++)
		write_process(&json, summary, input->files[i]);
	json_close(&json, ']');
	json_open(&json, "calls", '[');
	for (number = 0; number < ANALYSIS_CALLS; number++) {
		if (analysis->calls[number].count)
			write_call(&json, number, &analysis->calls[number]);
	}
	json_close(&json, ']');
	write_lists(&json, summary);
	json_close(&json, '}');
}
