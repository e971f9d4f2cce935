// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "live_objects.h"

#include <stdlib.h>
#include <string.h>

#include "infiniband/verbs.h"
#include "../launcher/message.h"

/*
 * Ranges that were deregistered: so many are remembered, each where its hash says, the last one in.
 */
#define REMEMBERED 65536

/*
 * MRs that are looked at to find one by its address and key: the last ones of that address. Where
 * records are true, it is two of them at most that seem to live.
 */
#define MOST_NAMESAKES 256

#define BLOCK_OBJECTS 64

struct remembered {
	uint64_t hash;
	uint64_t time;
};

/* Of one process. */
struct process {
	struct live_object *domains;
	struct interval_tree buffers;
};

struct live {
	struct object_map maps[LIVE_KINDS];
	struct process *processes;
	size_t process_count;
	bool with_ranges;
	struct allowance allowance;
	/* NULL without ranges. */
	struct remembered *remembered;
	/* Objects are taken from blocks, and given back to a list of unused ones. */
	struct live_object **blocks;
	size_t block_count;
	struct live_object *unused;
};

struct live *live_new(bool with_ranges)
{
	struct live *live = grow(NULL, 1, sizeof(*live));

	memset(live, 0, sizeof(*live));
	live->with_ranges = with_ranges;
	live->allowance.steps = ALLOWANCE_TO_BEGIN_WITH;
	if (!with_ranges)
		return live;
	live->remembered = grow(NULL, REMEMBERED, sizeof(*live->remembered));
	memset(live->remembered, 0, REMEMBERED * sizeof(*live->remembered));
	return live;
}

static struct live_object *object_of(struct object_entry *entry)
{
	return OBJECT_OF(entry, struct live_object, entry);
}

/* NULL of NULL. */
static struct live_object *object_at(struct interval *range)
{
	return range ? OBJECT_OF(range, struct live_object, range) : NULL;
}

void live_free(struct live *live)
{
	size_t i;

	for (i = 0; i < LIVE_KINDS; i++)
		object_map_free(&live->maps[i]);
	for (i = 0; i < live->block_count; i++)
		free(live->blocks[i]);
	free(live->blocks);
	free(live->processes);
	free(live->remembered);
	free(live);
}

static struct live_object *take_object(struct live *live)
{
	struct live_object *object;
	size_t i;

	if (!live->unused) {
		object = aligned_alloc(_Alignof(struct live_object),
				       BLOCK_OBJECTS * sizeof(*object));
		if (!object)
			fail("out of memory");
		live->blocks =
			grow(live->blocks, live->block_count + 1, sizeof(struct live_object *));
		live->blocks[live->block_count++] = object;
		for (i = 0; i < BLOCK_OBJECTS; i++) {
			object[i].next = live->unused;
			live->unused = &object[i];
		}
	}
	object = live->unused;
	live->unused = object->next;
	memset(object, 0, sizeof(*object));
	return object;
}

static void give_object(struct live *live, struct live_object *object)
{
	object->next = live->unused;
	live->unused = object;
}

uint64_t live_bytes_of(const struct ibvbuf_trace_record *record)
{
	/* On-demand paging registers the whole address space as SIZE_MAX bytes. */
	return record->length >> 56 ? 0 : record->length;
}

static uint64_t name_of(const struct trace_file *file, uint64_t address)
{
	return object_hash(file->index + 1, address, 0);
}

/* The oldest of those with the address, and the key if there is any with that. */
static struct live_object *find(const struct live *live, enum live_kind kind,
				const struct trace_file *file, uint64_t address, uint64_t key)
{
	struct live_object *object, *found = NULL;
	struct object_entry *entry;
	unsigned int seen;

	if (!address)
		return NULL;
	entry = object_map_first(&live->maps[kind], name_of(file, address));
	for (seen = 0; entry && seen < MOST_NAMESAKES; seen++, entry = object_map_next(entry)) {
		object = object_of(entry);
		if (object->address == address && object->key == key && object->file == file)
			found = object;
	}
	return found;
}

