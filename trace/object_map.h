/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Finds objects by a hash of what they are called. The caller owns the objects, which hold an entry
 * each, and compares what they are called; several may be called the same.
 */
#ifndef IBVBUF_TRACE_OBJECT_MAP_H
#define IBVBUF_TRACE_OBJECT_MAP_H

#include <stddef.h>
#include <stdint.h>

struct object_entry {
	struct object_entry *next;
	uint64_t hash;
};

/* All zero: an empty map. */
struct object_map {
	struct object_entry **buckets;
	size_t bucket_count;
	size_t count;
};

/* The object of type `type` whose member `member` is at `address`. */
#define OBJECT_OF(address, type, member) ((type *)((char *)(address)-offsetof(type, member)))

/* Of the parts of a name. */
uint64_t object_hash(uint64_t one, uint64_t two, uint64_t three);

void object_map_insert(struct object_map *map, struct object_entry *entry, uint64_t hash);
/* The entry inserted last of those with the hash, and the one before it; NULL if there is none. */
struct object_entry *object_map_first(const struct object_map *map, uint64_t hash);
struct object_entry *object_map_next(const struct object_entry *entry);
/* `entry` must be in the map. */
void object_map_remove(struct object_map *map, struct object_entry *entry);
/* Takes out all, one after the other, and hands each to `release`, which may free it. */
void object_map_clear(struct object_map *map, void (*release)(struct object_entry *entry));
/* Frees what the map took, not the objects. */
void object_map_free(struct object_map *map);

#endif
