// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "interval_tree.h"

#include <stddef.h>

/* Equal ranges are in the order in which they were inserted. */
static bool before(const struct interval *one, const struct interval *other)
{
	if (one->start != other->start)
		return one->start < other->start;
	if (one->end != other->end)
		return one->end < other->end;
	return one->serial < other->serial;
}

static void update(struct interval *node)
{
	node->largest_end = node->end;
	if (node->left && node->left->largest_end > node->largest_end)
		node->largest_end = node->left->largest_end;
	if (node->right && node->right->largest_end > node->largest_end)
		node->largest_end = node->right->largest_end;
}

/* Those before `pivot` to `left`, those after it to `right`. */
static void split(struct interval *node, const struct interval *pivot, struct interval **left,
		  struct interval **right)
{
	if (!node) {
		*left = NULL;
		*right = NULL;
	} else if (before(node, pivot)) {
		*left = node;
		split(node->right, pivot, &node->right, right);
		update(node);
	} else {
		*right = node;
		split(node->left, pivot, left, &node->left);
		update(node);
	}
}

/* All of `left` lie before all of `right`. */
static struct interval *merge(struct interval *left, struct interval *right)
{
	if (!left)
		return right;
	if (!right)
		return left;
	if (left->priority > right->priority) {
		left->right = merge(left->right, right);
		update(left);
		return left;
	}
	right->left = merge(left, right->left);
	update(right);
	return right;
}

/* splitmix64's last steps: serials in order become priorities in none. */
static uint32_t scramble(uint64_t serial)
{
	serial *= UINT64_C(0x9e3779b97f4a7c15);
	serial = (serial ^ (serial >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	serial = (serial ^ (serial >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)(serial >> 32);
}

void interval_insert(struct interval_tree *tree, struct interval *interval)
{
	struct interval **link = &tree->root;

	interval->serial = ++tree->inserted;
	interval->priority = scramble(interval->serial);
	while (*link && (*link)->priority >= interval->priority) {
		if ((*link)->largest_end < interval->end)
			(*link)->largest_end = interval->end;
		link = before(interval, *link) ? &(*link)->left : &(*link)->right;
	}
	split(*link, interval, &interval->left, &interval->right);
	update(interval);
	*link = interval;
}

static struct interval *without(struct interval *node, const struct interval *interval)
{
	if (node == interval)
		return merge(node->left, node->right);
	if (before(interval, node))
		node->left = without(node->left, interval);
	else
		node->right = without(node->right, interval);
	/* if it is another's, it stays what it was */
	if (node->largest_end == interval->end)
		update(node);
	return node;
}

void interval_remove(struct interval_tree *tree, struct interval *interval)
{
	tree->root = without(tree->root, interval);
}

struct interval *interval_find_same(const struct interval_tree *tree, uint64_t start, uint64_t end)
{
	const struct interval wanted = {.start = start, .end = end};
	struct interval *node = tree->root, *found = NULL;

	while (node) {
		if (before(node, &wanted)) {
			node = node->right;
			continue;
		}
		found = node;
		node = node->left;
	}
	return found && found->start == start && found->end == end ? found : NULL;
}

struct interval *interval_find_overlap(const struct interval_tree *tree, uint64_t start,
				       uint64_t end)
{
	struct interval *node = tree->root;

	while (node) {
		/* If anything to the left ends behind `start`, the first that overlaps is there or
		 * nowhere: what ends so late and does not overlap begins at `end` or later, and so
		 * does the rest. */
		if (node->left && node->left->largest_end > start)
			node = node->left;
		else if (node->start >= end)
			return NULL;
		else if (node->end > start)
			return node;
		else
			node = node->right;
	}
	return NULL;
}

/*
 * From one end to the next: of those that begin no later than what was reached, the one that ends
 * last; and where there is none, on to the next start. So of many that overlap only those are
 * looked at that are needed to cover the range.
 */
bool interval_covered(const struct interval_tree *tree, uint64_t start, uint64_t end,
		      struct allowance *allowance, uint64_t *bytes)
{
	uint64_t farthest, next;
	const struct interval *node;

	*bytes = 0;
	while (start < end) {
		farthest = start;
		next = end;
		for (node = tree->root; node;) {
			if (!allowance_spend(allowance))
				return false;
			if (node->start > start) {
				next = node->start;
				node = node->left;
				continue;
			}
			if (node->left && node->left->largest_end > farthest)
				farthest = node->left->largest_end;
			if (node->end > farthest)
				farthest = node->end;
			node = node->right;
		}
		if (farthest > end)
			farthest = end;
		*bytes += farthest - start;
		start = farthest > start ? farthest : next;
	}
	return true;
}

struct visitor {
	uint64_t start;
	uint64_t end;
	struct allowance *allowance;
	void (*visit)(struct interval *interval, void *context);
	void *context;
};

static bool visit_overlaps(struct interval *node, const struct visitor *visitor)
{
	if (!node || node->largest_end <= visitor->start)
		return true;
	if (!allowance_spend(visitor->allowance) || !visit_overlaps(node->left, visitor))
		return false;
	if (node->start >= visitor->end)
		return true;
	if (node->end > visitor->start)
		visitor->visit(node, visitor->context);
	return visit_overlaps(node->right, visitor);
}

bool interval_each_overlap(const struct interval_tree *tree, uint64_t start, uint64_t end,
			   struct allowance *allowance,
			   void (*visit)(struct interval *interval, void *context), void *context)
{
	const struct visitor visitor = {start, end, allowance, visit, context};

	return start >= end || visit_overlaps(tree->root, &visitor);
}
