// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Preloaded into starts that are to meet: each takes its time over every link that it makes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

int symlink(const char *target, const char *path)
{
	usleep(200000);
	return (int)syscall(SYS_symlinkat, target, AT_FDCWD, path);
}
