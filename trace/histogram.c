// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "histogram.h"

static unsigned int class_of(uint64_t value)
{
	unsigned int shift;

	if (value < 64)
		return (unsigned int)value;
	/* the leading bit and the five after it: 32 to 63 */
	shift = 63 - (unsigned int)__builtin_clzll(value) - 5;
	return 64 + (shift - 1) * 32 + (unsigned int)(value >> shift) - 32;
}

/* The middle of a slot: at most half its width, a 64th of the value, from any of its values. */
static uint64_t value_of(unsigned int slot)
{
	unsigned int shift;

	if (slot < 64)
		return slot;
	shift = (slot - 64) / 32 + 1;
	return ((uint64_t)((slot - 64) % 32 + 32) << shift) + (UINT64_C(1) << (shift - 1));
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
	if (!histogram->count || value < histogram->least)
		histogram->least = value;
	if (value > histogram->most)
		histogram->most = value;
	histogram->count++;
	histogram->sum += value;
	histogram->classes[class_of(value)]++;
}

uint64_t histogram_permille(const struct histogram *histogram, unsigned int share)
{
	uint64_t wanted, seen = 0, value;
	unsigned int slot;

	if (!histogram->count)
		return 0;
	/* ceil(count * share / 1000), in parts, since the product may not fit */
	wanted = histogram->count / 1000 * share + (histogram->count % 1000 * share + 999) / 1000;
	for (slot = 0; slot < HISTOGRAM_CLASSES - 1; slot++) {
		seen += histogram->classes[slot];
		if (seen >= wanted)
			break;
	}
	value = value_of(slot);
	if (value < histogram->least)
		return histogram->least;
	return value < histogram->most ? value : histogram->most;
}
