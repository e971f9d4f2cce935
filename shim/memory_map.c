// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "memory_map.h"
#include "raw_file.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/sysmacros.h>

bool memory_map_open(struct memory_map *map)
{
	map->length = 0;
	map->position = 0;
	map->fd = raw_open("/proc/self/maps", O_RDONLY, 0);
	return map->fd >= 0;
}

void memory_map_close(struct memory_map *map)
{
	raw_close(map->fd);
}

static int next_byte(struct memory_map *map)
{
	if (map->position == map->length) {
		map->length = raw_read(map->fd, map->bytes, sizeof(map->bytes));
		map->position = 0;
		if (map->length <= 0)
			return -1;
	}
	return (unsigned char)map->bytes[map->position++];
}

/* A number, and the one byte after it, which is returned. */
static int next_number(struct memory_map *map, unsigned int base, uint64_t *number)
{
	int byte;

	*number = 0;
	for (;;) {
		byte = next_byte(map);
		if (byte >= '0' && byte <= '9')
			*number = *number * base + (uint64_t)(byte - '0');
		else if (base == 16 && byte >= 'a' && byte <= 'f')
			*number = *number * base + (uint64_t)(byte - 'a' + 10);
		else
			return byte;
	}
}

/* The rest of a line, without the blanks before it; what does not fit is left out. */
static void next_path(struct memory_map *map, int byte, char *path, size_t capacity)
{
	size_t length = 0;

	while (byte == ' ')
		byte = next_byte(map);
	for (; byte >= 0 && byte != '\n'; byte = next_byte(map))
		if (length < capacity - 1)
			path[length++] = (char)byte;
	path[length] = '\0';
}

/* Lines of "start-end permissions offset major:minor inode path". */
bool memory_map_next(struct memory_map *map, struct memory_mapping *mapping)
{
	uint64_t major_number, minor_number, inode;
	int byte;

	if (next_number(map, 16, &mapping->start) < 0)
		return false;
	next_number(map, 16, &mapping->end);
	mapping->is_readable = next_byte(map) == 'r';
	do
		byte = next_byte(map);
	while (byte >= 0 && byte != ' ');
	next_number(map, 16, &mapping->offset);
	next_number(map, 16, &major_number);
	next_number(map, 16, &minor_number);
	byte = next_number(map, 10, &inode);
	mapping->device = makedev((unsigned int)major_number, (unsigned int)minor_number);
	mapping->inode = inode;
	next_path(map, byte, mapping->path, sizeof(mapping->path));
	return byte >= 0;
}
