// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A block of slots is read twice. What the second read finds in a record whose state was the same
 * even number in the first is what the call wrote, since the state is stored after all the rest -
 * unless a call that came record_capacity later had begun to write there. It takes its number
 * first; so the counter of calls, read after the block, tells.
 */
#define _GNU_SOURCE
#include "trace_reader.h"
#include "../launcher/message.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_SLOTS 32

/* An entry is a record that was read and not yet handed out. */
struct entry {
	uint64_t end;
	const struct ibvbuf_trace_record *record;
};

/**
 * struct trace_reader - reading a file
 * @next: the number to be read next
 * @end: one past the last that had been claimed when this pass began
 * @block: @block_slots slots
 * @states: of these, as the first read found them
 * @kept: two areas of @window slots, for what is handed out after the next block was read
 * @kept_now: which of them is in use
 * @entries: sorted by their end, from @first to @count
 * @waiting: a record was met that is not there yet
 * @waited_for: those of lower numbers have been waited for
 */
struct trace_reader {
	struct trace_file *file;
	bool follow;
	uint64_t next;
	uint64_t end;
	unsigned char *block;
	size_t block_slots;
	uint64_t *states;
	unsigned char *kept[2];
	unsigned int kept_now;
	size_t window;
	struct entry *entries;
	size_t first;
	size_t count;
	bool waiting;
	uint64_t waited_for;
};

/* The calls that the file can hold: from @next to @end. */
static void begin_pass(struct trace_reader *reader)
{
	const struct trace_file *file = reader->file;
	const uint64_t capacity = file->header.record_capacity;
	uint64_t begin = 0;

	reader->end = file->claimed;
	if (file->header.keep == IBVBUF_TRACE_KEEP_OLDEST) {
		if (reader->end > capacity)
			reader->end = capacity;
	} else if (reader->end > capacity) {
		begin = reader->end - capacity;
	}
	if (begin > reader->next) {
		reader->file->overwritten += begin - reader->next;
		reader->next = begin;
	}
	reader->waiting = false;
}

struct trace_reader *trace_reader_open(struct trace_file *file, size_t memory, bool follow)
{
	struct trace_reader *reader = grow(NULL, 1, sizeof(*reader));
	const size_t size = file->header.record_size;

	memset(reader, 0, sizeof(*reader));
	reader->file = file;
	reader->follow = follow;
	/* two thirds for the block, and a sixth for each area of those kept */
	reader->block_slots = memory / size * 2 / 3;
	if (reader->block_slots < LEAST_SLOTS)
		reader->block_slots = LEAST_SLOTS;
	if (reader->block_slots > file->slots && !follow)
		reader->block_slots = file->slots > LEAST_SLOTS ? file->slots : LEAST_SLOTS;
	reader->window = reader->block_slots / 4;
	reader->block = grow(NULL, reader->block_slots, size);
	reader->kept[0] = grow(NULL, reader->window, size);
	reader->kept[1] = grow(NULL, reader->window, size);
	reader->states = grow(NULL, reader->block_slots, sizeof(*reader->states));
	reader->entries =
		grow(NULL, reader->block_slots + reader->window, sizeof(*reader->entries));
	begin_pass(reader);
	return reader;
}

void trace_reader_close(struct trace_reader *reader)
{
	free(reader->block);
	free(reader->kept[0]);
	free(reader->kept[1]);
	free(reader->states);
	free(reader->entries);
	free(reader);
}

void trace_reader_resume(struct trace_reader *reader)
{
	if (reader->waiting)
		reader->waited_for = reader->end;
	trace_file_refresh(reader->file);
	begin_pass(reader);
}

static struct ibvbuf_trace_record *block_record(const struct trace_reader *reader, size_t index)
{
	return (struct ibvbuf_trace_record *)(reader->block +
					      index * reader->file->header.record_size);
}

/* What is left of the last block goes where the next one is not read to. */
static void keep_rest(struct trace_reader *reader)
{
	const size_t size = reader->file->header.record_size;
	unsigned char *to = reader->kept[!reader->kept_now];
	size_t i, count = reader->count - reader->first;

	for (i = 0; i < count; i++) {
		reader->entries[i] = reader->entries[reader->first + i];
		memcpy(to + i * size, reader->entries[i].record, size);
		reader->entries[i].record = (struct ibvbuf_trace_record *)(to + i * size);
	}
	reader->first = 0;
	reader->count = count;
	reader->kept_now = !reader->kept_now;
}

/* Records come almost in order. No further back than the window: also lies must not take long. */
static void add_entry(struct trace_reader *reader, const struct ibvbuf_trace_record *record)
{
	struct entry *entries = reader->entries, entry;
	size_t place = reader->count, least;

	entry.record = record;
	entry.end = record->time + record->duration;
	least = place > reader->window ? place - reader->window : 0;
	while (place > least && entries[place - 1].end > entry.end) {
		entries[place] = entries[place - 1];
		place--;
	}
	entries[place] = entry;
	reader->count++;
}

/*
 * The contents of `count` slots, of calls from reader->next on; returns how many were there. After
 * that, what has been read cannot have been torn by calls of numbers from *claimed on.
 */
