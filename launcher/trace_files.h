/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The trace files of a program that is started: what they are called, and which there are. */
#ifndef IBVBUF_LAUNCHER_TRACE_FILES_H
#define IBVBUF_LAUNCHER_TRACE_FILES_H

#include <stdint.h>

#include "string_list.h"

/* What a file is called where only a folder is named. */
#define TRACE_FILE_NAME "%e-%p.ibvtrace"

/* A pattern from the root: of a file, or of those in a folder. */
char *trace_files_pattern(const char *file);
/* The pattern of a new folder that only this user may enter. */
char *trace_files_private(void);
/* Take that folder away, and the files of that pattern in it. */
void trace_files_remove(const char *pattern);

/* CLOCK_MONOTONIC, in nanoseconds. */
uint64_t trace_files_now(void);
/* The files of that pattern that were made on this host from that time on, the first one first. */
struct string_list trace_files_find(const char *pattern, uint64_t since);

#endif
