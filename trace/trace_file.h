/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A trace file, opened and checked. Nothing in it is believed: sizes, offsets, counts and strings
 * are held against the file's real size each time, for the file may belong to a process that goes
 * on writing, and may be cut short by anybody. It is read with pread(), never mapped.
 */
#ifndef IBVBUF_TRACE_TRACE_FILE_H
#define IBVBUF_TRACE_TRACE_FILE_H

#include "ibvbuf/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct trace_file - an open file
 * @path: as it was given
 * @file_system: number of the one that the file is on
 * @inode: its number there
 * @index: which of the files that were opened; from 0 on
 * @header: as of the last trace_file_refresh(). Its strings end, its sizes and offsets make sense;
 *	its counters are whatever the file says.
 * @devices: @device_count of them, at the places that records name; one whose state is 0 is not
 *	there. What is there stays, until the file is closed.
 * @modules: @module_count of them; the same
 * @slots: slots that are in the file, whole
 * @claimed: calls that took a number; the header's, or what the records say if that is damaged
 * @damage: what is wrong with a file that can be read all the same, as a sentence; or NULL
 * @absent: numbers whose record is not there: of calls that had not returned, that were dropped, or
 *	of what is missing of a file that was cut short. This and the next two are counted by
 *	trace_reader_next().
 * @torn: records that were being written
 * @overwritten: records that newer ones took the place of, before or while they were read
 * @records: records that were read
 */
struct trace_file {
	const char *path;
	dev_t file_system;
	ino_t inode;
	size_t index;
	struct ibvbuf_trace_header header;
	struct ibvbuf_trace_device *devices;
	size_t device_count;
	struct ibvbuf_trace_module *modules;
	size_t module_count;
	uint64_t slots;
	uint64_t claimed;
	char *damage;
	uint64_t absent;
	uint64_t torn;
	uint64_t overwritten;
	uint64_t records;
	int fd;
	uint64_t size;
};

/* NULL if it cannot be read; then *problem says why, without the path. */
struct trace_file *trace_file_open(const char *path, char **problem);
void trace_file_close(struct trace_file *file);

/* Reads the counters and the tables again, of a file that may have grown. */
void trace_file_refresh(struct trace_file *file);

/* Nanoseconds since 1970, by the host's clock, of a time by CLOCK_MONOTONIC. */
uint64_t trace_file_realtime(const struct trace_file *file, uint64_t monotonic);

/* The device that a record names: "mlx5_0"; NULL for none, or one that is not listed. */
const char *trace_file_device(const struct trace_file *file, uint16_t device);

/* Records that the recorder says it dropped, for whatever reason. */
uint64_t trace_file_dropped(const struct trace_file *file);

/* Bytes that are there, at most `length`. */
size_t trace_file_read(const struct trace_file *file, uint64_t offset, void *to, size_t length);

#endif
