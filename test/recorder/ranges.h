/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Ranges that are registered where a record's fields have to tell whether they belong together. */
#ifndef RECORDER_RANGES_H
#define RECORDER_RANGES_H

#include <stdint.h>

/* A thread's call: an address that nothing is at, since the stand-in looks at no memory. */
static inline uint64_t range_address(uint32_t thread, uint32_t call)
{
	return ((uint64_t)(thread + 1) << 40) + ((uint64_t)call << 8);
}

static inline uint64_t range_length(uint64_t address)
{
	return (address >> 8) * 0x9e3779b9 % 100003 + 1;
}

static inline uint32_t range_thread(uint64_t address)
{
	return (uint32_t)(address >> 40) - 1;
}

static inline uint32_t range_call(uint64_t address)
{
	return (uint32_t)(address >> 8);
}

#endif
