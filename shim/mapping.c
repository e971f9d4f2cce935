// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "mapping.h"
#include "memory_map.h"
#include "raw_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Which file. */
struct file_identity {
	dev_t device;
	ino_t inode;
};

static int identify(const void *address, struct file_identity *identity)
{
	struct memory_mapping mapping;
	struct memory_map map;
	bool is_found = false;

	if (!memory_map_open(&map))
		return -1;
	while (!is_found && memory_map_next(&map, &mapping))
		is_found = (uintptr_t)address >= mapping.start && (uintptr_t)address < mapping.end;
	memory_map_close(&map);
	if (is_found && mapping.inode) {
		*identity = (struct file_identity){mapping.device, mapping.inode};
		return 0;
	}
	errno = ENODATA;
	return -1;
}

static bool is_file(int fd, const struct file_identity *identity)
{
	struct stat status;

	return !fstat(fd, &status) && status.st_dev == identity->device &&
	       status.st_ino == identity->inode;
}

/* -1 with EBADF if the descriptor is not one of that file. */
static int duplicate_if(const struct file_identity *identity, int candidate)
{
	int fd;

	if (!is_file(candidate, identity)) {
		errno = EBADF;
		return -1;
	}
	fd = raw_duplicate(candidate);
	/* Another thread may have closed it meanwhile, and been given its number for another. */
	if (fd >= 0 && !is_file(fd, identity)) {
		raw_close(fd);
		errno = EBADF;
		return -1;
	}
	return fd;
}

static DIR *open_descriptors(void)
{
	int fd = raw_open("/proc/self/fd", O_RDONLY | O_DIRECTORY, 0);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !directory)
		raw_close(fd);
	return directory;
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
	directory = open_descriptors();
	if (!directory)
		return -1;
	while (fd < 0 && (entry = readdir(directory))) {
		if (entry->d_name[0] == '.')
			continue;
		fd = duplicate_if(&identity, atoi(entry->d_name));
		if (fd < 0 && errno != EBADF) {
			error = errno;
			break;
		}
	}
	closedir(directory);
	errno = fd < 0 ? error : saved_errno;
	return fd;
}
