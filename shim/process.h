/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBVBUF_PROCESS_H
#define IBVBUF_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Behind process_generation(): a page that the kernel clears for a child, if it can. */
extern uint64_t *process_page;
extern bool process_page_is_wiped;
uint64_t process_generation_find(void);

/**
 * process_generation - a number that differs between a process and the one it was forked from
 *
 * Never 0, and never the number of any ancestor. Costs a load where the kernel clears a page for
 * the child (Linux 4.14), a getpid() elsewhere. Any thread; safe in a signal handler.
 */
static inline uint64_t process_generation(void)
{
	/* acquire: pairs with the release in process.c */
	const uint64_t *page = __atomic_load_n(&process_page, __ATOMIC_ACQUIRE);
	uint64_t current = 0;

	if (page && __atomic_load_n(&process_page_is_wiped, __ATOMIC_RELAXED))
		current = __atomic_load_n(page, __ATOMIC_RELAXED);
	/* With a page that is cleared, that is all there is in the word. */
	return __builtin_expect(current != 0, 1) ? current : process_generation_find();
}

/**
 * process_map_wiped - memory that is empty in a child
 * @length: bytes
 * @is_wiped: whether the kernel can do that; else it is ordinary memory
 *
 * For munmap(). NULL, with errno set, if there is no memory.
 */
void *process_map_wiped(size_t length, bool *is_wiped);

#endif
