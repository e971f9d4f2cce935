// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "analysis.h"

#include <stdlib.h>
#include <string.h>

#include "../launcher/message.h"

/* A pass over the events. */
struct pass {
	struct trace_input *input;
	struct analysis *analysis;
	struct live *live;
	struct object_map sites;
	struct object_map failures;
	struct object_map pairs;
	/* The devices of each file that were met: by the file's index, then as it lists them. */
	bool **devices_met;
};

/* Makes room for one more pointer behind `count`. The array doubles when its count is a power of 2.
 */
static void *room_for_one(void *array, size_t count)
{
	if (count & (count - 1))
		return array;
	return grow(array, count ? 2 * count : 1, sizeof(void *));
}

static void *new_zeroed(size_t count, size_t size)
{
	return memset(grow(NULL, count ? count : 1, size), 0, count * size);
}

static struct analysis_site *site_of(struct pass *pass, const struct call_site *where)
{
	uint64_t hash = object_hash((uintptr_t)where, 0, 0);
	struct analysis *analysis = pass->analysis;
	struct object_entry *entry = object_map_first(&pass->sites, hash);
	struct analysis_site *site;

	for (; entry; entry = object_map_next(entry)) {
		site = OBJECT_OF(entry, struct analysis_site, entry);
		if (site->site == where)
			return site;
	}
	site = new_zeroed(1, sizeof(*site));
	site->site = where;
	object_map_insert(&pass->sites, &site->entry, hash);
	analysis->sites = room_for_one(analysis->sites, analysis->site_count);
	analysis->sites[analysis->site_count++] = site;
	return site;
}

static struct analysis_failure *failure_of(struct pass *pass,
					   const struct ibvbuf_trace_record *record,
					   const struct failure_cause *cause,
					   const struct call_site *where)
{
	uint64_t hash = object_hash((uint64_t)record->call << 32 | (uint32_t)record->error,
				    (uintptr_t)cause, (uintptr_t)where);
	struct analysis *analysis = pass->analysis;
	struct object_entry *entry = object_map_first(&pass->failures, hash);
	struct analysis_failure *failure;

	for (; entry; entry = object_map_next(entry)) {
		failure = OBJECT_OF(entry, struct analysis_failure, entry);
		if (failure->call == record->call && failure->error == record->error &&
		    failure->cause == cause && failure->site == where)
			return failure;
	}
	failure = new_zeroed(1, sizeof(*failure));
	failure->call = record->call;
	failure->error = record->error;
	failure->cause = cause;
	failure->site = where;
	object_map_insert(&pass->failures, &failure->entry, hash);
	analysis->failures = room_for_one(analysis->failures, analysis->failure_count);
	analysis->failures[analysis->failure_count++] = failure;
	return failure;
}

static struct analysis_pair *pair_of(struct pass *pass, enum analysis_pair_kind kind,
				     const struct call_site *where, const struct call_site *other)
{
	uint64_t hash = object_hash((uint64_t)kind, (uintptr_t)where, (uintptr_t)other);
	struct analysis *analysis = pass->analysis;
	struct object_entry *entry = object_map_first(&pass->pairs, hash);
	struct analysis_pair *pair;

	for (; entry; entry = object_map_next(entry)) {
		pair = OBJECT_OF(entry, struct analysis_pair, entry);
		if (pair->kind == kind && pair->site == where && pair->other == other)
			return pair;
	}
	pair = new_zeroed(1, sizeof(*pair));
	pair->kind = kind;
	pair->site = where;
	pair->other = other;
	object_map_insert(&pass->pairs, &pair->entry, hash);
	analysis->pairs = room_for_one(analysis->pairs, analysis->pair_count);
	analysis->pairs[analysis->pair_count++] = pair;
	return pair;
}

/* What is beyond is in no list of errors, but in all else: of a file that lies. */
static void count_error(struct analysis_error **errors, size_t *count, int32_t error)
{
	size_t i;

	for (i = 0; i < *count && (*errors)[i].error != error; i++)
		;
	if (i == ANALYSIS_MOST_ERRORS)
		return;
	if (i == *count) {
		*errors = grow(*errors, ++*count, sizeof(**errors));
		(*errors)[i].error = error;
		(*errors)[i].count = 0;
	}
	(*errors)[i].count++;
}

static void count_failure(struct pass *pass, const struct trace_event *event,
			  struct analysis_site *site)
{
	const struct analysis_level *level = &pass->analysis->processes[event->file->index].level;
	const struct failure_facts facts = {
		.domain = live_domain_of(pass->live, event),
		.buffer = live_buffer_of(pass->live, event),
		.mr = live_mr_of(pass->live, event),
		.mrs = level->mrs,
	};
	struct analysis_failure *failure;

