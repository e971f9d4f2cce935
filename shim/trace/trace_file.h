/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The trace file of this process: made at the first record, mapped as a whole, and given space a
 * step at a time, before it is stored to. Only what has space is touched, so a full disk raises no
 * SIGBUS. No descriptor stays open: the program may close all that it does not know. To give it
 * more space the file is opened again by its name, and left alone if that is another file now.
 *
 * Nobody waits: of threads that make a file at the same time, the first to finish made it for all;
 * those that need the same step each ask for it, and the kernel gives it once.
 */
#ifndef IBVBUF_TRACE_FILE_H
#define IBVBUF_TRACE_FILE_H

#include "ibvbuf/trace.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Devices that a file has room for, and those that are known in a process, to be counted. */
#define TRACE_DEVICES	    64
#define TRACE_DEVICES_KNOWN 1024

/* Places whose module is known to be in the table: sets of a cache line each. */
#define TRACE_KNOWN_SETS   ((size_t)128)
#define TRACE_KNOWN_WAYS   ((size_t)8)
#define TRACE_KNOWN_PLACES (TRACE_KNOWN_SETS * TRACE_KNOWN_WAYS)

/**
 * struct trace_file - where the records of one process go
 * @generation: of the process; a child has another
 * @header: the mapped file, or NULL if there is none
 * @devices: in the mapped file
 * @modules: in the mapped file
 * @records: in the mapped file
 * @device: that the file is on
 * @inode: of the file
 * @half_step: slots
 * @round_start: a number that slot 0 was given to, not long ago
 * @retry_after: no space could be had; CLOCK_MONOTONIC from which it is asked for again
 * @is_filled: the file system cannot be asked for space; it is written
 * @extending: threads that ask for space
 * @unlisted: devices without room that were counted, a bit each
 * @known: addresses of code, each in its own set
 * @path: absolute
 * @has_name: whether that is the name to have, and not one beside it
 * @named: whose path the file has: its own, or that of a thread that made another
 */
struct trace_file {
	uint64_t generation;
	struct ibvbuf_trace_header *header;
	struct ibvbuf_trace_device *devices;
	struct ibvbuf_trace_module *modules;
	char *records;
	dev_t device;
	ino_t inode;
	uint64_t half_step;
	uint64_t round_start;
	uint64_t retry_after;
	bool is_filled;
	uint32_t extending;
	uint64_t unlisted[(TRACE_DEVICES_KNOWN - TRACE_DEVICES) / 64];
	uint64_t known[TRACE_KNOWN_PLACES] __attribute__((aligned(64)));
	char path[PATH_MAX];
	bool has_name;
	const struct trace_file *named;
};

extern struct trace_file *trace_file_current;
struct trace_file *trace_file_make(uint64_t generation, uint64_t start);

/**
 * trace_file_get - the file of this process
 * @generation: process_generation()
 * @start: where its time starts if it is made now; CLOCK_MONOTONIC, in nanoseconds
 *
 * NULL if there can be none; that is said once. Any thread.
 */
static inline struct trace_file *trace_file_get(uint64_t generation, uint64_t start)
{
	/* acquire: pairs with the release in trace_file_make() */
	struct trace_file *file = __atomic_load_n(&trace_file_current, __ATOMIC_ACQUIRE);

	if (__builtin_expect(!file || file->generation != generation, 0))
		file = trace_file_make(generation, start);
	return file && file->header ? file : NULL;
}

#endif
