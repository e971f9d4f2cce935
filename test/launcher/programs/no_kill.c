// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Preloaded into the launcher, for its child to be like one that a device holds in the kernel: no
 * signal ends it.
 */
#include <signal.h>

int kill(pid_t process, int number)
{
	(void)process;
	(void)number;
	return 0;
}
