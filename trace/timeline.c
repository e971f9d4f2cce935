// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Trace-event JSON, as Perfetto and chrome://tracing read it: a line an event. Times are in
 * microseconds from the start of the first file.
 */
#define _GNU_SOURCE
#include "fields.h"
#include "live_objects.h"
#include "process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../launcher/json.h"
#include "../launcher/message.h"

/* More than any process id of Linux. */
#define FIRST_FREE_ID 10000000

/* A process, as the viewer has it. */
struct row {
	uint64_t id;
	uint64_t bytes;
	uint64_t mrs;
};

struct thread {
	struct object_entry entry;
	struct thread *next;
	uint64_t id;
	uint32_t thread;
};

struct timeline {
	struct trace_input *input;
	struct row *rows;
	struct object_map threads;
	struct thread *first_thread;
	bool begun;
};

/* An event of one phase. */
static void open_event(struct timeline *timeline, struct json *json, const char *phase,
		       const char *name, uint64_t id)
{
	if (timeline->begun)
		putchar(',');
	timeline->begun = true;
	json_start_line(json, stdout);
	json_open(json, NULL, '{');
	json_string(json, "ph", phase);
	json_string(json, "name", name);
	json_number(json, "pid", id);
}

static void write_name(struct timeline *timeline, const char *what, uint64_t id,
		       const uint32_t *thread, const char *name)
{
	struct json json;

	open_event(timeline, &json, "M", what, id);
	if (thread)
		json_number(&json, "tid", *thread);
	json_open(&json, "args", '{');
	json_string(&json, "name", name);
	json_close(&json, '}');
	json_close(&json, '}');
}

static int compare_ids(const void *one, const void *other)
{
	const uint64_t first = *(const uint64_t *)one, second = *(const uint64_t *)other;

	return first < second ? -1 : first > second;
}

/* Whether a process of two files, of two hosts perhaps, has the same id. */
static bool ids_repeat(const struct trace_input *input)
{
	uint64_t *ids = grow(NULL, input->file_count, sizeof(*ids));
	bool repeat = false;
	size_t i;

	for (i = 0; i < input->file_count; i++)
		ids[i] = input->files[i]->header.process;
	qsort(ids, input->file_count, sizeof(*ids), compare_ids);
	for (i = 1; i < input->file_count; i++)
		repeat = repeat || ids[i] == ids[i - 1];
	free(ids);
	return repeat;
}

/* Each file is a process of its own; where ids would be taken for one, numbers stand for them. */
static void begin_rows(struct timeline *timeline)
{
	const struct trace_input *input = timeline->input;
	bool repeat = ids_repeat(input);
	char text[PROCESS_TEXT_SIZE];
	struct row *row;
	struct json json;
	size_t i;

	for (i = 0; i < input->file_count; i++) {
		row = &timeline->rows[input->files[i]->index];
		row->id = repeat ? FIRST_FREE_ID + i : input->files[i]->header.process;
		write_name(timeline, "process_name", row->id, NULL,
			   process_text(input->files[i], text));
		open_event(timeline, &json, "M", "process_sort_index", row->id);
		json_open(&json, "args", '{');
		json_integer(&json, "sort_index",
			     input->files[i]->header.rank >= 0 ? input->files[i]->header.rank
							       : (int64_t)i);
		json_close(&json, '}');
		json_close(&json, '}');
	}
}

static void meet_thread(struct timeline *timeline, uint64_t id, uint32_t number)
{
	uint64_t hash = object_hash(id, number, 0);
	struct object_entry *entry = object_map_first(&timeline->threads, hash);
	struct thread *thread;
	char name[32];

	for (; entry; entry = object_map_next(entry)) {
		thread = OBJECT_OF(entry, struct thread, entry);
		if (thread->id == id && thread->thread == number)
			return;
	}
	thread = grow(NULL, 1, sizeof(*thread));
	thread->id = id;
	thread->thread = number;
	thread->next = timeline->first_thread;
	timeline->first_thread = thread;
	object_map_insert(&timeline->threads, &thread->entry, hash);
	snprintf(name, sizeof(name), "thread %" PRIu32, number);
	write_name(timeline, "thread_name", id, &number, name);
}

static void free_threads(struct timeline *timeline)
{
	struct thread *thread;

	while ((thread = timeline->first_thread)) {
		timeline->first_thread = thread->next;
		free(thread);
	}
	object_map_free(&timeline->threads);
}

static uint64_t since_start(const struct timeline *timeline, uint64_t time)
{
	return time > timeline->input->start ? time - timeline->input->start : 0;
}

static void write_address(struct json *json, const char *key, uint64_t address)
{
	char text[24];

	if (!address)
		return;
	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	json_string(json, key, text);
}

