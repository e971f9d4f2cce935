/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the tests of the recorder share. Each test is a process of its own under the real preload,
 * over the stand-in of one generation; it traces itself, or a program that it starts.
 */
#ifndef RECORDER_TEST_H
#define RECORDER_TEST_H

#include "contract.h"
#include "device.h"
#include "ranges.h"
#include "reading.h"

#define RECORD_SIZE  sizeof(struct ibvbuf_trace_record)
#define SMALLEST     "64K"
#define IN_SMALLEST  ((64 << 10) / RECORD_SIZE)
#define FIRST_STEP   ((1 << 20) / RECORD_SIZE)
#define DEFAULT_SIZE (64 << 20)

/* Trace this process from here on, before its first call, into a file of its own. */
const char *trace_this_process(void);

/* What is in that file now. */
struct trace *trace_now(void);

/* The record of the call that was made last in this process: that call, and one record more than
 * there were when this was asked before. */
struct ibvbuf_trace_record next_record(enum ibvbuf_trace_call call);

/* Names of files in a directory, sorted, each followed by a space. */
const char *files_in(const char *directory);

#endif
