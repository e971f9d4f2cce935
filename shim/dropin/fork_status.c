// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fork support is switched on by ibv_fork_init(), and by nothing else; so a success is remembered
 * here. It cannot be found out afterwards: to the library, a call of ibv_dontfork_range() while it
 * is off is the first registration, after which ibv_fork_init() fails.
 *
 * What RDMAV_FORK_SAFE asks for, the library does when it first lists devices, and not by the
 * public name if it was linked with -Bsymbolic-functions. So it is made to do that, under a lock of
 * its own, and is then asked for fork support once more, which changes nothing where it is on.
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

static void *library_function(const char *name)
{
	void *address = original_lookup(name, "IBVERBS_1.1");

	return address == &original_absent ? NULL : address;
}

static int switch_on(void)
{
	int (*own)(void) = (int (*)(void))library_function("ibv_fork_init");
	int error;

	if (!own)
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

static void let_library_begin(void)
{
	void **(*get_list)(int *count) = (void **(*)(int *))library_function("ibv_get_device_list");
	void (*free_list)(void **list) =
		(void (*)(void **))library_function("ibv_free_device_list");
	void **list;

	if (!get_list || !free_list)
		return;
	list = get_list(NULL);
	if (list)
		free_list(list);
}

int fork_status(void)
{
	static bool is_tried;
	int saved_errno = errno;

	/*
	 * Another thread may do the same meanwhile: nobody is told what is not known yet. Acquire:
	 * pairs with the release below.
	 */
	if (!__atomic_load_n(&is_on, __ATOMIC_RELAXED) &&
	    !__atomic_load_n(&is_tried, __ATOMIC_ACQUIRE) && is_asked_for()) {
		let_library_begin();
		switch_on();
		/* release: what is on by now is seen with it */
		__atomic_store_n(&is_tried, true, __ATOMIC_RELEASE);
		errno = saved_errno;
	}
	return __atomic_load_n(&is_on, __ATOMIC_RELAXED) ? FORK_ENABLED : FORK_DISABLED;
}
