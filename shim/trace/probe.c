// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "probe.h"

#ifdef TRACE_PROBE

#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

__attribute__((section(".probes"))) unsigned short ibvbuf_call_semaphore;

void trace_probe_call(const char *function, const struct ibvbuf_trace_record *record)
{
	DTRACE_PROBE12(ibvbuf, call, function, record->object, record->length, record->error,
		       record->duration, record->caller, record->address, record->pd,
		       record->access, record->fd, record->rkey, record->buffer);
}

#else

void trace_probe_call(const char *function, const struct ibvbuf_trace_record *record)
{
	(void)function;
	(void)record;
}

#endif
