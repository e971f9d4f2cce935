/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBVBUF_TRACE_CLOCK_H
#define IBVBUF_TRACE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of a clock that the C library reads without a system call. */
static inline uint64_t trace_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif
