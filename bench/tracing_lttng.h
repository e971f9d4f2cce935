/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* LTTng-UST's events with the fields of a trace record; it reads this file more than once. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER ibvbuf_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tracing_lttng.h"

#if !defined(BENCH_TRACING_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_TRACING_LTTNG_H

#include "ibvbuf/trace.h"

#include <lttng/tracepoint.h>

// clang-format off
LTTNG_UST_TRACEPOINT_EVENT(ibvbuf_bench, begin,
	LTTNG_UST_TP_ARGS(uint16_t, which),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint16_t, call, which)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(ibvbuf_bench, call,
	LTTNG_UST_TP_ARGS(const struct ibvbuf_trace_record *, record),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, thread, record->thread)
		lttng_ust_field_integer(uint16_t, call, record->call)
		lttng_ust_field_integer(int32_t, error, record->error)
		lttng_ust_field_integer(uint16_t, device, record->device)
		lttng_ust_field_integer(uint16_t, backing, record->backing)
		lttng_ust_field_integer_hex(uint64_t, pd, record->pd)
		lttng_ust_field_integer_hex(uint64_t, object, record->object)
		lttng_ust_field_integer_hex(uint64_t, buffer, record->buffer)
		lttng_ust_field_integer_hex(uint64_t, address, record->address)
		lttng_ust_field_integer(uint64_t, length, record->length)
		lttng_ust_field_integer_hex(uint64_t, iova, record->iova)
		lttng_ust_field_integer(uint64_t, offset, record->offset)
		lttng_ust_field_integer(int32_t, fd, record->fd)
		lttng_ust_field_integer_hex(uint32_t, access, record->access)
		lttng_ust_field_integer_hex(uint32_t, lkey, record->lkey)
		lttng_ust_field_integer_hex(uint32_t, rkey, record->rkey)
		lttng_ust_field_integer_hex(uint32_t, mask, record->mask)
		lttng_ust_field_integer(uint32_t, handle, record->handle)
		lttng_ust_field_integer_hex(uint64_t, caller, record->caller)
	)
)
// clang-format on

#endif

#include <lttng/tracepoint-event.h>
