// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "fork_protection.h"
#include "originals.h"

#include <errno.h>

/* IBV_FORK_ENABLED of enum ibv_fork_status, which headers before 35 lack. */
#define FORK_ENABLED 1

/*
 * Before 35 nobody can be asked. Elsewhere a library without fork support is not called, for it
 * takes the call for a registration, after which ibv_fork_init() is refused.
 */
bool fork_may_have_protected(void)
{
	original_ibv_is_fork_initialized_function *status = original(ibv_is_fork_initialized);

	if (!original(ibv_dontfork_range))
		return false;
	return !status || status() == FORK_ENABLED;
}

int fork_protect(void *address, size_t length)
{
	original_ibv_dontfork_range_function *dontfork_range = original(ibv_dontfork_range);
	int saved_errno = errno;
	int error = 0;

	errno = 0;
	if (fork_may_have_protected() && dontfork_range(address, length))
		error = errno ? errno : ENOMEM;
	errno = saved_errno;
	return error;
}

void fork_unprotect(void *address, size_t length)
{
	original_ibv_dofork_range_function *dofork_range = original(ibv_dofork_range);

	/* It is about to be unmapped, so nothing is lost by a refusal. */
	if (fork_may_have_protected() && dofork_range)
		dofork_range(address, length);
}
