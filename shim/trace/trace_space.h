/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Space for records: asked for a step at a time, and opened to stores when it is there. What has
 * none yet cannot be touched, by mistake or by a tool that looks at all memory.
 */
#ifndef IBVBUF_TRACE_SPACE_H
#define IBVBUF_TRACE_SPACE_H

#include "trace_file.h"

#include <fcntl.h>

/* Bytes of records that space is asked for at a time. */
#define TRACE_STEP ((uint64_t)1 << 20)

/* How a trace file is opened: what has to be written to have space is appended. */
#define TRACE_FILE_FLAGS (O_RDWR | O_APPEND | O_NOFOLLOW)

/* Where so many slots end in the file. */
uint64_t trace_space_end(const struct ibvbuf_trace_header *header, uint64_t slots);

/* Slots of a step. */
uint64_t trace_space_step(const struct ibvbuf_trace_header *header);

/**
 * trace_space_take - space on the disk for a part of a file
 * @start: its first byte, up to which there is space
 * @end: one past its last byte
 * @is_filled: whether the file system cannot be asked, so that it is written; found out here
 *
 * 0, or the errno of the refusal. Raises no signal. Any thread.
 */
int trace_space_take(int fd, uint64_t start, uint64_t end, bool *is_filled);

/* Let a part of a mapping that has space be stored to; 0 or an errno. */
int trace_space_open(void *mapped, uint64_t start, uint64_t end);

/**
 * trace_space_extend - ask for a step of space more
 * @now: CLOCK_MONOTONIC, in nanoseconds
 * @is_ahead: whether there is enough for the record at hand
 *
 * Where there was none, it is asked for again after a second. Any thread. Preserves errno.
 */
void trace_space_extend(struct trace_file *file, uint64_t now, bool is_ahead);

#endif
