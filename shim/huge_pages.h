/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBVBUF_HUGE_PAGES_H
#define IBVBUF_HUGE_PAGES_H

#include <stddef.h>

/* Bytes of a huge page of the system's default size; 0 if the kernel has none. Any thread. */
size_t huge_pages_default_size(void);

#endif
