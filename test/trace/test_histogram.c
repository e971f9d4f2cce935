// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Percentiles from classes, against those of the values themselves. */
#include "../../trace/histogram.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#define VALUES 100000u

static struct histogram histogram;
static uint64_t values[VALUES];
static uint64_t state = 88172645463325252u;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static int compare(const void *one, const void *other)
{
	const uint64_t first = *(const uint64_t *)one, second = *(const uint64_t *)other;

	return first < second ? -1 : first > second;
}

/* By the nearest rank. */
static uint64_t exact(unsigned int share)
{
	return values[((uint64_t)VALUES * share + 999) / 1000 - 1];
}

static void is_near(uint64_t have, uint64_t want)
{
	const uint64_t apart = have > want ? have - want : want - have;

	cr_assert_leq(apart, want / 50, "%lu instead of %lu", (unsigned long)have,
		      (unsigned long)want);
}

static void holds_for(uint64_t (*next)(void))
{
	static const unsigned int shares[] = {1, 10, 250, 500, 900, 990, 999, 1000};
	unsigned int i;

	memset(&histogram, 0, sizeof(histogram));
	for (i = 0; i < VALUES; i++) {
		values[i] = next();
		histogram_add(&histogram, values[i]);
	}
	qsort(values, VALUES, sizeof(values[0]), compare);
	for (i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		is_near(histogram_permille(&histogram, shares[i]), exact(shares[i]));
}

static uint64_t like_calls(void)
{
	return 200 + draw() % 3000 + (draw() % 100 ? 0 : draw() % 50000000);
}

static uint64_t of_every_size(void)
{
	return draw() >> draw() % 64;
}

Test(histogram, is_within_two_percent_for_durations_of_calls)
{
	holds_for(like_calls);
}

Test(histogram, is_within_two_percent_for_values_of_every_size)
{
	holds_for(of_every_size);
}

Test(histogram, is_exact_for_small_values)
{
	unsigned int i;

	for (i = 1; i <= 60; i++)
		histogram_add(&histogram, i);

	cr_assert_eq(histogram_permille(&histogram, 500), 30);
	cr_assert_eq(histogram_permille(&histogram, 1), 1);
	cr_assert_eq(histogram_permille(&histogram, 1000), 60);
}

Test(histogram, does_not_leave_the_range_of_what_was_added)
{
	histogram_add(&histogram, 1000001);

	cr_assert_eq(histogram_permille(&histogram, 1), 1000001);
	cr_assert_eq(histogram_permille(&histogram, 1000), 1000001);
}

Test(histogram, takes_the_largest_value)
{
	histogram_add(&histogram, 0);
	histogram_add(&histogram, UINT64_MAX);

	cr_assert_eq(histogram_permille(&histogram, 500), 0);
	is_near(histogram_permille(&histogram, 1000), UINT64_MAX);
	cr_assert_eq(histogram.most, UINT64_MAX);
}

Test(histogram, says_nothing_of_no_values)
{
	cr_assert_eq(histogram_permille(&histogram, 500), 0);
}