static struct process *process_of(struct live *live, const struct trace_file *file)
{
	size_t count = live->process_count;

	if (file->index >= count) {
		live->process_count = 2 * file->index + 1;
		live->processes =
			grow(live->processes, live->process_count, sizeof(*live->processes));
		memset(live->processes + count, 0,
		       (live->process_count - count) * sizeof(*live->processes));
	}
	return &live->processes[file->index];
}

static struct live_object *begin(struct live *live, enum live_kind kind,
				 const struct trace_event *event, uint64_t address, uint64_t key)
{
	struct live_object *object = take_object(live);

	object->kind = kind;
	object->file = event->file;
	object->address = address;
	object->key = key;
	object_map_insert(&live->maps[kind], &object->entry, name_of(event->file, address));
	return object;
}

static void end(struct live *live, struct live_object *object)
{
	object_map_remove(&live->maps[object->kind], &object->entry);
	give_object(live, object);
}

static struct live_object *begin_domain(struct live *live, const struct trace_event *event,
					uint64_t address)
{
	struct process *process = process_of(live, event->file);
	struct live_object *domain = begin(live, LIVE_DOMAIN, event, address, 0);

	domain->next = process->domains;
	if (domain->next)
		domain->next->previous = domain;
	process->domains = domain;
	return domain;
}

static void end_domain(struct live *live, struct live_object *domain)
{
	if (domain->next)
		domain->next->previous = domain->previous;
	if (domain->previous)
		domain->previous->next = domain->next;
	else
		process_of(live, domain->file)->domains = domain->next;
	end(live, domain);
}

/* A domain whose allocation is not recorded is there all the same: something was made in it. */
static struct live_object *enter_domain(struct live *live, const struct trace_event *event)
{
	uint64_t address = event->record->pd;
	struct live_object *domain = find(live, LIVE_DOMAIN, event->file, address, 0);

	if (!domain && address)
		domain = begin_domain(live, event, address);
	if (domain)
		domain->mrs++;
	return domain;
}

/* One that is not open, as far as is known, ends with its last MR. */
static void leave_domain(struct live *live, struct live_object *domain)
{
	domain->mrs--;
	if (!domain->mrs && !domain->open)
		end_domain(live, domain);
}

static void enter_buffer(struct live_object *mr, struct live_object *buffer)
{
	mr->buffer = buffer;
	mr->next = buffer->next;
	mr->previous = buffer;
	if (mr->next)
		mr->next->previous = mr;
	buffer->next = mr;
	buffer->mrs++;
}

static void leave_buffer(struct live_object *mr)
{
	mr->buffer->mrs--;
	mr->previous->next = mr->next;
	if (mr->next)
		mr->next->previous = mr->previous;
	mr->buffer = NULL;
	mr->next = NULL;
	mr->previous = NULL;
}

static bool is_by_descriptor(const struct ibvbuf_trace_record *record,
			     const struct live_object *buffer)
{
	if (record->call == IBVBUF_TRACE_REG_DMABUF_MR)
		return true;
	if (record->call == IBVBUF_TRACE_REG_MR_EX && (record->mask & IBV_REG_MR_MASK_FD))
		return true;
	return buffer && (buffer->backing == IBVBUF_TRACE_BACKING_DMA_HEAP ||
			  buffer->backing == IBVBUF_TRACE_BACKING_UDMABUF);
}

/* Where the bytes are for the process. A DMA-buf is by custom registered at its address in it. */
static void set_range(struct live_object *mr, const struct ibvbuf_trace_record *record)
{
	uint64_t start = record->address, length = live_bytes_of(record);

	mr->range.start = 0;
	mr->range.end = 0;
	if (!start && mr->by_descriptor)
		start = record->iova;
	if (!start || !length || start > UINT64_MAX - length ||
	    record->call == IBVBUF_TRACE_REG_DM_MR)
		return;
	mr->range.start = start;
	mr->range.end = start + length;
}

