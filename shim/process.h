/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBVBUF_PROCESS_H
#define IBVBUF_PROCESS_H

#include <stdint.h>

/**
 * process_generation - a number that differs between a process and the one it was forked from
 *
 * Never 0, and never the number of any ancestor. Costs a load where the kernel clears a page for
 * the child (Linux 4.14), a getpid() elsewhere. Any thread; safe in a signal handler.
 */
uint64_t process_generation(void);

#endif
