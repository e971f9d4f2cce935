/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a recorded process is called. */
#ifndef IBVBUF_TRACE_PROCESS_H
#define IBVBUF_TRACE_PROCESS_H

#include "trace_file.h"

#define PROCESS_TEXT_SIZE 400

/* The last part of its program's path. */
const char *process_program(const struct trace_file *file);
/* "ib_write_bw, process 4711 on node3, rank 0". Returns `text`. */
const char *process_text(const struct trace_file *file, char text[PROCESS_TEXT_SIZE]);

#endif
