/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a process holds: its open files and its mappings, as the kernel tells.
 */
#ifndef POSSESSIONS_H
#define POSSESSIONS_H

#include "../contract/errors.h"

#include <criterion/criterion.h>

struct possessions {
	char descriptors[16 << 10];
	char mappings[64 << 10];
};

void note_possessions(struct possessions *possessions);

/*
 * That nothing has come or gone since. What is taken once in a process is taken before: the test
 * does what it is about a first time, before it notes what there is.
 */
#define assert_possessions(before)                                                                 \
	do {                                                                                       \
		static struct possessions now_;                                                    \
                                                                                                   \
		note_possessions(&now_);                                                           \
		cr_assert_str_eq(now_.descriptors, (before)->descriptors,                          \
				 "/proc/self/fd was\n%s, and is\n%s", (before)->descriptors,       \
				 now_.descriptors);                                                \
		cr_assert_str_eq(now_.mappings, (before)->mappings,                                \
				 "/proc/self/maps was\n%s, and is\n%s", (before)->mappings,        \
				 now_.mappings);                                                   \
	} while (0)

/* Open files of this process. */
unsigned int count_descriptors(void);

/* That a line names a place in a function of this program as the caller, "(called from ...)". */
void assert_names_caller(const char *line, const void *function);

#endif
