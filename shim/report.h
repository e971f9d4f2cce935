/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the shim says, and where: on standard error or in the configured file, a line at a time.
 * Nothing here fails, waits, or raises a signal in the program; what cannot be written is left out.
 * All preserve errno and may be called by any thread.
 */
#ifndef IBVBUF_REPORT_H
#define IBVBUF_REPORT_H

#include "text.h"

enum misuse {
	MISUSE_FREE_OF_FREED,
	MISUSE_FREE_OF_FOREIGN,
	MISUSE_REGISTER_OF_FREED,
	MISUSE_REGISTER_OF_FOREIGN,
	MISUSE_EXPORT_OF_FREED,
	MISUSE_EXPORT_OF_FOREIGN,
	MISUSE_COUNT
};

/**
 * report_misuse - say, once a kind, that the program used a handle wrongly
 * @misuse: the kind
 * @handle: the value that it used
 * @caller: where it called from
 */
void report_misuse(enum misuse misuse, const void *handle, const void *caller);

/* With diagnostics = verbose: the library in use, and which calls it has of its own. */
void report_calls(void);

void report_text(const struct text *text);

#endif
