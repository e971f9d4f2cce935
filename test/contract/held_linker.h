/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef CONTRACT_HELD_LINKER_H
#define CONTRACT_HELD_LINKER_H

/* Another thread is opening a module, and holds the dynamic linker's lock, from the one to the
 * other. */
void hold_linker(void);
void release_linker(void);

#endif