static struct remembered *remembered_of(const struct live *live, const struct live_object *mr,
					uint64_t *hash)
{
	*hash = object_hash(mr->domain->address + mr->file->index, mr->range.start, mr->range.end);
	return &live->remembered[*hash % REMEMBERED];
}

static void enter_ranges(struct live *live, struct live_object *mr, struct live_change *change)
{
	const struct interval *range = &mr->range;
	struct interval_tree *tree = &mr->domain->ranges;
	struct remembered *remembered;
	struct interval *other;
	uint64_t hash;

	other = interval_find_overlap(tree, range->start, range->end);
	if (other) {
		change->overlaps = object_at(other);
		change->at_least = !interval_covered(tree, range->start, range->end,
						     &live->allowance, &change->shared);
		other = interval_find_same(tree, range->start, range->end);
		change->same = object_at(other);
	} else {
		remembered = remembered_of(live, mr, &hash);
		change->again = remembered->hash == hash;
		change->again_time = change->again ? remembered->time : 0;
		if (change->again)
			remembered->hash = 0;
	}
	interval_insert(tree, &mr->range);
}

static void leave_ranges(struct live_object *mr)
{
	if (mr->range.end)
		interval_remove(&mr->domain->ranges, &mr->range);
}

static void begin_mr(struct live *live, const struct trace_event *event,
		     const struct call_site *site, struct live_change *change)
{
	const struct ibvbuf_trace_record *record = event->record;
	bool imported = record->call == IBVBUF_TRACE_IMPORT_MR;
	struct live_object *buffer, *mr;

	buffer = find(live, LIVE_BUFFER, event->file, record->buffer, 0);
	mr = begin(live, imported ? LIVE_IMPORTED_MR : LIVE_MR, event, record->object,
		   record->lkey);
	mr->site = site;
	mr->domain = enter_domain(live, event);
	if (!imported) {
		mr->length = live_bytes_of(record);
		mr->by_descriptor = is_by_descriptor(record, buffer);
		if (live->with_ranges && mr->domain)
			set_range(mr, record);
		if (mr->range.end)
			enter_ranges(live, mr, change);
		if (buffer)
			enter_buffer(mr, buffer);
	}
	change->kind = mr->kind;
	change->count = 1;
	change->bytes = (int64_t)mr->length;
	change->site = site;
}

static struct live_object *find_mr(const struct live *live, const struct trace_event *event)
{
	const struct ibvbuf_trace_record *record = event->record;
	struct live_object *mr;

	mr = find(live, LIVE_MR, event->file, record->object, record->lkey);
	if (!mr)
		mr = find(live, LIVE_IMPORTED_MR, event->file, record->object, record->lkey);
	return mr;
}

static void end_mr(struct live *live, const struct trace_event *event, struct live_change *change)
{
	struct live_object *mr = find_mr(live, event);
	struct remembered *remembered;
	uint64_t hash;

	change->count = -1;
	if (!mr) {
		change->kind = event->record->call == IBVBUF_TRACE_UNIMPORT_MR ? LIVE_IMPORTED_MR
									       : LIVE_MR;
		change->unknown = true;
		return;
	}
	change->kind = mr->kind;
	change->bytes = -(int64_t)mr->length;
	change->site = mr->site;
	if (mr->range.end) {
		remembered = remembered_of(live, mr, &hash);
		remembered->hash = hash;
		remembered->time = event->record->duration;
	}
	if (mr->buffer)
		leave_buffer(mr);
	if (mr->domain) {
		leave_ranges(mr);
		leave_domain(live, mr->domain);
	}
	end(live, mr);
}

/* The youngest at the address: ibv_rereg_mr() may have changed its key. */
static struct live_object *find_reregistered(const struct live *live,
					     const struct trace_event *event)
{
	uint64_t address = event->record->object;
	struct object_entry *entry;
	struct live_object *mr;

	entry = object_map_first(&live->maps[LIVE_MR], name_of(event->file, address));
	for (; entry; entry = object_map_next(entry)) {
		mr = object_of(entry);
		if (mr->address == address && mr->file == event->file)
			return mr;
	}
	return NULL;
}

