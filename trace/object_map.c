// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "object_map.h"

#include <stdlib.h>
#include <string.h>

#include "../launcher/message.h"

#define FIRST_BUCKETS 1024

static uint64_t mix(uint64_t value)
{
	value = (value ^ (value >> 32)) * UINT64_C(0xd6e8feb86659fd93);
	return value ^ (value >> 32);
}

uint64_t object_hash(uint64_t one, uint64_t two, uint64_t three)
{
	return mix(mix(mix(one) + two) + three);
}

static struct object_entry **bucket_of(const struct object_map *map, uint64_t hash)
{
	return &map->buckets[hash & (map->bucket_count - 1)];
}

static void resize(struct object_map *map, size_t bucket_count)
{
	struct object_map larger = {.bucket_count = bucket_count, .count = map->count};
	struct object_entry *entry, *next, **link;
	size_t i;

	larger.buckets = grow(NULL, bucket_count, sizeof(struct object_entry *));
	memset(larger.buckets, 0, bucket_count * sizeof(struct object_entry *));
	/* A bucket's entries go to two new ones; each keeps the order. */
	for (i = 0; i < map->bucket_count; i++) {
		struct object_entry **tails[2] = {
			&larger.buckets[i],
			&larger.buckets[i + map->bucket_count],
		};

		for (entry = map->buckets[i]; entry; entry = next) {
			next = entry->next;
			entry->next = NULL;
			link = tails[(entry->hash & map->bucket_count) != 0];
			*link = entry;
			tails[(entry->hash & map->bucket_count) != 0] = &entry->next;
		}
	}
	free(map->buckets);
	*map = larger;
}

void object_map_insert(struct object_map *map, struct object_entry *entry, uint64_t hash)
{
	struct object_entry **bucket;

	if (map->count >= map->bucket_count)
		resize(map, map->bucket_count ? 2 * map->bucket_count : FIRST_BUCKETS);
	entry->hash = hash;
	bucket = bucket_of(map, hash);
	entry->next = *bucket;
	*bucket = entry;
	map->count++;
}

static struct object_entry *first_of(struct object_entry *entry, uint64_t hash)
{
	while (entry && entry->hash != hash)
		entry = entry->next;
	return entry;
}

struct object_entry *object_map_first(const struct object_map *map, uint64_t hash)
{
	return map->count ? first_of(*bucket_of(map, hash), hash) : NULL;
}

struct object_entry *object_map_next(const struct object_entry *entry)
{
	return first_of(entry->next, entry->hash);
}

void object_map_remove(struct object_map *map, struct object_entry *entry)
{
	struct object_entry **link = bucket_of(map, entry->hash);

	while (*link != entry)
		link = &(*link)->next;
	*link = entry->next;
	map->count--;
}

void object_map_clear(struct object_map *map, void (*release)(struct object_entry *entry))
{
	struct object_entry *entry;
	size_t i;

	for (i = 0; i < map->bucket_count; i++) {
		while ((entry = map->buckets[i])) {
			map->buckets[i] = entry->next;
			release(entry);
		}
	}
	map->count = 0;
}

void object_map_free(struct object_map *map)
{
	free(map->buckets);
	memset(map, 0, sizeof(*map));
}
