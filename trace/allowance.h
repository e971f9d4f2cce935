/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Steps that searches may take, all of them together: a file that lies, and a program that does odd
 * things, can make each search as long as the file, and all of them its square. Each record brings
 * some steps along, and those that its searches do not need stay for later ones. A search that
 * finds none left says so.
 */
#ifndef IBVBUF_TRACE_ALLOWANCE_H
#define IBVBUF_TRACE_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>

/* A search for one place takes some 30 of them in a tree of a million. */
#define ALLOWANCE_OF_RECORD	256
#define ALLOWANCE_TO_BEGIN_WITH (1 << 22)

struct allowance {
	uint64_t steps;
};

static inline void allowance_add(struct allowance *allowance)
{
	allowance->steps += ALLOWANCE_OF_RECORD;
}

/* False if there is none left. */
static inline bool allowance_spend(struct allowance *allowance)
{
	if (!allowance->steps)
		return false;
	allowance->steps--;
	return true;
}

#endif
