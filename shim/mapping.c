// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "mapping.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Which file: what /proc/self/maps has of it. */
struct file_identity {
	dev_t device;
	ino_t inode;
};

/* Reads a file a byte at a time. */
struct reader {
	int fd;
	ssize_t length;
	ssize_t position;
	char bytes[1024];
};

static int next_byte(struct reader *reader)
{
	if (reader->position == reader->length) {
		do {
			reader->length = read(reader->fd, reader->bytes, sizeof(reader->bytes));
		} while (reader->length < 0 && errno == EINTR);
		reader->position = 0;
		if (reader->length <= 0)
			return -1;
	}
	return (unsigned char)reader->bytes[reader->position++];
}

static void skip(struct reader *reader, char until)
{
	int byte;

	do {
		byte = next_byte(reader);
	} while (byte >= 0 && byte != until);
}

/* A number, and the one byte after it. */
static uint64_t next_number(struct reader *reader, unsigned int base, bool *ended)
{
	uint64_t number = 0;
	int byte;

	for (;;) {
		byte = next_byte(reader);
		if (byte >= '0' && byte <= '9') {
			number = number * base + (uint64_t)(byte - '0');
		} else if (base == 16 && byte >= 'a' && byte <= 'f') {
			number = number * base + (uint64_t)(byte - 'a' + 10);
		} else {
			*ended = byte < 0 || byte == '\n';
			return number;
		}
	}
}

/* Lines of "start-end permissions offset major:minor inode path". */
static int identify(const void *address, struct file_identity *identity)
{
	struct reader reader = {.length = 0};
	uint64_t start, end, major_number, minor_number;
	bool ended = false;

	reader.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (reader.fd < 0)
		return -1;
	identity->inode = 0;
	for (;;) {
		start = next_number(&reader, 16, &ended);
		if (ended)
			break;
		end = next_number(&reader, 16, &ended);
		if ((uintptr_t)address < start || (uintptr_t)address >= end) {
			skip(&reader, '\n');
			continue;
		}
		skip(&reader, ' ');
		skip(&reader, ' ');
		major_number = next_number(&reader, 16, &ended);
		minor_number = next_number(&reader, 16, &ended);
		identity->device = makedev((unsigned int)major_number, (unsigned int)minor_number);
		identity->inode = next_number(&reader, 10, &ended);
		break;
	}
	close(reader.fd);
	if (identity->inode)
		return 0;
	errno = ENODATA;
	return -1;
}

static bool is_file(int fd, const struct file_identity *identity)
{
	struct stat status;

	return !fstat(fd, &status) && status.st_dev == identity->device &&
	       status.st_ino == identity->inode;
}

int mapping_duplicate_file(const void *address)
{
	struct file_identity identity;
	int saved_errno = errno;
	struct dirent *entry;
	int fd = -1;
	int error = ENODATA;
	DIR *directory;

	if (identify(address, &identity))
		return -1;
	directory = opendir("/proc/self/fd");
	if (!directory)
		return -1;
	while (fd < 0 && (entry = readdir(directory))) {
		int candidate = atoi(entry->d_name);

		if (entry->d_name[0] == '.' || !is_file(candidate, &identity))
			continue;
		fd = fcntl(candidate, F_DUPFD_CLOEXEC, 3);
		if (fd < 0) {
			error = errno;
			break;
		}
	}
	closedir(directory);
	errno = fd < 0 ? error : saved_errno;
	return fd;
}
