/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Numbers as people read them: three digits that count, and a unit. */
#ifndef IBVBUF_TRACE_UNITS_H
#define IBVBUF_TRACE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define UNITS_TEXT_SIZE 32

/* "512 B", "4 KiB", "1.5 GiB"; what is no multiple of 0.01 of the unit is rounded. */
void units_bytes(char text[UNITS_TEXT_SIZE], uint64_t bytes);
/* "950 ns", "12.3 us", "4.56 ms", "1.2 s", "3 min 20 s", "5 h 10 min". */
void units_time(char text[UNITS_TEXT_SIZE], uint64_t nanoseconds);
/* "1,234,567" */
void units_count(char text[UNITS_TEXT_SIZE], uint64_t count);

#endif
