// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "fork_protection.h"
#include "originals.h"

#include <errno.h>

/* Of enum ibv_fork_status, which headers before 35 lack; and one that it has not. */
enum { FORK_UNKNOWN = -1, FORK_DISABLED, FORK_ENABLED, FORK_UNNEEDED };

/*
 * What the library answers for ever, once that is known; else it is asked, and asks the kernel over
 * a netlink socket that it opens for it. Only "disabled" can change, by ibv_fork_init(), and only
 * until the first registration.
 */
static int final_status = FORK_UNKNOWN;

static bool is_registered;

static int ask(original_ibv_is_fork_initialized_function *status)
{
	/* acquire: pairs with the release in fork_status_settled(); what the library says is no
	 * older */
	bool is_settled = __atomic_load_n(&is_registered, __ATOMIC_ACQUIRE);
	int answer = __atomic_load_n(&final_status, __ATOMIC_RELAXED);

	if (answer != FORK_UNKNOWN)
		return answer;
	answer = (int)status();
	if (answer != FORK_DISABLED || is_settled)
		__atomic_store_n(&final_status, answer, __ATOMIC_RELAXED);
	return answer;
}

void fork_status_settled(void)
{
	if (__builtin_expect(!__atomic_load_n(&is_registered, __ATOMIC_RELAXED), 0))
		__atomic_store_n(&is_registered, true, __ATOMIC_RELEASE);
}

/*
 * Before 35 nobody can be asked: it may be on. Elsewhere a library without fork support is not
 * called, for it takes the call for a registration, after which ibv_fork_init() is refused.
 */
static int library_status(void)
{
	original_ibv_is_fork_initialized_function *status = original(ibv_is_fork_initialized);

	if (!original(ibv_dontfork_range))
		return FORK_DISABLED;
	return status ? ask(status) : FORK_ENABLED;
}

/*
 * It is not needed with a kernel that copies for the child, but before 51 that did not keep
 * ibv_fork_init() from having registrations protected. The call that tells the age is of 59.
 */
bool fork_may_have_protected(void)
{
	int status = library_status();

	return status == FORK_ENABLED || (status == FORK_UNNEEDED && !original(ibv_reg_mr_ex));
}

int fork_protect(void *address, size_t length, bool *is_protected)
{
	original_ibv_dontfork_range_function *dontfork_range = original(ibv_dontfork_range);
	int saved_errno = errno;
	int error = 0;

	*is_protected = false;
	if (library_status() != FORK_ENABLED)
		return 0;
	errno = 0;
	if (dontfork_range(address, length))
		error = errno ? errno : ENOMEM;
	else
		*is_protected = true;
	errno = saved_errno;
	return error;
}

void fork_unprotect(void *address, size_t length)
{
	original_ibv_dofork_range_function *dofork_range = original(ibv_dofork_range);

	/* After a refusal it stays away from children, who do not look for it. */
	if (dofork_range)
		dofork_range(address, length);
}
