/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The static probe (USDT) ibvbuf:call, where sys/sdt.h was there at build time: a note in the file,
 * a counter that bpftrace, perf or SystemTap raises while it is attached, and one instruction that
 * does nothing. It fires when a call has returned, whether or not a trace file is written.
 *
 *   arg0   the name of the function, a string
 *   arg1   address of the MR, domain or window; 0 if none was made
 *   arg2   bytes                          arg3   errno, or 0
 *   arg4   nanoseconds                    arg5   return address of the caller
 *   arg6   first byte                     arg7   address of the domain
 *   arg8   access bits                    arg9   file descriptor, or -1
 *   arg10  rkey                           arg11  handle of the buffer, or 0
 *
 * bpftrace can take the first six on x86-64.
 */
#ifndef IBVBUF_TRACE_PROBE_H
#define IBVBUF_TRACE_PROBE_H

#include "ibvbuf/trace.h"

#include <stdbool.h>

#if defined(__has_include)
#if __has_include(<sys/sdt.h>)
#define TRACE_PROBE
#endif
#endif

#ifdef TRACE_PROBE

/* sys/sdt.h wants this name. The section makes it one that no tool takes for data of ours. */
extern unsigned short ibvbuf_call_semaphore;

static inline bool trace_probe_is_attached(void)
{
	/* The tracer stores from outside of the program. */
	return __atomic_load_n(&ibvbuf_call_semaphore, __ATOMIC_RELAXED) != 0;
}

#else

static inline bool trace_probe_is_attached(void)
{
	return false;
}

#endif

/* Fire, if something is attached. */
void trace_probe_call(const char *function, const struct ibvbuf_trace_record *record);

#endif
