/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Configuring the shim in this process, before its first call. */
#ifndef CONTRACT_CONFIGURATION_H
#define CONTRACT_CONFIGURATION_H

#include "contract.h"

#define SYSTEM_FILE SYSCONFDIR "/ibvbuf-preload.conf"

/* Let IBVBUF_CONF name a file ".../ibvbuf.conf" with that text. */
void configure(const char *text);

/* Put a directory with that file, and perhaps an ld.so.preload, in the place of /etc, for this
 * process and its children alone. False if that needs root. */
bool make_system_file(const char *text);
bool make_private_mounts(void);

/* Free a handle twice, and what standard error got in this process. */
const char *said_of_misuse(void);

#endif
