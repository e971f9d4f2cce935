/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The records of one file, in the order in which their calls ended as well as a window of records
 * allows: calls take their number a moment after they have looked at the clock. It needs one block
 * of memory, however large the file is.
 */
#ifndef IBVBUF_TRACE_TRACE_READER_H
#define IBVBUF_TRACE_TRACE_READER_H

#include "trace_event.h"

struct trace_reader;

/*
 * `memory`: bytes that it may use, if they are enough for a few records. `follow`: records that are
 * not there yet are waited for, until trace_reader_resume() has been called once.
 */
struct trace_reader *trace_reader_open(struct trace_file *file, size_t memory, bool follow);
void trace_reader_close(struct trace_reader *reader);

/* False after the last one that is there now. What it points to is there until the next call. */
bool trace_reader_next(struct trace_reader *reader, struct trace_event *event);

/* Looks for what was recorded since. */
void trace_reader_resume(struct trace_reader *reader);

#endif
