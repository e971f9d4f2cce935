/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reading trace files in the tests of who writes them: by the public header alone, and strictly.
 * What a reader of users would pass over fails the test here.
 */
#ifndef RECORDER_READING_H
#define RECORDER_READING_H

#include "ibvbuf/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STACK_MAX 64

/**
 * struct entry - a whole record
 * @number: of the call
 * @stack: record.stack_used return addresses
 */
struct entry {
	uint64_t number;
	struct ibvbuf_trace_record record;
	const uint64_t *stack;
};

/**
 * struct trace - what a file held when it was read
 * @header: its header
 * @devices: the entries that are there
 * @modules: the entries that are there, in the order of the table
 * @entries: the whole records, by their numbers
 * @stacks: of the entries
 * @unfinished: slots that were being written
 * @unused: slots with space that were never written
 */
struct trace {
	struct ibvbuf_trace_header header;
	size_t device_count;
	struct ibvbuf_trace_device devices[64];
	size_t module_count;
	struct ibvbuf_trace_module modules[256];
	size_t count;
	struct entry *entries;
	uint64_t *stacks;
	uint64_t unfinished;
	uint64_t unused;
};

/* NULL if there is no such file, or one in which nothing was begun. */
struct trace *trace_read(const char *path);
void trace_free(struct trace *trace);

/* The latest record, which has to be there. */
const struct ibvbuf_trace_record *trace_last(const struct trace *trace);

/* The module that a reader takes an address for at a time, or NULL. */
const struct ibvbuf_trace_module *trace_module_of(const struct trace *trace, uint64_t address,
						  uint64_t time);

/*
 * Whether the fields of a record belong together, where the stand-in made its memory region, and
 * the caller made everything else from the address.
 */
bool is_consistent(const struct ibvbuf_trace_record *record);

#endif
