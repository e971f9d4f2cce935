/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the shim says, and where: on standard error or in the configured file, a line at a time.
 * Nothing here fails, waits for a lock or a reader, or raises a signal in the program; what cannot
 * be written is left out, the end of a line too. All preserve errno and may be called by any
 * thread.
 *
 * One exception: a pipe or a pseudoterminal that cannot be opened once more, for want of /proc, of
 * a descriptor or of the right to, is waited for if it turns out to have too little room after all.
 * While it is open, a child that another thread makes has it as well.
 */
#ifndef IBVBUF_REPORT_H
#define IBVBUF_REPORT_H

#include "text.h"

#include <stdint.h>

enum problem {
	PROBLEM_FREE_OF_FREED,
	PROBLEM_FREE_OF_FOREIGN,
	PROBLEM_REGISTER_OF_FREED,
	PROBLEM_REGISTER_OF_FOREIGN,
	PROBLEM_EXPORT_OF_FREED,
	PROBLEM_EXPORT_OF_FOREIGN,
	PROBLEM_DEALLOC_WITH_BUFFERS,
	PROBLEM_PROTECTED_MEMORY,
	PROBLEM_UDMABUF_LIMIT,
	PROBLEM_NO_HUGE_PAGES,
	PROBLEM_NO_DEVICE,
	PROBLEM_PROVIDER_LEFT_ALONE,
	PROBLEM_COUNT
};

/**
 * report_problem - say what is wrong; most kinds are said once
 * @problem: the kind
 * @value: what it is about: a handle, an address, a size
 * @caller: the place in the program, or NULL
 */
void report_problem(enum problem problem, uint64_t value, const void *caller);

/* Say that a device of the kernel for memory cannot be opened, and why; once. */
void report_no_device(const char *path, int error);

/* After the configuration was read: what it switched on, and with diagnostics = verbose the
 * library in use, and which calls it has of its own. */
void report_start(void);

void report_text(const struct text *text);

#endif