static void change_mr(struct live *live, const struct trace_event *event,
		      struct live_change *change)
{
	const struct ibvbuf_trace_record *record = event->record;
	struct live_object *mr = find_mr(live, event), *domain;

	if (!mr)
		mr = find_reregistered(live, event);
	change->kind = LIVE_MR;
	if (!mr) {
		change->unknown = true;
		return;
	}
	mr->key = record->lkey;
	change->site = mr->site;
	leave_ranges(mr);
	if (record->mask & IBV_REREG_MR_CHANGE_PD) {
		domain = enter_domain(live, event);
		if (mr->domain)
			leave_domain(live, mr->domain);
		mr->domain = domain;
	}
	if (record->mask & IBV_REREG_MR_CHANGE_TRANSLATION) {
		change->bytes = (int64_t)live_bytes_of(record) - (int64_t)mr->length;
		mr->length = live_bytes_of(record);
		mr->by_descriptor = false;
		if (live->with_ranges)
			set_range(mr, record);
		if (mr->buffer)
			leave_buffer(mr);
	}
	if (!mr->domain)
		mr->range.end = 0;
	if (mr->range.end)
		interval_insert(&mr->domain->ranges, &mr->range);
}

static void begin_buffer(struct live *live, const struct trace_event *event,
			 const struct call_site *site, struct live_change *change)
{
	const struct ibvbuf_trace_record *record = event->record;
	struct live_object *buffer;

	buffer = begin(live, LIVE_BUFFER, event, record->buffer, 0);
	buffer->site = site;
	buffer->length = live_bytes_of(record);
	buffer->backing = record->backing;
	buffer->pd = record->pd;
	if (live->with_ranges && record->address && buffer->length &&
	    record->address <= UINT64_MAX - buffer->length) {
		buffer->range.start = record->address;
		buffer->range.end = record->address + buffer->length;
		interval_insert(&process_of(live, event->file)->buffers, &buffer->range);
	}
	change->kind = LIVE_BUFFER;
	change->count = 1;
	change->bytes = (int64_t)buffer->length;
	change->site = site;
}

static void count_orphan(struct interval *interval, void *context)
{
	const struct live_object *mr = OBJECT_OF(interval, struct live_object, range);
	struct live_change *change = context;

	/* The memory of a DMA-buf stays as long as the MR; the buffer's own MRs are counted apart.
	 */
	if (mr->by_descriptor || mr->buffer)
		return;
	change->orphans++;
	change->orphan_bytes += mr->length;
	if (!change->orphan)
		change->orphan = mr;
}

static void end_buffer(struct live *live, const struct trace_event *event,
		       struct live_change *change)
{
	struct process *process = process_of(live, event->file);
	struct live_object *buffer, *domain, *mr, *next;
	bool all = true;

	change->kind = LIVE_BUFFER;
	change->count = -1;
	buffer = find(live, LIVE_BUFFER, event->file, event->record->buffer, 0);
	if (!buffer) {
		change->unknown = true;
		return;
	}
	change->bytes = -(int64_t)buffer->length;
	change->site = buffer->site;
	change->backing = buffer->backing;
	if (buffer->range.end) {
		for (domain = process->domains; domain && all; domain = domain->next)
			all = allowance_spend(&live->allowance) &&
			      interval_each_overlap(&domain->ranges, buffer->range.start,
						    buffer->range.end, &live->allowance,
						    count_orphan, change);
		change->at_least = !all;
		interval_remove(&process->buffers, &buffer->range);
	}
	for (mr = buffer->next; mr; mr = next) {
		next = mr->next;
		mr->buffer = NULL;
		mr->next = NULL;
		mr->previous = NULL;
		change->orphans++;
		change->orphan_bytes += mr->length;
		change->orphan = mr;
	}
	end(live, buffer);
}

/*
 * Where there is nothing that a parent domain could change, it may be the domain itself, which is
 * then closed as often as it was opened.
 */
