/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What traced_calls asks of a tracing_worker, which answers with nanoseconds a call, a double. */
#ifndef BENCH_TRACING_WORKER_H
#define BENCH_TRACING_WORKER_H

#include <stdint.h>

enum traced_call { TRACED_REG_MR, TRACED_DEREG_MR, TRACED_CALLS };

/**
 * struct burst - calls one after the other
 * @call: enum traced_call
 * @count: how many
 */
struct burst {
	uint32_t call;
	uint32_t count;
};

#endif
