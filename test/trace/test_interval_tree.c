// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The tree against a list that is looked through from its start to its end. */
#include "../../trace/interval_tree.h"

#include <criterion/criterion.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MOST  200
#define STEPS 20000

static struct interval_tree tree;
static struct allowance plenty = {UINT64_MAX};
static struct interval *list[MOST];
static unsigned int count;
static uint64_t state;
/* Ranges lie within so many bytes: the fewer, the more of them share some. */
static uint64_t space;

static uint64_t draw(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

static void draw_range(uint64_t *start, uint64_t *end)
{
	*start = draw(space);
	*end = *start + 1 + draw(draw(8) ? 16 : space);
}

static bool overlaps(const struct interval *interval, uint64_t start, uint64_t end)
{
	return interval->start < end && interval->end > start;
}

static uint64_t covered(uint64_t start, uint64_t end)
{
	uint64_t bytes = 0, byte;
	unsigned int i;

	for (byte = start; byte < end; byte++) {
		for (i = 0; i < count && !overlaps(list[i], byte, byte + 1); i++)
			;
		bytes += i < count;
	}
	return bytes;
}

struct visits {
	uint64_t start;
	uint64_t end;
	uint64_t last;
	unsigned int count;
};

static void visit(struct interval *interval, void *context)
{
	struct visits *visits = context;

	cr_assert(overlaps(interval, visits->start, visits->end));
	cr_assert_geq(interval->start, visits->last);
	visits->last = interval->start;
	visits->count++;
}

static void agrees_on(uint64_t start, uint64_t end)
{
	struct visits visits = {.start = start, .end = end};
	struct interval *same = NULL, *first = NULL, *found;
	unsigned int overlapping = 0, i;
	uint64_t bytes;

	for (i = 0; i < count; i++) {
		if (!same && list[i]->start == start && list[i]->end == end)
			same = list[i];
		if (!overlaps(list[i], start, end))
			continue;
		overlapping++;
		if (!first || list[i]->start < first->start)
			first = list[i];
	}
	cr_assert_eq(interval_find_same(&tree, start, end), same);
	found = interval_find_overlap(&tree, start, end);
	cr_assert_eq(!found, !first);
	if (found)
		cr_assert(overlaps(found, start, end) && found->start == first->start);
	cr_assert(interval_covered(&tree, start, end, &plenty, &bytes));
	cr_assert_eq(bytes, covered(start, end));
	cr_assert(interval_each_overlap(&tree, start, end, &plenty, visit, &visits));
	cr_assert_eq(visits.count, overlapping);
}

static void add(void)
{
	struct interval *interval = calloc(1, sizeof(*interval));

	/* now and then the range of another one */
	if (count && !draw(4)) {
		interval->start = list[draw(count)]->start;
		interval->end = interval->start + 1 + draw(16);
	} else {
		draw_range(&interval->start, &interval->end);
	}
	interval_insert(&tree, interval);
	list[count++] = interval;
}

/* The list stays in the order of insertion, which tells which of equal ranges is found. */
static void take_away(void)
{
	const unsigned int which = (unsigned int)draw(count);

	interval_remove(&tree, list[which]);
	free(list[which]);
	count--;
	memmove(list + which, list + which + 1, (count - which) * sizeof(struct interval *));
}

static void agrees_with_a_list(uint64_t size, uint64_t seed)
{
	uint64_t start, end;
	unsigned int i;

	space = size;
	state = seed;
	for (i = 0; i < STEPS; i++) {
		if (count < MOST && (!count || draw(MOST) > count / 2))
			add();
		else
			take_away();
		draw_range(&start, &end);
		if (count && !draw(3)) {
			start = list[draw(count)]->start;
			end = list[draw(count)]->end;
		}
		if (start < end)
			agrees_on(start, end);
	}
	while (count)
		take_away();
	cr_assert_null(tree.root);
}

Test(interval_tree, agrees_with_a_list_where_few_ranges_meet)
{
	agrees_with_a_list(1000, 42);
}

Test(interval_tree, agrees_with_a_list_where_most_ranges_meet)
{
	agrees_with_a_list(40, 4711);
}

static unsigned int depth(const struct interval *node)
{
	unsigned int left, right;

	if (!node)
		return 0;
	left = depth(node->left);
	right = depth(node->right);
	return 1 + (left > right ? left : right);
}

Test(interval_tree, stays_flat_when_ranges_come_in_order)
{
	static struct interval intervals[100000];
	unsigned int i;

	for (i = 0; i < 100000; i++) {
		intervals[i].start = (uint64_t)i * 4096;
		intervals[i].end = intervals[i].start + 4096;
		interval_insert(&tree, &intervals[i]);
	}

	cr_assert_lt(depth(tree.root), 60);
}

Test(interval_tree, reaches_the_end_of_the_address_space)
{
	struct interval last = {.start = UINT64_MAX - 10, .end = UINT64_MAX};
	uint64_t bytes;

	interval_insert(&tree, &last);

	cr_assert_eq(interval_find_overlap(&tree, UINT64_MAX - 1, UINT64_MAX), &last);
	cr_assert_null(interval_find_overlap(&tree, 0, UINT64_MAX - 10));
	cr_assert(interval_covered(&tree, 0, UINT64_MAX, &plenty, &bytes));
	cr_assert_eq(bytes, 10);
}

/* Each begins a page behind the one before it, and ends far behind many others. */
static uint64_t steps_to_cover_in_turn(unsigned int most)
{
	static struct interval intervals[40000];
	const uint64_t before = plenty.steps;
	uint64_t bytes;
	unsigned int i;

	tree.root = NULL;
	for (i = 0; i < most; i++) {
		intervals[i].start = (uint64_t)i * 4096;
		intervals[i].end = intervals[i].start + (UINT64_C(1) << 40);
		cr_assert(interval_covered(&tree, intervals[i].start, intervals[i].end, &plenty,
					   &bytes));
		cr_assert_eq(bytes, i ? (UINT64_C(1) << 40) - 4096 : 0);
		interval_insert(&tree, &intervals[i]);
	}
	return before - plenty.steps;
}

Test(interval_tree, covers_a_range_in_few_steps_whatever_overlaps_there)
{
	const uint64_t steps = steps_to_cover_in_turn(10000);

	cr_assert_lt(steps_to_cover_in_turn(40000), 6 * steps);
}

static void count_seen(struct interval *interval, void *context)
{
	(void)interval;
	(*(unsigned int *)context)++;
}

Test(interval_tree, counts_what_it_has_steps_for)
{
	static struct interval intervals[1000];
	struct allowance few = {500};
	unsigned int seen = 0, i;
	uint64_t bytes;

	for (i = 0; i < 1000; i++) {
		intervals[i].start = (uint64_t)i * 4096;
		intervals[i].end = intervals[i].start + 1;
		interval_insert(&tree, &intervals[i]);
	}

	cr_assert_not(interval_covered(&tree, 0, UINT64_MAX, &few, &bytes));
	cr_assert_gt(bytes, 0);
	cr_assert_lt(bytes, 1000);
	cr_assert_not(interval_covered(&tree, 0, UINT64_MAX, &few, &bytes));
	cr_assert_eq(bytes, 0);
	few.steps = 500;
	cr_assert_not(interval_each_overlap(&tree, 0, UINT64_MAX, &few, count_seen, &seen));
	cr_assert_gt(seen, 0);
	cr_assert_lt(seen, 1000);
}
