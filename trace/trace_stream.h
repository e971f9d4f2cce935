/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The records of many files, merged by the host's clock at which their calls ended. */
#ifndef IBVBUF_TRACE_TRACE_STREAM_H
#define IBVBUF_TRACE_TRACE_STREAM_H

#include "trace_event.h"

struct trace_stream;

/*
 * From the first record that is still there. The files stay the caller's. `follow`: as of
 * trace_reader_open().
 */
struct trace_stream *trace_stream_open(struct trace_file *const *files, size_t count, bool follow);
void trace_stream_close(struct trace_stream *stream);

/*
 * False at the end. What was absent or torn is counted in the files meanwhile. What the event
 * points to is there until the next call.
 */
bool trace_stream_next(struct trace_stream *stream, struct trace_event *event);

/* After the end: looks for what was recorded since; trace_stream_next() goes on with it. */
void trace_stream_resume(struct trace_stream *stream);

#endif
