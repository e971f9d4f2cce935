/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBVBUF_LAUNCHER_PRIVILEGE_H
#define IBVBUF_LAUNCHER_PRIVILEGE_H

#include <stdbool.h>

/**
 * privilege_gained - whether this user's start of a file gives it more rights than the user has
 * @path: the file
 *
 * What the file is then ("set-user-ID", …), or NULL. For such a process the dynamic linker obeys
 * neither LD_LIBRARY_PATH nor the paths in LD_PRELOAD.
 */
const char *privilege_gained(const char *path);

/* Whether this process has a capability, such as CAP_IPC_LOCK (14). */
bool has_capability(unsigned int number);

#endif
