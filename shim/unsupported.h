/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What an errno says of the library, its provider and the kernel. */
#ifndef IBVBUF_UNSUPPORTED_H
#define IBVBUF_UNSUPPORTED_H

#include <errno.h>
#include <stdbool.h>

/*
 * Whether one of them lacks what was asked for: the provider, since 28 and before; a kernel without
 * that method of the object, and one without such methods at all.
 */
static inline bool is_unsupported(int error)
{
	return error == EOPNOTSUPP || error == ENOSYS || error == EPROTONOSUPPORT ||
	       error == ENOTTY;
}

#endif
