// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "ticks.h"

#include <stdio.h>

#define SECOND UINT64_C(1000000000)
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)

/* The least of 1, 2 and 5 times a power of 10 that is no less than `least`. */
static uint64_t round_up(uint64_t least)
{
	static const unsigned int factors[] = {1, 2, 5};
	uint64_t power;
	unsigned int i;

	for (power = 1; power <= UINT64_MAX / 10; power *= 10) {
		for (i = 0; i < 3; i++) {
			if (factors[i] * power >= least)
				return factors[i] * power;
		}
	}
	return power;
}

static uint64_t least_step(uint64_t span, unsigned int most)
{
	return span / most + (span % most != 0);
}

struct ticks ticks_of_bytes(uint64_t span, unsigned int most)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	struct ticks ticks = {.step = 1, .unit = 1};
	uint64_t least = least_step(span, most);
	unsigned int unit = 0;

	while (ticks.step < least && ticks.step <= UINT64_MAX / 4)
		ticks.step *= 2;
	while (unit < 6 && span / ticks.unit >= 1024) {
		ticks.unit *= 1024;
		unit++;
	}
	ticks.unit_name = units[unit];
	return ticks;
}

struct ticks ticks_of_count(uint64_t span, unsigned int most)
{
	struct ticks ticks = {.step = round_up(least_step(span, most)), .unit = 1};

	ticks.unit_name = "";
	return ticks;
}

struct ticks ticks_of_nanoseconds(uint64_t span, unsigned int most)
{
	static const struct {
		const char *name;
		uint64_t size;
	} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", SECOND}};
	static const unsigned int minutes[] = {1, 2, 5, 10, 20, 30};
	uint64_t least = least_step(span, most);
	struct ticks ticks = {.step = round_up(least)};
	unsigned int i;

	if (span < 10 * MINUTE) {
		for (i = 0; i < 3 && span >= units[i + 1].size; i++)
			;
		ticks.unit = units[i].size;
		ticks.unit_name = units[i].name;
		return ticks;
	}
	ticks.unit = MINUTE;
	ticks.unit_name = "min";
	for (i = 0; i < 6; i++) {
		ticks.step = minutes[i] * MINUTE;
		if (ticks.step >= least)
			return ticks;
	}
	ticks.unit = HOUR;
	ticks.unit_name = "h";
	ticks.step = HOUR * round_up(least / HOUR + (least % HOUR != 0));
	return ticks;
}

void ticks_label(const struct ticks *ticks, uint64_t value, char text[UNITS_TEXT_SIZE])
{
	uint64_t part = ticks->step % ticks->unit;
	int decimals = 0;

	if (!value) {
		snprintf(text, UNITS_TEXT_SIZE, "0");
		return;
	}
	if (!*ticks->unit_name) {
		units_count(text, value);
		return;
	}
	/* as many digits as tell a step from the next one */
	while (decimals < 6 && part && part < UINT64_MAX / 10) {
		part = part * 10 % ticks->unit;
		decimals++;
	}
	snprintf(text, UNITS_TEXT_SIZE, "%.*f %s", decimals, (double)value / (double)ticks->unit,
		 ticks->unit_name);
}
