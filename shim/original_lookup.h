/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One lookup in the library itself. Knows nothing of verbs.h, so that calls which that header may
 * or may not declare can be looked up, too.
 */
#ifndef IBVBUF_ORIGINAL_LOOKUP_H
#define IBVBUF_ORIGINAL_LOOKUP_H

/* Its address says that there is a library, and that it lacks the function. */
extern char original_absent;

/**
 * original_lookup - the library's own function of that name at that version node
 *
 * &original_absent if the library lacks it, NULL while no library is loaded. Never a function of
 * this object. Any thread; takes the dynamic linker's lock; nothing is kept. Preserves errno.
 */
void *original_lookup(const char *name, const char *node);

#endif
