/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which program or library a place in the code belongs to.
 *
 * The dynamic linker could tell, under a lock that another thread may hold while it opens a
 * library, and that a child may find held for ever by a thread that it does not have. The kernel
 * can tell as well.
 */
#ifndef IBVBUF_CODE_MODULE_H
#define IBVBUF_CODE_MODULE_H

#include "memory_map.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct code_module - a program or a library, as it is in memory
 * @start: where it begins
 * @bias: what its own addresses are more by
 * @end: one past its last address
 * @head_end: one past the mapping that begins it
 * @segments: its program headers, which are in that mapping
 * @segment_count: how many there are
 * @mapping: the one that holds the place, with the path
 */
struct code_module {
	uint64_t start;
	uint64_t bias;
	uint64_t end;
	uint64_t head_end;
	const ElfW(Phdr) * segments;
	size_t segment_count;
	struct memory_mapping mapping;
};

/**
 * code_module_find - the module that holds an address
 *
 * False if none does, as with code that was made at run time, and where there is no /proc. Any
 * thread, also in a signal handler; no lock, and no cancellation point. Preserves errno.
 */
bool code_module_find(struct code_module *module, uint64_t address);

#endif
