/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Files of the shim in somebody else's process.
 *
 * open(), read(), write() and close() are cancellation points, where the calls that need a file
 * have none: a thread that is cancelled in one of ours would not have been without the shim. So the
 * kernel is called by syscall(). And no file of ours takes the number of a standard descriptor that
 * the program has closed, not even for a moment: what it writes there is not meant for it.
 */
#ifndef IBVBUF_RAW_FILE_H
#define IBVBUF_RAW_FILE_H

#include <stddef.h>
#include <sys/types.h>

/**
 * raw_open - open a file, close-on-exec
 * @flags: of open(2)
 * @mode: of a file that is made
 *
 * A descriptor, or -1 with errno set. Any thread.
 */
int raw_open(const char *path, int flags, mode_t mode);

/* Preserves errno. */
void raw_close(int fd);

/* As read(2), and not ended by a signal. */
ssize_t raw_read(int fd, void *bytes, size_t length);

#endif
