/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Files of the shim in somebody else's process.
 *
 * open(), read(), write() and close() are cancellation points, where the calls that need a file
 * have none: a thread that is cancelled in one of ours would not have been without the shim. So the
 * kernel is called by syscall(). And no file of ours keeps the number of a standard descriptor that
 * the program has closed, and none that we open has it even for a moment: what the program writes
 * there is not meant for it, and what it puts there is not ours to close. What the kernel makes
 * otherwise, a memfd or a DMA-buf, has such a number until raw_off_standard() moves it.
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

/**
 * raw_duplicate - another descriptor of a file, close-on-exec
 *
 * At least 3: some callers of verbs take 0 as "none". -1 with errno set, EMFILE for any limit on
 * their number. Any thread.
 */
int raw_duplicate(int fd);

/**
 * raw_off_standard - keep a descriptor that was made otherwise off the standard ones
 * @fd: new, or -1 with errno set
 *
 * The same or, if it is one of their numbers, a duplicate, close-on-exec, and @fd is closed; -1
 * with errno set, and @fd closed, if none can be had. Any thread.
 */
int raw_off_standard(int fd);

/* Preserves errno. */
void raw_close(int fd);

/* As read(2), and not ended by a signal. */
ssize_t raw_read(int fd, void *bytes, size_t length);

#endif