static size_t read_block(struct trace_reader *reader, uint64_t slot, size_t count,
			 uint64_t *claimed)
{
	const struct trace_file *file = reader->file;
	const size_t size = file->header.record_size;
	const uint64_t offset = file->header.records_offset + slot * size;
	size_t i, got;

	got = trace_file_read(file, offset, reader->block, count * size) / size;
	for (i = 0; i < got; i++)
		reader->states[i] = block_record(reader, i)->state;
	/* pairs with the writer's release of the state: nothing is read before the states */
	atomic_thread_fence(memory_order_acquire);
	i = trace_file_read(file, offset, reader->block, got * size) / size;
	if (i < got)
		got = i;
	/* pairs with the writer's release fence between taking its number and writing */
	atomic_thread_fence(memory_order_acquire);
	*claimed = 0;
	trace_file_read(file, offsetof(struct ibvbuf_trace_header, claimed), claimed,
			sizeof(*claimed));
	return got;
}

/* It was finished between the two reads: its state is known now, and what came before is there. */
static bool read_again(struct trace_reader *reader, uint64_t slot, size_t index)
{
	const struct trace_file *file = reader->file;
	const size_t size = file->header.record_size;
	struct ibvbuf_trace_record *record = block_record(reader, index);
	const uint64_t state = record->state;

	return trace_file_read(file, file->header.records_offset + slot * size, record, size) ==
		       size &&
	       record->state == state;
}

enum finding { WHOLE, OVERWRITTEN, UNFINISHED, ABSENT };

/* What the block has of a call; the record of `index` is to be that of `number`. */
static enum finding find_record(struct trace_reader *reader, uint64_t slot, size_t index,
				uint64_t number, uint64_t claimed)
{
	const struct ibvbuf_trace_header *header = &reader->file->header;
	const struct ibvbuf_trace_record *record = block_record(reader, index);
	const uint64_t state = 2 * (number + 1);

	if (record->state % 2)
		return UNFINISHED;
	if (record->state > state)
		return OVERWRITTEN;
	if (record->state < state)
		return ABSENT;
	/* a counter that stands still, however damaged, overwrites nothing */
	if (claimed != header->claimed && header->keep != IBVBUF_TRACE_KEEP_OLDEST &&
	    claimed > number && claimed - number > header->record_capacity)
		return OVERWRITTEN;
	if (reader->states[index] != state && !read_again(reader, slot + index, index))
		return UNFINISHED;
	return WHOLE;
}

static void take_block(struct trace_reader *reader, uint64_t slot, size_t count, uint64_t claimed)
{
	struct trace_file *file = reader->file;
	enum finding finding;
	size_t i;

	for (i = 0; i < count; i++) {
		finding = find_record(reader, slot, i, reader->next + i, claimed);
		if (finding == WHOLE) {
			file->records++;
			add_entry(reader, block_record(reader, i));
		} else if (finding == OVERWRITTEN) {
			file->overwritten++;
		} else if (reader->follow && reader->next + i >= reader->waited_for) {
			reader->waiting = true;
			break;
		} else if (finding == UNFINISHED) {
			file->torn++;
		} else {
			file->absent++;
		}
	}
	reader->next += i;
}

/* Reads a block; false if there is nothing more in this pass. */
static bool read_more(struct trace_reader *reader)
{
	struct trace_file *file = reader->file;
	const uint64_t capacity = file->header.record_capacity;
	uint64_t slot, claimed, left;
	size_t count;

	if (reader->waiting || reader->next >= reader->end)
		return false;
	slot = reader->next % capacity;
	left = reader->end - reader->next;
	if (left > capacity - slot)
		left = capacity - slot;
	count = 0;
	if (slot < file->slots) {
		count = reader->block_slots;
		if (count > left)
			count = left;
		if (count > file->slots - slot)
			count = file->slots - slot;
		keep_rest(reader);
		count = read_block(reader, slot, count, &claimed);
	}
	if (count) {
		take_block(reader, slot, count, claimed);
	} else if (reader->follow && reader->next >= reader->waited_for) {
		reader->waiting = true;
	} else {
		/* no space was had for these, or the file was cut short */
		file->absent += left;
		reader->next += left;
	}
	return true;
}

bool trace_reader_next(struct trace_reader *reader, struct trace_event *event)
{
	const struct trace_file *file = reader->file;
	const struct ibvbuf_trace_record *record;
	size_t capacity;

	/* As long as more may come, the window is kept back. */
	while (reader->count - reader->first <= reader->window && read_more(reader))
		;
	if (reader->first == reader->count)
		return false;
	record = reader->entries[reader->first].record;
	event->file = reader->file;
	event->number = record->state / 2 - 1;
	event->begin = trace_file_realtime(file, record->time);
	event->end = trace_file_realtime(file, reader->entries[reader->first].end);
	event->record = record;
	event->stack = (const uint64_t *)(record + 1);
	capacity = (file->header.record_size - sizeof(*record)) / sizeof(*event->stack);
	if (capacity > file->header.stack_capacity)
		capacity = file->header.stack_capacity;
	event->stack_used = record->stack_used < capacity ? record->stack_used
							  : (unsigned int)capacity;
	reader->first++;
	return true;
}
