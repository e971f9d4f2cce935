/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether the process that writes a trace file is still there. */
#ifndef IBVBUF_TRACE_TRACED_PROCESS_H
#define IBVBUF_TRACE_TRACED_PROCESS_H

#include "trace_file.h"

#include <sys/types.h>

/**
 * struct traced_process - the writer of a file
 * @process: as it is called here: in a container it may have another number; 0 if it was never seen
 */
struct traced_process {
	const struct trace_file *file;
	pid_t process;
};

/*
 * Whether it runs here and has the number that it had. That is found out faster, but does not see
 * into containers.
 */
bool traced_process_is_here(const struct trace_file *file);

void traced_process_find(struct traced_process *process, const struct trace_file *file);

/*
 * False once nobody has the file mapped any more: the process ended, or became another program. Of
 * a process that was never seen and is of another host, it cannot be known: true.
 */
bool traced_process_runs(struct traced_process *process);

#endif
