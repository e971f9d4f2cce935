/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Why a call failed, in words, as far as the record and what lived at the time tell. */
#ifndef IBVBUF_TRACE_FAILURES_H
#define IBVBUF_TRACE_FAILURES_H

#include "live_objects.h"

/**
 * struct failure_cause - why calls fail
 * @name: of one word: "memlock"
 * @why: what the answer means, as a sentence
 * @remedy: what to do, as a sentence, or NULL where @why says it
 */
struct failure_cause {
	const char *name;
	const char *why;
	const char *remedy;
};

/**
 * struct failure_facts - what is known at the time of a failed call
 * @domain: that the call was given, or NULL if that is not known
 * @buffer: that was given or that the range begins in, or NULL
 * @mr: that was given, or NULL
 * @mrs: that live in the process
 */
struct failure_facts {
	const struct live_object *domain;
	const struct live_object *buffer;
	const struct live_object *mr;
	uint64_t mrs;
};

/* The likely cause. The same cause is the same pointer. Never NULL. */
const struct failure_cause *failure_cause_of(const struct ibvbuf_trace_record *record,
					     const struct failure_facts *facts);

/* Of a failed probe (event_probes()): whether it tells that DMA-bufs can be registered. */
bool failure_probe_supported(int32_t error);

#endif