	failure = failure_of(pass, event->record, failure_cause_of(event->record, &facts),
			     site->site);
	if (!failure->count) {
		failure->first = *event->record;
		failure->first_end = event->end;
		failure->first_file = event->file;
	}
	if (!failure->count || level->bytes < failure->least_bytes) {
		failure->least_bytes = level->bytes;
		failure->least_mrs = level->mrs;
	}
	failure->count++;
	site->failed++;
}

static void add_call(struct analysis_totals *totals, const struct trace_event *event, bool failed,
		     uint64_t registered)
{
	totals->calls++;
	totals->failed += failed;
	totals->bytes += registered;
	totals->time += event->record->duration;
	if (!totals->begin || event->begin < totals->begin)
		totals->begin = event->begin;
	if (event->end > totals->end)
		totals->end = event->end;
}

static void meet_device(struct pass *pass, const struct trace_event *event)
{
	bool **met = &pass->devices_met[event->file->index];
	struct analysis *analysis = pass->analysis;
	uint16_t device = event->record->device;
	const char *name;
	size_t i;

	if (device >= event->file->device_count)
		return;
	if (!*met)
		*met = new_zeroed(event->file->device_count, sizeof(**met));
	if ((*met)[device])
		return;
	(*met)[device] = true;
	name = trace_file_device(event->file, device);
	for (i = 0; name && i < analysis->device_count; i++) {
		if (!strcmp(analysis->devices[i], name))
			return;
	}
	if (!name)
		return;
	analysis->devices = room_for_one(analysis->devices, analysis->device_count);
	analysis->devices[analysis->device_count++] = name;
}

/* The call itself: how long it took, and what came of it. */
static void count_call(struct pass *pass, const struct trace_event *event,
		       struct analysis_site *site)
{
	const struct ibvbuf_trace_record *record = event->record;
	struct analysis *analysis = pass->analysis;
	enum trace_effect effect = trace_call_effect(record->call);
	bool probes = event_probes(event);
	bool failed = event_failed(event) && !probes;
	struct analysis_call *call;
	uint64_t bytes = 0, registered = 0;

	if (!event_failed(event) &&
	    (effect == TRACE_EFFECT_REGISTERS || effect == TRACE_EFFECT_ALLOCATES) &&
	    record->call != IBVBUF_TRACE_IMPORT_MR)
		bytes = live_bytes_of(record);
	if (effect == TRACE_EFFECT_REGISTERS)
		registered = bytes;
	if (trace_call_name(record->call) && record->call < ANALYSIS_CALLS) {
		call = &analysis->calls[record->call];
		call->count++;
		call->failed += failed;
		call->probes += probes;
		call->bytes += bytes;
		histogram_add(&call->time, record->duration);
		if (failed)
			count_error(&call->errors, &call->error_count, record->error);
		if (probes)
			count_error(&analysis->probes, &analysis->probe_count, record->error);
	} else {
		analysis->unknown_calls++;
	}
	site->calls++;
	site->bytes += registered;
	site->time += record->duration;
	if (failed)
		count_failure(pass, event, site);
	add_call(&analysis->processes[event->file->index], event, failed, registered);
	add_call(&analysis->all, event, failed, registered);
	meet_device(pass, event);
}

static void change_totals(struct analysis_totals *totals, const struct live_change *change,
			  uint64_t time)
{
	struct analysis_level *level = &totals->level;

	totals->made[change->kind] += change->count > 0;
	totals->live[change->kind] += (uint64_t)(int64_t)change->count;
	totals->live_bytes[change->kind] += (uint64_t)change->bytes;
	if (change->kind != LIVE_MR)
		return;
	level->bytes = totals->live_bytes[LIVE_MR];
	level->mrs = totals->live[LIVE_MR];
	if (level->bytes > level->most_bytes) {
		level->most_bytes = level->bytes;
		level->most_bytes_at = time;
	}
	if (level->mrs > level->most_mrs) {
		level->most_mrs = level->mrs;
		level->most_mrs_at = time;
	}
}

static void change_site(struct analysis_site *site, const struct live_change *change)
{
	site->made[change->kind] += change->count > 0;
	site->live[change->kind] += (uint64_t)(int64_t)change->count;
	site->live_bytes[change->kind] += (uint64_t)change->bytes;
	if (site->live_bytes[LIVE_MR] > site->most_bytes)
		site->most_bytes = site->live_bytes[LIVE_MR];
}

