// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A module that is loaded and unloaded, with a call in it. */
#include "module.h"

/* Code before the call, so that it lies elsewhere than in another build of this file. */
#ifdef MODULE_PADDING
__asm__(".skip 256, 0x90");
#endif

struct ibv_mr *module_register(register_function *reg_mr, struct ibv_pd *pd, uintptr_t address)
{
	struct ibv_mr *mr = reg_mr(pd, (void *)address, 1, 0);

	/* So that the call is not the last thing it does. */
	__asm__ volatile("" ::: "memory");
	return mr;
}
