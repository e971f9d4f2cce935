/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef RECORDER_FRAMES_H
#define RECORDER_FRAMES_H

#include <infiniband/verbs.h>

typedef struct ibv_mr *frame_function(struct ibv_pd *pd, void *address);

/* Each calls the next; the fourth registers a byte. */
frame_function with_pointers_first, with_pointers_second, with_pointers_third, with_pointers_fourth;
frame_function without_pointers_first, without_pointers_second, without_pointers_third,
	without_pointers_fourth;

#ifdef __OPTIMIZE__
#define FRAME_SIZE 64
#else
#define FRAME_SIZE 128
#endif

#define FRAMES_JOIN(prefix, name) prefix##_##name
#define FRAMES_NAME(prefix, name) FRAMES_JOIN(prefix, name)
#define FRAMES(name)		  FRAMES_NAME(FRAMES_PREFIX, name)

#endif