static void add_to_pair(struct analysis_pair *pair, uint64_t count, uint64_t bytes, uint64_t time)
{
	pair->count += count;
	pair->bytes += bytes;
	pair->time += time;
}

/* What the call has to do with others: the same range, memory that is gone. */
static void count_pairs(struct pass *pass, const struct trace_event *event,
			const struct call_site *where, const struct live_change *change)
{
	const struct live_object *other = change->same ? change->same : change->overlaps;
	enum analysis_pair_kind kind = change->same ? ANALYSIS_REPEAT : ANALYSIS_OVERLAP;
	uint64_t duration = event->record->duration;
	struct analysis_pair *pair;

	if (other && other->site) {
		pair = pair_of(pass, kind, where, other->site);
		add_to_pair(pair, 1, change->shared, duration);
		pair->at_least |= change->at_least;
	}
	if (change->again)
		add_to_pair(pair_of(pass, ANALYSIS_AGAIN, where, where), 1,
			    live_bytes_of(event->record), duration + change->again_time);
	if (change->orphan && change->orphan->site) {
		pair = pair_of(pass, ANALYSIS_ORPHAN, where, change->orphan->site);
		add_to_pair(pair, change->orphans, change->orphan_bytes, 0);
		pair->at_least |= change->at_least;
		if (change->backing == IBVBUF_TRACE_BACKING_DMA_HEAP ||
		    change->backing == IBVBUF_TRACE_BACKING_UDMABUF)
			pair->on_dmabuf += change->orphans;
	}
}

static void take(struct pass *pass, const struct trace_event *event)
{
	struct trace_input *input = pass->input;
	struct analysis *analysis = pass->analysis;
	const struct call_site *where = NULL;
	struct analysis_site *site = NULL;
	struct live_change change;

	if (!filter_is_set(input->filter) || filter_takes(input->filter, input->sites, event)) {
		where = call_site_of(input->sites, event);
		site = site_of(pass, where);
		count_call(pass, event, site);
	}
	if (!live_can_follow(input->sites, event)) {
		analysis->passed_by += site != NULL;
		return;
	}
	live_take(pass->live, event, where, &change);
	if (change.kind == LIVE_NOTHING)
		return;
	/* What libibverbs ended by itself, it may have registered by itself. */
	if (change.unknown && site && !call_site_is_of_libibverbs(where)) {
		analysis->processes[event->file->index].unknown[change.kind]++;
		analysis->all.unknown[change.kind]++;
	}
	if (change.site) {
		if (!site || change.site != where)
			site = site_of(pass, change.site);
		change_site(site, &change);
		change_totals(&analysis->processes[event->file->index], &change, event->end);
		change_totals(&analysis->all, &change, event->end);
	}
	if (where)
		count_pairs(pass, event, where, &change);
}

struct analysis *analysis_of(struct trace_input *input, bool with_pairs)
{
	struct analysis *analysis = new_zeroed(1, sizeof(*analysis));
	struct pass pass = {.input = input, .analysis = analysis, .live = live_new(with_pairs)};
	struct trace_event event;
	size_t i;

	for (i = 0; i < input->file_count; i++) {
		if (input->files[i]->index >= analysis->process_count)
			analysis->process_count = input->files[i]->index + 1;
	}
	analysis->processes = new_zeroed(analysis->process_count, sizeof(*analysis->processes));
	pass.devices_met = new_zeroed(analysis->process_count, sizeof(*pass.devices_met));

	while (trace_stream_next(input->stream, &event))
		take(&pass, &event);

	for (i = 0; i < analysis->process_count; i++)
		free(pass.devices_met[i]);
	free(pass.devices_met);
	object_map_free(&pass.sites);
	object_map_free(&pass.failures);
	object_map_free(&pass.pairs);
	live_free(pass.live);
	return analysis;
}

void analysis_free(struct analysis *analysis)
{
	size_t i;

	for (i = 0; i < ANALYSIS_CALLS; i++)
		free(analysis->calls[i].errors);
	for (i = 0; i < analysis->site_count; i++)
		free(analysis->sites[i]);
	for (i = 0; i < analysis->failure_count; i++)
		free(analysis->failures[i]);
	for (i = 0; i < analysis->pair_count; i++)
		free(analysis->pairs[i]);
	free(analysis->probes);
	free(analysis->sites);
	free(analysis->failures);
	free(analysis->pairs);
	free(analysis->processes);
	free(analysis->devices);
	free(analysis);
}
