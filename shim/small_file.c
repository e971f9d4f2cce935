// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "small_file.h"
#include "raw_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static ssize_t read_all(int fd, char *text, size_t capacity)
{
	size_t length = 0;

	for (;;) {
		ssize_t got = raw_read(fd, text + length, capacity - length);

		if (got < 0)
			return -1;
		if (got == 0)
			break;
		length += (size_t)got;
		if (length == capacity) {
			errno = EFBIG;
			return -1;
		}
	}
	text[length] = '\0';
	return (ssize_t)length;
}

ssize_t small_file_read(const char *path, char *text, size_t capacity)
{
	ssize_t length = -1;
	struct stat status;
	int fd;

	/* A FIFO must not make the program wait for a writer. */
	fd = raw_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0)
		return -1;
	errno = EINVAL;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode))
		length = read_all(fd, text, capacity);
	raw_close(fd);
	return length;
}
