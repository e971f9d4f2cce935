/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Text that may be no text. */
#ifndef IBVBUF_LAUNCHER_UTF8_H
#define IBVBUF_LAUNCHER_UTF8_H

#include <stddef.h>

/*
 * The length of the UTF-8 sequence at `bytes`, as RFC 3629 has it; 0 if there is none. Reads no
 * byte behind a NUL.
 */
size_t utf8_length(const unsigned char *bytes);

#endif
