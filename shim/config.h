/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBVBUF_CONFIG_H
#define IBVBUF_CONFIG_H

#include "backing.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define TRACE_STACK_MAX 64

enum diagnostics { DIAGNOSTICS_OFF, DIAGNOSTICS_MISUSE, DIAGNOSTICS_VERBOSE };

/**
 * struct config - what the user chose; the keys of ibvbuf-preload.conf(5) have the same names
 * @diagnostics: how much is said
 * @diagnostics_file: where, or empty for standard error
 * @transparent_huge_pages: whether buffers of 2 MiB and more ask for huge pages
 * @keep_small_buffers: whether memory of freed buffers of up to 64 KiB is kept for the next ones
 * @backing: what the buffers of ordinary domains are made of
 * @cc_heap: the heap that stands for system_cc_shared, or empty for that one itself
 * @cc_rehearsal: whether every device is to look like one in a confidential guest
 * @trace: the pattern of the trace file's name, or empty for no trace
 * @trace_limit: bytes of records that a trace file holds
 * @trace_keep: what is kept when it is full, enum ibvbuf_trace_keep
 * @trace_stack: return addresses of a record, up to TRACE_STACK_MAX
 */
struct config {
	enum diagnostics diagnostics;
	char diagnostics_file[PATH_MAX];
	bool transparent_huge_pages;
	bool keep_small_buffers;
	struct backing_choice backing;
	char cc_heap[NAME_MAX + 1];
	bool cc_rehearsal;
	char trace[PATH_MAX];
	size_t trace_limit;
	unsigned int trace_keep;
	unsigned int trace_stack;
};

extern const struct config *config_current;
const struct config *config_read(void);

/**
 * config_get - the configuration, read at the first call
 *
 * Any thread. Never NULL. Preserves errno.
 */
static inline const struct config *config_get(void)
{
	/* acquire: pairs with the release in config_read() */
	const struct config *config = __atomic_load_n(&config_current, __ATOMIC_ACQUIRE);

	return __builtin_expect(config != NULL, 1) ? config : config_read();
}

#endif
