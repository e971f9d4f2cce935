/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBVBUF_TRACE_MODULES_H
#define IBVBUF_TRACE_MODULES_H

#include "trace_file.h"

#include <stddef.h>
#include <stdint.h>

void trace_module_look(struct trace_file *file, uint64_t *set, size_t home, uint64_t address,
		       uint64_t now);

/**
 * trace_module_enter - enter the module of a place in the code into the table, unless it is there
 * @now: CLOCK_MONOTONIC, in nanoseconds
 *
 * Costs a load, or a few, where the place was seen before. Otherwise /proc/self/maps is read: no
 * lock is taken. Any thread, also in a signal handler. Preserves errno.
 */
static inline void trace_module_enter(struct trace_file *file, uint64_t address, uint64_t now)
{
	uint64_t hash = address ^ address >> 10;
	uint64_t *set = &file->known[hash % TRACE_KNOWN_SETS * TRACE_KNOWN_WAYS];
	size_t home = hash / TRACE_KNOWN_SETS % TRACE_KNOWN_WAYS;

	if (__builtin_expect(__atomic_load_n(&set[home], __ATOMIC_RELAXED) != address, 0))
		trace_module_look(file, set, home, address, now);
}

#endif