static void open_domain(struct live *live, const struct trace_event *event,
			const struct call_site *site, struct live_change *change)
{
	uint64_t address = event->record->object;
	struct live_object *domain = find(live, LIVE_DOMAIN, event->file, address, 0);

	if (!domain)
		domain = begin_domain(live, event, address);
	if (!domain->open)
		domain->site = site;
	domain->open++;
	change->kind = LIVE_DOMAIN;
	change->count = 1;
	change->site = domain->site;
}

static void close_domain(struct live *live, const struct trace_event *event,
			 struct live_change *change)
{
	struct live_object *domain;

	change->kind = LIVE_DOMAIN;
	change->count = -1;
	domain = find(live, LIVE_DOMAIN, event->file, event->record->object, 0);
	if (!domain || !domain->open) {
		change->unknown = true;
		return;
	}
	change->site = domain->site;
	domain->open--;
	if (!domain->mrs && !domain->open)
		end_domain(live, domain);
}

static void begin_window(struct live *live, const struct trace_event *event,
			 const struct call_site *site, struct live_change *change)
{
	begin(live, LIVE_WINDOW, event, event->record->object, 0)->site = site;
	change->kind = LIVE_WINDOW;
	change->count = 1;
	change->site = site;
}

static void end_window(struct live *live, const struct trace_event *event,
		       struct live_change *change)
{
	struct live_object *window;

	window = find(live, LIVE_WINDOW, event->file, event->record->object, 0);
	change->kind = LIVE_WINDOW;
	change->count = -1;
	change->unknown = !window;
	if (window) {
		change->site = window->site;
		end(live, window);
	}
}

bool live_can_follow(struct call_sites *sites, const struct trace_event *event)
{
	return !event_registers(event) || !call_site_is_of_libibverbs(call_site_of(sites, event));
}

void live_take(struct live *live, const struct trace_event *event, const struct call_site *site,
	       struct live_change *change)
{
	memset(change, 0, sizeof(*change));
	change->kind = LIVE_NOTHING;
	allowance_add(&live->allowance);
	if (event_failed(event))
		return;
	switch (trace_call_effect(event->record->call)) {
	case TRACE_EFFECT_REGISTERS:
		begin_mr(live, event, site, change);
		break;
	case TRACE_EFFECT_REREGISTERS:
		change_mr(live, event, change);
		break;
	case TRACE_EFFECT_DEREGISTERS:
		end_mr(live, event, change);
		break;
	case TRACE_EFFECT_ALLOCATES:
		begin_buffer(live, event, site, change);
		break;
	case TRACE_EFFECT_FREES:
		end_buffer(live, event, change);
		break;
	case TRACE_EFFECT_OPENS:
		open_domain(live, event, site, change);
		break;
	case TRACE_EFFECT_CLOSES:
		close_domain(live, event, change);
		break;
	case TRACE_EFFECT_BINDS:
		begin_window(live, event, site, change);
		break;
	case TRACE_EFFECT_UNBINDS:
		end_window(live, event, change);
		break;
	case TRACE_EFFECT_NONE:
		break;
	}
}

const struct live_object *live_domain_of(const struct live *live, const struct trace_event *event)
{
	const struct ibvbuf_trace_record *record = event->record;
	uint64_t address = record->pd;

	if (trace_call_effect(record->call) == TRACE_EFFECT_CLOSES)
		address = record->object;
	return find(live, LIVE_DOMAIN, event->file, address, 0);
}

const struct live_object *live_buffer_of(const struct live *live, const struct trace_event *event)
{
	const struct ibvbuf_trace_record *record = event->record;
	struct interval *range;

	if (record->buffer)
		return find(live, LIVE_BUFFER, event->file, record->buffer, 0);
	if (event->file->index >= live->process_count || record->address == UINT64_MAX)
		return NULL;
	range = interval_find_overlap(&live->processes[event->file->index].buffers, record->address,
				      record->address + 1);
	return object_at(range);
}

const struct live_object *live_mr_of(const struct live *live, const struct trace_event *event)
{
	return find_mr(live, event);
}
