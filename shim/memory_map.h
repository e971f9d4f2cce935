/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What is mapped in this process, as the kernel has it: no lock is taken and nothing allocated, so
 * a child can ask that was forked while other threads were in the dynamic linker.
 */
#ifndef IBVBUF_MEMORY_MAP_H
#define IBVBUF_MEMORY_MAP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct memory_mapping - a mapping
 * @start: its first address
 * @end: one past its last address
 * @offset: of its first byte in the file
 * @is_readable: whether it is
 * @device: that the file is on
 * @inode: of the file; 0 if it is none's
 * @path: of the file, or empty
 */
struct memory_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	bool is_readable;
	dev_t device;
	ino_t inode;
	char path[PATH_MAX];
};

/* A walk over all mappings. */
struct memory_map {
	int fd;
	ssize_t length;
	ssize_t position;
	char bytes[1024];
};

/* False with errno set if it cannot be read. No cancellation point. */
bool memory_map_open(struct memory_map *map);

/* The next one, in the order of their addresses; false after the last. No cancellation point. */
bool memory_map_next(struct memory_map *map, struct memory_mapping *mapping);

void memory_map_close(struct memory_map *map);

#endif