static void write_arguments(struct timeline *timeline, struct json *json,
			    const struct trace_event *event)
{
	const struct ibvbuf_trace_record *record = event->record;
	char words[TRACE_WORDS_SIZE];
	unsigned int i;

	json_open(json, "args", '{');
	json_string(json, "result", trace_result_words(record->error, words));
	json_string(json, "caller",
		    call_site_text(timeline->input->sites,
				   call_site_of(timeline->input->sites, event)));
	write_address(json, "address", record->address);
	if (record->length)
		json_number(json, "length", record->length);
	if (trace_call_effect(record->call) == TRACE_EFFECT_REGISTERS)
		json_string(json, "access", trace_access_words(record->access, words));
	if (record->fd >= 0)
		json_integer(json, "fd", record->fd);
	if (record->iova != record->address)
		write_address(json, "iova", record->iova);
	write_address(json, "lkey", record->lkey);
	write_address(json, "pd", record->pd);
	write_address(json, "object", record->object);
	write_address(json, "buffer", record->buffer);
	if (trace_file_device(event->file, record->device))
		json_string(json, "device", trace_file_device(event->file, record->device));
	if (event->stack_used > 1) {
		json_open(json, "stack", '[');
		for (i = 0; i < event->stack_used; i++)
			json_string(json, NULL, field_stack(timeline->input, event, i));
		json_close(json, ']');
	}
	json_number(json, "record", event->number);
	json_close(json, '}');
}

/* A call that failed has a name, and so a colour, of its own. */
static const char *slice_name(const struct trace_event *event, char *name, size_t size)
{
	const char *call = trace_call_name(event->record->call);
	char words[TRACE_WORDS_SIZE];

	if (!call)
		snprintf(name, size, "call %u", event->record->call);
	else if (event_probes(event))
		snprintf(name, size, "%s (probe)", call);
	else if (event_failed(event))
		snprintf(name, size, "%s: %s", call,
			 trace_result_words(event->record->error, words));
	else
		return call;
	return name;
}

static void write_slice(struct timeline *timeline, const struct trace_event *event)
{
	uint64_t id = timeline->rows[event->file->index].id;
	/* The first call of all may have begun before there was a file. */
	uint64_t begin = since_start(timeline, event->begin);
	char name[TRACE_WORDS_SIZE + 64];
	struct json json;

	meet_thread(timeline, id, event->record->thread);
	open_event(timeline, &json, "X", slice_name(event, name, sizeof(name)), id);
	json_number(&json, "tid", event->record->thread);
	json_thousandths(&json, "ts", begin);
	json_thousandths(&json, "dur", since_start(timeline, event->end) - begin);
	write_arguments(timeline, &json, event);
	json_close(&json, '}');
}

static void write_counter(struct timeline *timeline, const char *name, const char *unit,
			  const struct row *row, uint64_t time, uint64_t value)
{
	struct json json;

	open_event(timeline, &json, "C", name, row->id);
	json_thousandths(&json, "ts", since_start(timeline, time));
	json_open(&json, "args", '{');
	json_number(&json, unit, value);
	json_close(&json, '}');
	json_close(&json, '}');
}

static void run(struct trace_input *input)
{
	struct timeline timeline = {.input = input};
	struct live *live = live_new(false);
	struct live_change change;
	struct trace_event event;
	struct row *row;

	timeline.rows = grow(NULL, input->file_count, sizeof(*timeline.rows));
	memset(timeline.rows, 0, input->file_count * sizeof(*timeline.rows));
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", stdout);
	begin_rows(&timeline);
	while (!ferror_unlocked(stdout) && trace_stream_next(input->stream, &event)) {
		change.kind = LIVE_NOTHING;
		if (live_can_follow(input->sites, &event))
			live_take(live, &event, NULL, &change);
		row = &timeline.rows[event.file->index];
		if (change.kind == LIVE_MR && !change.unknown) {
			row->bytes += (uint64_t)change.bytes;
			row->mrs += (uint64_t)(int64_t)change.count;
		}
		if (!filter_takes(input->filter, input->sites, &event))
			continue;
		write_slice(&timeline, &event);
		if (change.kind != LIVE_MR)
			continue;
		write_counter(&timeline, "registered bytes", "bytes", row, event.end, row->bytes);
		write_counter(&timeline, "live MRs", "MRs", row, event.end, row->mrs);
	}
	fputs("]}\n", stdout);
	free_threads(&timeline);
	free(timeline.rows);
	live_free(live);
}

const struct trace_command command_timeline = {
	.name = "timeline",
	.purpose = "trace-event JSON for Perfetto and Chrome",
	.run = run,
};
