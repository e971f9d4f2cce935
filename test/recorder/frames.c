// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A way to a call, four functions deep: compiled with frame pointers and, under other names,
 * without.
 */
#include "frames.h"

/* So that no call is the last thing that a function does. */
#define STAY() __asm__ volatile("" ::: "memory")

#define DEEPER(name, next)                                                                         \
	__attribute__((noinline)) struct ibv_mr *FRAMES(name)(struct ibv_pd * pd, void *address)   \
	{                                                                                          \
		struct ibv_mr *mr = next(pd, address);                                             \
                                                                                                   \
		STAY();                                                                            \
		return mr;                                                                         \
	}

#undef ibv_reg_mr
#define REGISTER(pd, address) ibv_reg_mr(pd, address, 1, 0)

DEEPER(fourth, REGISTER)
DEEPER(third, FRAMES(fourth))
DEEPER(second, FRAMES(third))
DEEPER(first, FRAMES(second))
