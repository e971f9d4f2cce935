// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fork support is switched on by ibv_fork_init(), and by nothing else; so a success is remembered
 * here. It cannot be found out afterwards: to the library, a call of ibv_dontfork_range() while it
 * is off is the first registration, after which ibv_fork_init() fails.
 *
 * What RDMAV_FORK_SAFE asks for, the library does when it first lists devices, and not by the
 * public name if it was linked with -Bsymbolic-functions. There it is asked for once more, which
 * changes nothing where it is on.
 */
#define _GNU_SOURCE
#include "fork_status.h"
#include "original_lookup.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

/* Of enum ibv_fork_status, which headers before 35 lack. */
#define FORK_DISABLED 0
#define FORK_ENABLED  1

static bool is_on;

static int switch_on(void)
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

EXPORT int ibv_fork_init(void);
EXPORT int ibv_fork_init(void)
{
	return switch_on();
}

/* The variables and the way they are read are the library's. */
static bool is_asked_for(void)
{
	return getenv("RDMAV_FORK_SAFE") || getenv("IBV_FORK_SAFE");
}

int fork_status(void)
{
	static bool is_tried;
	int saved_errno = errno;

	if (!__atomic_load_n(&is_on, __ATOMIC_RELAXED) && is_asked_for() &&
	    !__atomic_exchange_n(&is_tried, true, __ATOMIC_RELAXED)) {
		switch_on();
		errno = saved_errno;
	}
	return __atomic_load_n(&is_on, __ATOMIC_RELAXED) ? FORK_ENABLED : FORK_DISABLED;
}
