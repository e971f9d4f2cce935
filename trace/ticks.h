/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Round places on an axis, and what stands there. */
#ifndef IBVBUF_TRACE_TICKS_H
#define IBVBUF_TRACE_TICKS_H

#include "units.h"

/**
 * struct ticks - places on an axis: 0 and all multiples of @step
 * @step: between two of them; at least 1
 * @unit: its size in what is measured
 * @unit_name: "MiB", "s"; "" for a count
 */
struct ticks {
	uint64_t step;
	uint64_t unit;
	const char *unit_name;
};

/* For a span of `span`, so that at most `most` steps fit into it. */
struct ticks ticks_of_bytes(uint64_t span, unsigned int most);
struct ticks ticks_of_count(uint64_t span, unsigned int most);
struct ticks ticks_of_nanoseconds(uint64_t span, unsigned int most);

/* "1.5 s", "256 MiB", "2,000"; 0 is "0". `value` is a multiple of the step. */
void ticks_label(const struct ticks *ticks, uint64_t value, char text[UNITS_TEXT_SIZE]);

#endif
