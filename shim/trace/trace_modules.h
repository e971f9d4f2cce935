/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBVBUF_TRACE_MODULES_H
#define IBVBUF_TRACE_MODULES_H

#include "trace_file.h"

#include <stdint.h>

void trace_module_find(struct trace_file *file, uint64_t address, uint64_t now);

/**
 * trace_module_enter - enter the module of a place in the code into the table, unless it is there
 * @now: CLOCK_MONOTONIC, in nanoseconds
 *
 * Costs a load where the place was seen before. Otherwise it takes the lock of the dynamic linker's
 * list of objects, which is held for moments only: not while an object is loaded or initialized.
 * Any thread. Preserves errno.
 */
static inline void trace_module_enter(struct trace_file *file, uint64_t address, uint64_t now)
{
	uint64_t hash = address ^ address >> 10;
	uint64_t *known = &file->known[hash % TRACE_KNOWN_SETS * TRACE_KNOWN_WAYS];
	size_t i, place = hash / TRACE_KNOWN_SETS % TRACE_KNOWN_WAYS;

	for (i = 0; i < TRACE_KNOWN_WAYS; i++)
		if (__atomic_load_n(&known[i], __ATOMIC_RELAXED) == address)
			return;
	trace_module_find(file, address, now);
	/* In an empty place, or in that of another, to be looked up again. */
	for (i = 0; i < TRACE_KNOWN_WAYS; i++)
		if (!__atomic_load_n(&known[i], __ATOMIC_RELAXED))
			place = i;
	__atomic_store_n(&known[place], address, __ATOMIC_RELAXED);
}

#endif
