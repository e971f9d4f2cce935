// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "reading.h"
#include "ranges.h"
#include "standin.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void check_header(const struct ibvbuf_trace_header *header, uint64_t size)
{
	cr_assert_eq(header->byte_order, IBVBUF_TRACE_BYTE_ORDER);
	cr_assert_eq(header->version_major, IBVBUF_TRACE_VERSION_MAJOR);
	cr_assert_eq(header->version_minor, IBVBUF_TRACE_VERSION_MINOR);
	cr_assert_eq(header->header_size, sizeof(struct ibvbuf_trace_header));
	cr_assert_eq(header->device_size, sizeof(struct ibvbuf_trace_device));
	cr_assert_eq(header->module_size, sizeof(struct ibvbuf_trace_module));
	cr_assert_eq(header->record_size % 64, 0);
	cr_assert_geq(header->record_size,
		      sizeof(struct ibvbuf_trace_record) + header->stack_capacity * 8);
	cr_assert(header->device_capacity <= 64);
	cr_assert(header->module_capacity <= 256);
	cr_assert(header->stack_capacity <= STACK_MAX);
	cr_assert(header->slots_allocated <= header->record_capacity);
	cr_assert_geq(header->devices_offset, header->header_size);
	cr_assert_geq(header->modules_offset,
		      header->devices_offset + header->device_capacity * header->device_size);
	cr_assert_geq(header->records_offset,
		      header->modules_offset + header->module_capacity * header->module_size);
	cr_assert_geq(size, header->records_offset + header->slots_allocated * header->record_size,
		      "the file ends before its slots");
}

/* A whole record, as the header of the format says how; false if there is none. */
static bool copy_record(const struct trace *trace, const char *slot, struct entry *entry,
			uint64_t *state)
{
	size_t stack_capacity = trace->header.stack_capacity;
	uint64_t *stack = trace->stacks + trace->count * stack_capacity;
	const uint64_t *word = (const uint64_t *)(const void *)slot;

	*state = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	memcpy(&entry->record, slot, sizeof(entry->record));
	memcpy(stack, slot + sizeof(entry->record), stack_capacity * sizeof(*stack));
	entry->stack = stack;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (*state == 0 || *state % 2 || __atomic_load_n(word, __ATOMIC_RELAXED) != *state)
		return false;
	entry->number = *state / 2 - 1;
	return true;
}

static int by_number(const void *one, const void *other)
{
	const struct entry *a = one, *b = other;

	return (a->number > b->number) - (a->number < b->number);
}

static void read_records(struct trace *trace, const char *bytes)
{
	const struct ibvbuf_trace_header *header = &trace->header;
	uint64_t slot, state;

	trace->entries = calloc(header->slots_allocated + 1, sizeof(*trace->entries));
	trace->stacks = calloc(header->slots_allocated + 1,
			       (header->stack_capacity + 1) * sizeof(*trace->stacks));
	cr_assert_not_null(trace->entries);
	cr_assert_not_null(trace->stacks);
	for (slot = 0; slot < header->slots_allocated; slot++) {
		struct entry *entry = &trace->entries[trace->count];

		if (copy_record(trace, bytes + header->records_offset + slot * header->record_size,
				entry, &state)) {
			cr_assert_eq(entry->number % header->record_capacity, slot);
			cr_assert(entry->record.call >= 1 && entry->record.call <= 22);
			cr_assert(entry->record.stack_used <= header->stack_capacity);
			trace->count++;
		} else if (state == 0) {
			trace->unused++;
		} else {
			trace->unfinished++;
		}
	}
	qsort(trace->entries, trace->count, sizeof(*trace->entries), by_number);
}

static void read_tables(struct trace *trace, const char *bytes)
{
	const struct ibvbuf_trace_header *header = &trace->header;
	uint32_t i;

	for (i = 0; i < header->device_capacity; i++) {
		const char *entry = bytes + header->devices_offset + i * header->device_size;

		memcpy(&trace->devices[i], entry, sizeof(trace->devices[i]));
		trace->device_count += trace->devices[i].state == 1;
	}
	for (i = 0; i < header->module_capacity; i++) {
		const char *entry = bytes + header->modules_offset + i * header->module_size;

		memcpy(&trace->modules[i], entry, sizeof(trace->modules[i]));
		trace->module_count += trace->modules[i].state == 1;
	}
}

struct trace *trace_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct ibvbuf_trace_header header;
	struct trace *trace = NULL;
	struct stat status;
	ssize_t length;
	char *bytes;

	if (fd < 0)
		return NULL;
	/* Before its size is asked for: it has space before its header says so. */
	length = pread(fd, &header, sizeof(header), 0);
	cr_assert_eq(fstat(fd, &status), 0);
	bytes = mmap(NULL, (size_t)status.st_size + 1, PROT_READ, MAP_SHARED, fd, 0);
	cr_assert_neq(bytes, MAP_FAILED);
	close(fd);
	if (length == sizeof(header) &&
	    !memcmp(header.magic, IBVBUF_TRACE_MAGIC, sizeof(header.magic))) {
		trace = calloc(1, sizeof(*trace));
		cr_assert_not_null(trace);
		trace->header = header;
		check_header(&trace->header, (uint64_t)status.st_size);
		read_tables(trace, bytes);
		read_records(trace, bytes);
	}
	munmap(bytes, (size_t)status.st_size + 1);
	return trace;
}

void trace_free(struct trace *trace)
{
	free(trace->entries);
	free(trace->stacks);
	free(trace);
}

const struct ibvbuf_trace_record *trace_last(const struct trace *trace)
{
	cr_assert_neq(trace->count, 0, "no record");
	return &trace->entries[trace->count - 1].record;
}

const struct ibvbuf_trace_module *trace_module_of(const struct trace *trace, uint64_t address,
						  uint64_t time)
{
	const struct ibvbuf_trace_module *found = NULL;
	size_t i;

	for (i = 0; i < 256; i++) {
		const struct ibvbuf_trace_module *module = &trace->modules[i];

		if (module->state == 1 && address >= module->start && address < module->end &&
		    module->since <= time && (!found || module->since >= found->since))
			found = module;
	}
	return found;
}

bool is_consistent(const struct ibvbuf_trace_record *record)
{
	uint32_t key = standin_key(record->address, record->length);

	if (record->call != IBVBUF_TRACE_REG_MR && record->call != IBVBUF_TRACE_DEREG_MR)
		return false;
	return record->error == 0 && record->length == range_length(record->address) &&
	       record->lkey == key && record->rkey == ~key && record->handle == key + 1 &&
	       record->object && record->pd && record->thread && record->caller && record->time &&
	       record->fd == -1 && record->duration < UINT64_C(60000000000) &&
	       (record->call == IBVBUF_TRACE_DEREG_MR || record->iova == record->address);
}
