// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * sigprocmask() sets the mask of the calling thread, as pthread_sigmask() does, which before glibc
 * 2.32 is in a library that not every program loads. sigtimedwait() is a cancellation point, which
 * a registration has none of, so the kernel is called by syscall().
 */
#define _GNU_SOURCE
#include "quiet.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Bytes of a set of signals, which the kernel's are shorter than the C library's. */
#define KERNEL_SET_SIZE (_NSIG / 8)

bool quiet_begin(struct quiet *quiet)
{
	static const int signals[] = {SIGPIPE, SIGXFSZ, SIGTTOU};
	sigset_t pending;
	size_t i;

	sigemptyset(&quiet->raised);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&quiet->raised, signals[i]);
	quiet->is_on = !sigprocmask(SIG_BLOCK, &quiet->raised, &quiet->before);
	if (!quiet->is_on)
		return false;
	/* One that waits already is the program's own. */
	sigpending(&pending);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigismember(&pending, signals[i]))
			sigdelset(&quiet->raised, signals[i]);
	return true;
}

void quiet_end(struct quiet *quiet)
{
	static const struct timespec now;
	int saved_errno = errno;

	if (!quiet->is_on)
		return;
	while (syscall(SYS_rt_sigtimedwait, &quiet->raised, NULL, &now, KERNEL_SET_SIZE) < 0 &&
	       errno == EINTR)
		;
	sigprocmask(SIG_SETMASK, &quiet->before, NULL);
	errno = saved_errno;
}
