/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the tests of the contract share. Each test is a process of its own, under the real preload,
 * with the stand-in of one generation for a libibverbs.
 *
 * The first word of a suite's name says where it runs: "supplied" where the shim has to do the
 * work, "native" where the library has buffers of its own, "any" everywhere.
 */
#ifndef CONTRACT_H
#define CONTRACT_H

#include <criterion/criterion.h>
#include <infiniband/verbs.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "errors.h"
#include "standin.h"

/* verbs.h makes macros of these two; the functions behind them are meant here. */
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define CALLS(function)		   standin_count(STANDIN_##function)
#define ARGUMENT(function, number) (standin_last(STANDIN_##function)->arguments[number])
#define WORD(value)		   ((uint64_t)(uintptr_t)(value))

/* That a call which answers with a pointer answers NULL, for that reason. */
#define assert_null_with(error, call)                                                              \
	do {                                                                                       \
		errno = 0;                                                                         \
		cr_assert_null(call);                                                              \
		cr_assert_eq(errno, error, "errno is %d and not %d", errno, error);                \
	} while (0)

/* How often something is tried that may go wrong by chance; less often where a tool makes it slow.
 */
#ifndef REPEATS_DIVISOR
#define REPEATS_DIVISOR 1
#endif
#define REPEATS(count) (((count) + REPEATS_DIVISOR - 1) / REPEATS_DIVISOR)

/* A value of errno that nobody sets. */
#define ERRNO_BEFORE 4242

/* Up to so many bytes the memory of a buffer is kept when it is freed; small.c is about that. */
#define KEPT_MOST ((size_t)64 << 10)

/**
 * struct memory - a buffer, with all there is to say of it
 */
struct memory {
	struct ibv_pd *pd;
	struct ibv_buf *buf;
	char *address;
	size_t size;
};

/* A protection domain of a device that does not exist. */
struct ibv_pd *make_domain(void);

/* A buffer in a domain of its own, or in that one. Fails the test if there is none. */
struct memory make_buffer(size_t size);
struct memory make_buffer_in(struct ibv_pd *pd, size_t size);

/* Whether a registration of all of a buffer succeeds; it is taken back. */
bool is_registrable(const struct memory *memory);

size_t page_size(void);

/* Whether the pages are mapped, all or none of them. */
bool is_mapped(const void *address, size_t length);
bool is_unmapped(const void *address, size_t length);

/* Whether a flag is among the VmFlags of the mapping at an address, in /proc/self/smaps. */
bool has_mapping_flag(const void *address, const char *flag);

/* Bytes that are mapped in this process. */
size_t address_space(void);

/* Allow the address space that much more than it has. */
void limit_address_space(size_t more);

/* A path in a directory of this test, which goes with it; and a file there. */
const char *scratch_path(const char *name);
const char *scratch_file(const char *name, const void *content, size_t length);
const char *read_file(const char *path);

/* Run something in a child: what it returns, 0 to 127, or minus the signal that ended it. */
int in_child(int (*run)(void *argument), void *argument);

/* Free a handle that was freed before: the wrong use that all tests of diagnostics start from. */
void free_twice(void);

#endif
