/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How long calls took: counts of durations, in classes whose width grows with the duration. What is
 * told from them is at most 2 % off, and takes the same space for any number of calls.
 */
#ifndef IBVBUF_TRACE_HISTOGRAM_H
#define IBVBUF_TRACE_HISTOGRAM_H

#include <stdint.h>

/* 64 classes of one nanosecond, then 32 to each doubling. */
#define HISTOGRAM_CLASSES (64 + 58 * 32)

struct histogram {
	uint64_t count;
	uint64_t sum;
	uint64_t least;
	uint64_t most;
	uint64_t classes[HISTOGRAM_CLASSES];
};

/* A histogram is empty when it is all zero. */
void histogram_add(struct histogram *histogram, uint64_t value);
/*
 * The smallest value that at least `share` of a thousand of all values do not exceed: 500 for the
 * median. 0 of an empty histogram. `share` is 1 to 1000.
 */
uint64_t histogram_permille(const struct histogram *histogram, unsigned int share);

#endif
