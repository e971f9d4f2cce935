/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBVBUF_SMALL_FILE_H
#define IBVBUF_SMALL_FILE_H

#include <stddef.h>
#include <sys/types.h>

/**
 * small_file_read - a whole file, without stdio
 * @path: a regular file; one of another kind is EINVAL, and not waited for
 * @text: where to; ended with a NUL
 * @capacity: bytes there; a file that does not fit is EFBIG
 *
 * Its length, or -1 with errno set. Any thread.
 */
ssize_t small_file_read(const char *path, char *text, size_t capacity);

#endif
