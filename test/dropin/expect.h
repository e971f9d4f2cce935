/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The least that a test program needs which must run on any glibc, and load what it likes: what
 * does not hold is printed, and counted.
 */
#ifndef EXPECT_H
#define EXPECT_H

#include <stdio.h>

static int held, broken;

#define expect(condition, ...)                                                                     \
	do {                                                                                       \
		if (condition) {                                                                   \
			held++;                                                                    \
			break;                                                                     \
		}                                                                                  \
		broken++;                                                                          \
		printf("%s:%d: not so: %s: ", __FILE__, __LINE__, #condition);                     \
		printf(__VA_ARGS__);                                                               \
		printf("\n");                                                                      \
	} while (0)

/* What main() returns. A program that checked nothing has failed. */
static inline int expectations(void)
{
	printf("%d of %d held\n", held, held + broken);
	return broken || !held;
}

#endif
