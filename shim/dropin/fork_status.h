/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBVBUF_FORK_STATUS_H
#define IBVBUF_FORK_STATUS_H

/**
 * fork_status - whether a library that cannot say so itself has fork support switched on
 *
 * An enum ibv_fork_status: 0 if it is off, 1 if it is on; never 2, "not needed", which such a
 * library does not know of. Any thread. Preserves errno.
 */
int fork_status(void);

#endif
