/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Ranges of addresses, and which of them share bytes with a given one. The caller owns the nodes. A
 * treap whose nodes know the largest end below them: insertion, removal and searches for one take
 * about log(n) steps whatever the ranges are. The others may take n, and have an allowance.
 */
#ifndef IBVBUF_TRACE_INTERVAL_TREE_H
#define IBVBUF_TRACE_INTERVAL_TREE_H

#include "allowance.h"

/**
 * struct interval - the bytes [start, end)
 * @start: first byte; set by the caller
 * @end: one past the last byte, more than @start; set by the caller
 *
 * The rest is the tree's.
 */
struct interval {
	uint64_t start;
	uint64_t end;
	uint64_t serial;
	uint64_t largest_end;
	struct interval *left;
	struct interval *right;
	uint32_t priority;
};

/* All zero: an empty tree. */
struct interval_tree {
	struct interval *root;
	uint64_t inserted;
};

void interval_insert(struct interval_tree *tree, struct interval *interval);
/* `interval` must be in the tree. */
void interval_remove(struct interval_tree *tree, struct interval *interval);

/* Of those with exactly these bounds, the one inserted first, or NULL. */
struct interval *interval_find_same(const struct interval_tree *tree, uint64_t start, uint64_t end);
/* Of those that share a byte with [start, end), the one that begins first, or NULL. */
struct interval *interval_find_overlap(const struct interval_tree *tree, uint64_t start,
				       uint64_t end);
/*
 * The bytes of [start, end) that lie in at least one interval. False if there was no step left
 * before the end: they are at least so many.
 */
bool interval_covered(const struct interval_tree *tree, uint64_t start, uint64_t end,
		      struct allowance *allowance, uint64_t *bytes);
/*
 * Calls `visit` for all that share a byte with [start, end), in the order of their starts. False if
 * there was no step left before the last of them.
 */
bool interval_each_overlap(const struct interval_tree *tree, uint64_t start, uint64_t end,
			   struct allowance *allowance,
			   void (*visit)(struct interval *interval, void *context), void *context);

#endif
