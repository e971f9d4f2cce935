/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Recording a call: trace_begin() before it, trace_returned() and trace_end() after it. The calls
 * that it makes in its turn, in the same thread, are a part of it and are not recorded.
 *
 * In between, who traces fills in what is known: of a call that takes something away before it, of
 * one that makes something after it, since addresses are used again.
 */
#ifndef IBVBUF_RECORDER_H
#define IBVBUF_RECORDER_H

#include "config.h"
#include "probe.h"
#include "trace_clock.h"

#include "ibvbuf/trace.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct trace_call - a call that is under way
 * @is_counted: whether calls within it are told from it
 * @is_recorded: whether @record is wanted
 * @saved_errno: what the call left there
 * @record: what is known of it, if it is wanted
 */
struct trace_call {
	bool is_counted;
	bool is_recorded;
	int saved_errno;
	struct ibvbuf_trace_record record;
};

void recorder_begin(struct trace_call *call, enum ibvbuf_trace_call which, const void *caller);
void recorder_end(struct trace_call *call);

/**
 * trace_begin - a call begins
 * @caller: its return address
 *
 * Any thread. Preserves errno.
 */
static inline void trace_begin(struct trace_call *call, enum ibvbuf_trace_call which,
			       const void *caller)
{
	call->is_counted = *config_get()->trace || trace_probe_is_attached();
	call->is_recorded = false;
	if (__builtin_expect(call->is_counted, 0))
		recorder_begin(call, which, caller);
}

/**
 * trace_returned - the call has returned; stops its clock
 *
 * Whether its record is wanted. From here until trace_end(), errno may change.
 */
static inline bool trace_returned(struct trace_call *call)
{
	if (__builtin_expect(!call->is_recorded, 1))
		return false;
	call->saved_errno = errno;
	call->record.duration = trace_clock(CLOCK_MONOTONIC) - call->record.time;
	return true;
}

/**
 * trace_end - the record is complete; wanted of every call that has begun
 *
 * Any thread. Brings errno back to what the call left.
 */
static inline void trace_end(struct trace_call *call)
{
	if (__builtin_expect(call->is_counted, 0))
		recorder_end(call);
}

#endif
