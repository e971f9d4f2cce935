/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBVBUF_PROCESS_H
#define IBVBUF_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* Not getpid(), of which glibc before 2.25 keeps the answer, whoever it was that forked. */
static inline pid_t process_id(void)
{
	return (pid_t)syscall(SYS_getpid);
}

/**
 * struct process_page - behind process_generation(): cleared by the kernel for a child, if it can
 * @word: {process id, 0 unless the page is kept; generation}
 * @is_kept: a child has it as it was
 */
struct process_page {
	uint64_t word;
	bool is_kept;
};

extern struct process_page *process_page;
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
	const struct process_page *page = __atomic_load_n(&process_page, __ATOMIC_ACQUIRE);
	uint64_t current = 0;

	if (page && !page->is_kept)
		current = __atomic_load_n(&page->word, __ATOMIC_RELAXED);
	/* With a page that is cleared, that is all there is in the word. */
	return __builtin_expect(current != 0, 1) ? current : process_generation_find();
}

/**
 * process_map_wiped - memory that is empty in a child
 * @length: bytes
 * @is_wiped: whether the kernel can do that; else it is ordinary memory
 *
 * For munmap(). NULL, with errno set, if there is no memory. Where it is ordinary memory, errno
 * says why: ENOMEM or EAGAIN if that was for want of memory, else it will be so again.
 */
void *process_map_wiped(size_t length, bool *is_wiped);

#endif
