/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Keeping a buffer's pages from the children of the process, so that a copy-on-write does not part
 * the device from the program: what the library does where ibv_fork_init() asked for it, and
 * nothing elsewhere. Any thread.
 */
#ifndef IBVBUF_FORK_PROTECTION_H
#define IBVBUF_FORK_PROTECTION_H

#include <stdbool.h>
#include <stddef.h>

/* 0, or the errno of the refusal. To be undone only if it was done: the library counts. */
int fork_protect(void *address, size_t length, bool *is_protected);
void fork_unprotect(void *address, size_t length);

/*
 * Memory was registered by its address: from now on ibv_fork_init() is refused. For the library is
 * asked at each buffer otherwise, which takes longer than all the rest.
 */
void fork_status_settled(void);

/*
 * Whether a buffer's memory, or a part of it, may be kept from children; false only if that is
 * certain.
 */
bool fork_may_have_protected(void);

#endif
