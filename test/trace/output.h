/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a command of ibvbuf-trace prints. */
#ifndef IBVBUF_TEST_TRACE_OUTPUT_H
#define IBVBUF_TEST_TRACE_OUTPUT_H

#include "../../trace/command.h"

/* Of these arguments, ended by NULL: options and files. Until the next call. */
const char *output_of(const struct trace_command *command, ...) __attribute__((sentinel));

#endif
