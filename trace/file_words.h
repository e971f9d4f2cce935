/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is in a file, for people to read. */
#ifndef IBVBUF_TRACE_FILE_WORDS_H
#define IBVBUF_TRACE_FILE_WORDS_H

#include "trace_file.h"

/*
 * The text with a "?" for each byte that a terminal may take for an order; UTF-8 stays. It is there
 * until the fourth call after this one.
 */
const char *printable(const char *text);

#define TIME_WORDS_SIZE 64
/* "2026-03-01 12:00:00.123456789 +0100", in the local time zone. Returns `words`. */
const char *time_words(uint64_t realtime, char words[TIME_WORDS_SIZE]);

/* A line, without its end: "host node1, process 4711 (program), rank 3, since ...". */
void print_file_line(const struct trace_file *file);

#endif
