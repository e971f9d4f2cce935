/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The records of one file, in the order in which their calls ended, as well as a window of
 * TRACE_READER_WINDOW records allows. It needs one block of memory, however large the file is.
 */
#ifndef IBVBUF_TRACE_TRACE_READER_H
#define IBVBUF_TRACE_TRACE_READER_H

#include "trace_event.h"

#define TRACE_READER_WINDOW 64

struct trace_reader;

/* `memory`: bytes that it may use, if that is enough for a few records. */
struct trace_reader *trace_reader_open(struct trace_file *file, size_t memory);
void trace_reader_close(struct trace_reader *reader);

/* False after the last one that is there now. */
bool trace_reader_next(struct trace_reader *reader, struct trace_event *event);

/*
 * Looks for what was recorded since. A record that is not there yet is waited for: the first time
 * that it is met, trace_reader_next() ends before it; the second time it is passed over.
 */
void trace_reader_resume(struct trace_reader *reader);

#endif
