// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Numbers in words, and what stands at the axes of a plot. */
#include "../../trace/ticks.h"

#include <criterion/criterion.h>

#define KIB    UINT64_C(1024)
#define SECOND UINT64_C(1000000000)

static void bytes_are(uint64_t bytes, const char *want)
{
	char text[UNITS_TEXT_SIZE];

	units_bytes(text, bytes);
	cr_assert_str_eq(text, want);
}

static void time_is(uint64_t nanoseconds, const char *want)
{
	char text[UNITS_TEXT_SIZE];

	units_time(text, nanoseconds);
	cr_assert_str_eq(text, want);
}

static void count_is(uint64_t count, const char *want)
{
	char text[UNITS_TEXT_SIZE];

	units_count(text, count);
	cr_assert_str_eq(text, want);
}

Test(units, bytes_have_three_digits_and_a_unit)
{
	bytes_are(0, "0 B");
	bytes_are(1023, "1023 B");
	bytes_are(1024, "1 KiB");
	bytes_are(1536, "1.5 KiB");
	bytes_are(12345, "12.1 KiB");
	bytes_are(KIB * KIB - 1, "1 MiB");
	bytes_are(KIB * KIB * 1000, "1000 MiB");
	bytes_are(UINT64_MAX, "16 EiB");
}

Test(units, times_have_three_digits_and_a_unit)
{
	time_is(0, "0 ns");
	time_is(999, "999 ns");
	time_is(1000, "1 us");
	time_is(12345, "12.3 us");
	time_is(999999, "1 ms");
	time_is(1500000000, "1.5 s");
	time_is(99400000000, "99.4 s");
	time_is(99600000000, "1 min 40 s");
	time_is(3600 * SECOND, "1 h 0 min");
	time_is(UINT64_MAX, "5124095 h 34 min");
}

Test(units, counts_are_in_groups_of_three)
{
	count_is(0, "0");
	count_is(999, "999");
	count_is(1000, "1,000");
	count_is(1234567, "1,234,567");
	count_is(UINT64_MAX, "18,446,744,073,709,551,615");
}

static void ticks_are(struct ticks ticks, uint64_t step, const char *first, const char *second)
{
	char text[UNITS_TEXT_SIZE];

	cr_assert_eq(ticks.step, step);
	ticks_label(&ticks, step, text);
	cr_assert_str_eq(text, first);
	ticks_label(&ticks, 2 * step, text);
	cr_assert_str_eq(text, second);
}

Test(ticks, of_bytes_are_powers_of_two)
{
	ticks_are(ticks_of_bytes(100, 5), 32, "32 B", "64 B");
	ticks_are(ticks_of_bytes(2300 * KIB * KIB, 5), 512 * KIB * KIB, "0.5 GiB", "1.0 GiB");
	ticks_are(ticks_of_bytes(64 * KIB * KIB * KIB, 5), 16 * KIB * KIB * KIB, "16 GiB",
		  "32 GiB");
}

Test(ticks, of_counts_are_round)
{
	ticks_are(ticks_of_count(5, 3), 2, "2", "4");
	ticks_are(ticks_of_count(5432, 3), 2000, "2,000", "4,000");
}

Test(ticks, of_times_are_round_in_their_unit)
{
	ticks_are(ticks_of_nanoseconds(700, 8), 100, "100 ns", "200 ns");
	ticks_are(ticks_of_nanoseconds(2170000, 8), 500000, "0.5 ms", "1.0 ms");
	ticks_are(ticks_of_nanoseconds(574 * SECOND, 8), 100 * SECOND, "100 s", "200 s");
	ticks_are(ticks_of_nanoseconds(45 * 60 * SECOND, 8), 600 * SECOND, "10 min", "20 min");
	ticks_are(ticks_of_nanoseconds(8 * 3600 * SECOND, 8), 3600 * SECOND, "1 h", "2 h");
	ticks_are(ticks_of_nanoseconds(30 * 3600 * SECOND, 8), 5 * 3600 * SECOND, "5 h", "10 h");
}

Test(ticks, are_not_more_than_asked_for)
{
	struct ticks ticks;
	uint64_t span;

	for (span = 1; span < UINT64_MAX / 3; span = span * 2 + span / 3 + 1) {
		ticks = ticks_of_bytes(span, 5);
		cr_assert_leq(span / ticks.step, 5);
		ticks = ticks_of_nanoseconds(span, 8);
		cr_assert_leq(span / ticks.step, 8);
		ticks = ticks_of_count(span, 3);
		cr_assert_leq(span / ticks.step, 3);
	}
}
