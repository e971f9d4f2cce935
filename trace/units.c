// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Three digits that count, without zeros at the end of a fraction. */
static void print_scaled(char text[UNITS_TEXT_SIZE], double value, const char *unit)
{
	int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
	char number[UNITS_TEXT_SIZE / 2];
	size_t length;

	snprintf(number, sizeof(number), "%.*f", decimals, value);
	if (decimals) {
		length = strlen(number);
		while (length && number[length - 1] == '0')
			length--;
		if (length && number[length - 1] == '.')
			length--;
		number[length] = '\0';
	}
	snprintf(text, UNITS_TEXT_SIZE, "%s %s", number, unit);
}

void units_bytes(char text[UNITS_TEXT_SIZE], uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes;
	unsigned int unit = 0;

	/* 1023.6 would become "1024" */
	while (value >= (unit ? 1023.5 : 1024)) {
		value /= 1024;
		unit++;
	}
	print_scaled(text, value, units[unit]);
}

void units_time(char text[UNITS_TEXT_SIZE], uint64_t nanoseconds)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	double value = (double)nanoseconds;
	uint64_t seconds;
	unsigned int unit = 0;

	if (nanoseconds >= UINT64_C(99500000000)) {
		seconds = nanoseconds / 1000000000 + (nanoseconds % 1000000000 >= 500000000);
		if (seconds < 3600)
			snprintf(text, UNITS_TEXT_SIZE, "%" PRIu64 " min %" PRIu64 " s",
				 seconds / 60, seconds % 60);
		else
			snprintf(text, UNITS_TEXT_SIZE, "%" PRIu64 " h %" PRIu64 " min",
				 seconds / 3600, seconds % 3600 / 60);
		return;
	}
	while (unit < 3 && value >= 999.5) {
		value /= 1000;
		unit++;
	}
	print_scaled(text, value, units[unit]);
}

void units_count(char text[UNITS_TEXT_SIZE], uint64_t count)
{
	char digits[24];
	size_t length, i;

	length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count);
	for (i = 0; i < length; i++) {
		*text++ = digits[i];
		if (i + 1 < length && (length - i - 1) % 3 == 0)
			*text++ = ',';
	}
	*text = '\0';
}
