// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fork support is switched on by ibv_fork_init(), and by nothing else: what RDMAV_FORK_SAFE asks
 * for, the library does by the same public name. So a success is remembered here. It cannot be
 * found out afterwards: to the library, a call of ibv_dontfork_range() while it is off is the first
 * registration, after which ibv_fork_init() fails.
 */
#include "fork_status.h"
#include "original_lookup.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

/* Of enum ibv_fork_status, which headers before 35 lack. */
#define FORK_DISABLED 0
#define FORK_ENABLED  1

static bool is_on;

EXPORT int ibv_fork_init(void);
EXPORT int ibv_fork_init(void)
{
	void *address = original_lookup("ibv_fork_init", "IBVERBS_1.1");
	int (*own)(void) = (int (*)(void))address;
	int error;

	if (!address || address == &original_absent)
		return ENOSYS;
	error = own();
	if (!error)
		__atomic_store_n(&is_on, true, __ATOMIC_RELAXED);
	return error;
}

int fork_status(void)
{
	return __atomic_load_n(&is_on, __ATOMIC_RELAXED) ? FORK_ENABLED : FORK_DISABLED;
}
