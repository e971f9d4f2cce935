/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which device a domain belongs to, so that a record can name it: also for a call that failed,
 * whose domain may be no domain at all, and is therefore not looked into.
 */
#ifndef IBVBUF_TRACE_DEVICES_H
#define IBVBUF_TRACE_DEVICES_H

#include "trace_file.h"

#include <infiniband/verbs.h>
#include <stdint.h>

/* The call that made the domain was successful. Any thread. Preserves errno. */
void trace_domain_made(const struct ibv_pd *pd);

/* Before the call that deallocates it: after it, another may lie there. Any thread. */
void trace_domain_gone(const struct ibv_pd *pd);

/**
 * struct trace_device_answer - the domain that a thread asked for last
 * @pd: it
 * @changes: trace_device_changes at that time
 * @number: what the answer was
 *
 * A program registers in one domain for the most part. Only a call that is recorded asks, and no
 * other interrupts it.
 */
struct trace_device_answer {
	const struct ibv_pd *pd;
	uint64_t changes;
	uint16_t number;
};

/* Behind trace_device_of(). */
extern uint64_t trace_device_changes;
extern __thread struct trace_device_answer trace_device_last
	__attribute__((tls_model("initial-exec")));
uint16_t trace_device_find(const struct ibv_pd *pd);

/**
 * trace_device_of - a domain's device
 * @pd: any value
 *
 * Its number in this process, from 0 on, or IBVBUF_TRACE_NO_DEVICE. Any thread. From TRACE_DEVICES
 * on, no file has room for it.
 */
static inline uint16_t trace_device_of(const struct ibv_pd *pd)
{
	/* acquire: pairs with the release in change() */
	uint64_t now = __atomic_load_n(&trace_device_changes, __ATOMIC_ACQUIRE);

	if (__builtin_expect(pd == trace_device_last.pd && now == trace_device_last.changes, 1))
		return trace_device_last.number;
	return trace_device_find(pd);
}

/* The same of a device that is open. */
uint16_t trace_device_number(const struct ibv_context *context);

void trace_device_store(struct trace_file *file, uint16_t number);

/* Behind trace_device_enter(). */
uint16_t trace_device_count_unlisted(struct trace_file *file, uint16_t number);

/**
 * trace_device_enter - enter a device into the table of the file, unless it is there
 * @number: of it, or IBVBUF_TRACE_NO_DEVICE
 *
 * Its entry, or IBVBUF_TRACE_NO_DEVICE. One without room is counted, once a file. Any thread.
 */
static inline uint16_t trace_device_enter(struct trace_file *file, uint16_t number)
{
	if (number >= TRACE_DEVICES)
		return trace_device_count_unlisted(file, number);
	if (!__atomic_load_n(&file->devices[number].state, __ATOMIC_RELAXED))
		trace_device_store(file, number);
	return number;
}

#endif
