// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "trace_stream.h"
#include "trace_reader.h"
#include "../launcher/message.h"

#include <stdlib.h>
#include <string.h>

/* Blocks of one file stay in the processor's cache; those of all files are not to fill the memory.
 */
#define MEMORY_OF_ONE (UINT64_C(384) << 10)
#define MEMORY_OF_ALL (UINT64_C(64) << 20)

/* A file, and its next record if it is in the heap. */
struct source {
	struct trace_reader *reader;
	struct trace_event event;
};

/**
 * struct trace_stream - many files
 * @heap: those that have a record, the earliest first: a binary heap of @heap_count
 * @advance: the first one's record has been handed out
 */
struct trace_stream {
	struct source *sources;
	size_t count;
	struct source **heap;
	size_t heap_count;
	bool advance;
};

static bool is_before(const struct source *one, const struct source *other)
{
	if (one->event.end != other->event.end)
		return one->event.end < other->event.end;
	return one < other;
}

static void sink(struct trace_stream *stream, size_t place)
{
	struct source **heap = stream->heap, *source = heap[place];
	size_t child;

	while ((child = 2 * place + 1) < stream->heap_count) {
		if (child + 1 < stream->heap_count && is_before(heap[child + 1], heap[child]))
			child++;
		if (!is_before(heap[child], source))
			break;
		heap[place] = heap[child];
		place = child;
	}
	heap[place] = source;
}

/* All sources have been read to their end, or not been begun. */
static void fill_heap(struct trace_stream *stream)
{
	size_t i;

	stream->heap_count = 0;
	for (i = 0; i < stream->count; i++) {
		if (trace_reader_next(stream->sources[i].reader, &stream->sources[i].event))
			stream->heap[stream->heap_count++] = &stream->sources[i];
	}
	for (i = stream->heap_count / 2; i-- > 0;)
		sink(stream, i);
	stream->advance = false;
}

struct trace_stream *trace_stream_open(struct trace_file *const *files, size_t count, bool follow)
{
	struct trace_stream *stream = grow(NULL, 1, sizeof(*stream));
	size_t i, memory = MEMORY_OF_ONE;

	memset(stream, 0, sizeof(*stream));
	stream->count = count;
	stream->sources = grow(NULL, count + 1, sizeof(*stream->sources));
	stream->heap = grow(NULL, count + 1, sizeof(struct source *));
	if (count && memory > MEMORY_OF_ALL / count)
		memory = MEMORY_OF_ALL / count;
	for (i = 0; i < count; i++)
		stream->sources[i].reader = trace_reader_open(files[i], memory, follow);
	fill_heap(stream);
	return stream;
}

void trace_stream_close(struct trace_stream *stream)
{
	size_t i;

	for (i = 0; i < stream->count; i++)
		trace_reader_close(stream->sources[i].reader);
	free(stream->sources);
	free(stream->heap);
	free(stream);
}

bool trace_stream_next(struct trace_stream *stream, struct trace_event *event)
{
	struct source *first;

	if (stream->advance) {
		first = stream->heap[0];
		if (!trace_reader_next(first->reader, &first->event))
			stream->heap[0] = stream->heap[--stream->heap_count];
		if (stream->heap_count)
			sink(stream, 0);
		stream->advance = false;
	}
	if (!stream->heap_count)
		return false;
	*event = stream->heap[0]->event;
	stream->advance = true;
	return true;
}

void trace_stream_resume(struct trace_stream *stream)
{
	size_t i;

	for (i = 0; i < stream->count; i++)
		trace_reader_resume(stream->sources[i].reader);
	fill_heap(stream);
}
