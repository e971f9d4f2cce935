// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "raw_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Descriptors that take the places of standard ones which the program has closed. */
struct guards {
	int fds[STDERR_FILENO + 1];
	size_t count;
};

/* One of O_PATH cannot be written to, as one that is closed. */
static void put_up_guards(struct guards *guards)
{
	int fd, guard;

	guards->count = 0;
	for (fd = 0; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		guard = (int)syscall(SYS_openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC);
		if (guard >= 0)
			guards->fds[guards->count++] = guard;
	}
}

/*
 * Where the program has put one of its own in the meantime, that one stays; and where it has closed
 * the number, the next file there is not ours. Only between the two calls it would not be seen.
 */
static void take_down_guards(const struct guards *guards)
{
	size_t i;
	int flags;

	for (i = 0; i < guards->count; i++) {
		flags = fcntl(guards->fds[i], F_GETFL);
		if (flags >= 0 && (flags & O_PATH))
			raw_close(guards->fds[i]);
	}
}

int raw_open(const char *path, int flags, mode_t mode)
{
	struct guards guards;
	int fd, error;

	put_up_guards(&guards);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
	error = errno;
	take_down_guards(&guards);
	errno = error;
	/* What stood guard may have been another thread's, which has taken it down since. */
	return raw_off_standard(fd);
}

int raw_duplicate(int fd)
{
	int duplicate = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (duplicate < 0 && errno == EINVAL)
		errno = EMFILE; /* the limit allows none from 3 on */
	return duplicate;
}

int raw_off_standard(int fd)
{
	int duplicate;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	duplicate = raw_duplicate(fd);
	raw_close(fd);
	return duplicate;
}

void raw_close(int fd)
{
	int saved_errno = errno;

	syscall(SYS_close, fd);
	errno = saved_errno;
}

ssize_t raw_read(int fd, void *bytes, size_t length)
{
	ssize_t got;

	do
		got = syscall(SYS_read, fd, bytes, length);
	while (got < 0 && errno == EINTR);
	return got;
}
