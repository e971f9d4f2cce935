/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Another process, that is given a DMA-buf by its descriptor and looks at what is in it.
 *
 * Functions that answer -1 have said on standard error what went wrong.
 */
#ifndef DMABUF_VIEWER_H
#define DMABUF_VIEWER_H

#include <stddef.h>
#include <sys/types.h>

struct viewer {
	pid_t process;
	int socket;
};

/**
 * typedef viewer_look - runs in the other process, with the part of the DMA-buf in its memory
 *
 * Return: 0 if the bytes are what they should be.
 */
typedef int viewer_look(const char *bytes, size_t length, const void *argument);

/**
 * viewer_start - start the other process, which waits for a DMA-buf
 *
 * It is forked, so this comes before anything of libibverbs is touched.
 *
 * Return: 0, and @viewer is to be ended with viewer_end().
 */
int viewer_start(struct viewer *viewer, viewer_look *look, const void *argument);

/**
 * viewer_show - hand a DMA-buf over
 * @dmabuf_fd: its descriptor, which stays the caller's own
 * @offset: bytes from its start to the part to look at
 * @length: bytes to look at
 *
 * Return: 0.
 */
int viewer_show(const struct viewer *viewer, int dmabuf_fd, size_t offset, size_t length);

/**
 * viewer_end - wait until the other process has looked
 *
 * Return: 0 if it found what it should find, or was shown nothing.
 */
int viewer_end(struct viewer *viewer);

#endif
