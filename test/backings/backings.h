/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the tests of the backings share. Each test is a process of its own, under the real preload,
 * over the stand-in library of test/parent_domain.
 *
 * The first word of a suite's name says where it runs: "here" on any machine, if need be with a
 * stand-in for the kernel's devices; "machine" in the virtual one, whose kernel has them all.
 */
#ifndef BACKINGS_H
#define BACKINGS_H

#include "heap.h"
#include "library.h"
#include "possessions.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct backing_case - a kind of memory, and what it is to be like
 * @option: the value of IBVBUF_BACKING
 * @stand_in: the device to have a stand-in for, or NULL
 * @page_size: what sizes are rounded up to
 * @is_dmabuf: it can be exported
 * @is_pinnable: it can be registered by its address
 * @descriptors: that an allocation needs at once
 */
struct backing_case {
	const char *option;
	const char *stand_in;
	size_t page_size;
	bool is_dmabuf;
	bool is_pinnable;
	unsigned int descriptors;
};

extern const struct backing_case here_anonymous;
extern const struct backing_case here_dma_heap;
extern const struct backing_case here_udmabuf;
extern const struct backing_case machine_hugetlb;
extern const struct backing_case machine_hugetlb_2M;
extern const struct backing_case machine_dma_heap;
extern const struct backing_case machine_udmabuf;

/* A test of that name for each kind of memory, or for each that is a DMA-buf. */
#define BACKING_TEST(suite, name)                                                                  \
	Test(suite, name)                                                                          \
	{                                                                                          \
		choose_backing(&suite);                                                            \
		name(&suite);                                                                      \
	}
#define EVERY_BACKING(name)                                                                        \
	static void name(const struct backing_case *backing);                                      \
	BACKING_TEST(here_anonymous, name)                                                         \
	BACKING_TEST(here_dma_heap, name)                                                          \
	BACKING_TEST(here_udmabuf, name)                                                           \
	BACKING_TEST(machine_hugetlb, name)                                                        \
	BACKING_TEST(machine_hugetlb_2M, name)                                                     \
	BACKING_TEST(machine_dma_heap, name)                                                       \
	BACKING_TEST(machine_udmabuf, name)                                                        \
	static void name(const struct backing_case *backing)
#define EVERY_DMABUF(name)                                                                         \
	static void name(const struct backing_case *backing);                                      \
	BACKING_TEST(here_dma_heap, name)                                                          \
	BACKING_TEST(here_udmabuf, name)                                                           \
	BACKING_TEST(machine_dma_heap, name)                                                       \
	BACKING_TEST(machine_udmabuf, name)                                                        \
	static void name(const struct backing_case *backing)

void choose_backing(const struct backing_case *backing);

/**
 * struct memory - a buffer, with all there is to say of it
 */
struct memory {
	struct ibv_pd *pd;
	struct ibv_buf *buf;
	char *address;
	size_t size;
};

/* A buffer of the one domain of a test. Fails the test if there is none. */
struct memory new_buffer(size_t size);

/* The one domain of a test. */
struct ibv_pd *the_domain(void);

/* Do all that is done once in a process. */
void warm_up(void);

/* Map a DMA-buf to read it, all of it; its size. */
const char *map_dmabuf(int fd, size_t *size);

/* Allow that many descriptors more than are open. */
void limit_descriptors(unsigned int more);

/* Allow the address space that much more than it has. */
void limit_address_space(size_t more);

/* That an allocation fails for that reason, and leaves nothing behind. */
void assert_no_buffer(int error, size_t size);

/* That a call fails with that errno. */
#define assert_fails_with(error, call)                                                             \
	do {                                                                                       \
		errno = 0;                                                                         \
		cr_assert(!(call), "it did not fail");                                             \
		cr_assert_eq(errno, error, "errno is %d and not %d", errno, error);                \
	} while (0)

#endif
