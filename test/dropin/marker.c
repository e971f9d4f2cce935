// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A library whose newer calls do nothing but to be told from the drop-in's: each gives its place in
 * the table. For the test that what a library has of its own is what is called.
 */
#define _GNU_SOURCE
#include "dropin/newer_calls.h"

int marker_calls;

#define NEWER(name, node, release, result, parameters, arguments, answer)                          \
	result name parameters;                                                                    \
	result name parameters                                                                     \
	{                                                                                          \
		marker_calls++;                                                                    \
		return (result)(intptr_t)(NEWER_##name + 1);                                       \
	}
#define WATCHED(name, node, release)
#include "dropin/newer_calls.def"
