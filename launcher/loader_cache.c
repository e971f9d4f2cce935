// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The format is the one that glibc has written since 2.2, alone or behind an older one: a header,
 * an entry a library, and strings; and, since 2.33, an extension that names the processor features
 * which an entry is for.
 */
#define _GNU_SOURCE
#include "loader_cache.h"
#include "message.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE_PATH "/etc/ld.so.cache"

static const char magic[] = "glibc-ld.so.cache1.1";

struct cache_header {
	char magic[20];
	uint32_t entry_count;
	uint32_t strings_length;
	uint8_t flags;
	uint8_t padding[3];
	uint32_t extension;
	uint32_t unused[3];
};

struct cache_entry {
	int32_t flags;
	uint32_t name, path;
	/* cppcheck-suppress unusedStructMember */
	uint32_t os_version;
	uint64_t hwcap;
};

#define ENTRY_TYPE(flags) ((flags)&0xff)
#define ENTRY_ELF_LIBC6	  3

/* This bit says that the lower half is a place in the list of names of the extension. */
#define HWCAP_IS_NAME (1ULL << 62)

#define EXTENSION_MAGIC	      0xeaa42174U
#define EXTENSION_HWCAP_NAMES 1

struct cache {
	const char *bytes;
	size_t size;
	const uint32_t *hwcap_offsets;
	uint32_t hwcap_count;
};

#if defined(__x86_64__)
const char *const hwcap_names[] = {"x86-64-v4", "x86-64-v3", "x86-64-v2", NULL};

bool hwcap_is_supported(const char *name)
{
	bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("ssse3") &&
		  __builtin_cpu_supports("popcnt");
	bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
		  __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
	bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
		  __builtin_cpu_supports("avx512vl");

	return (v4 && !strcmp(name, "x86-64-v4")) || (v3 && !strcmp(name, "x86-64-v3")) ||
	       (v2 && !strcmp(name, "x86-64-v2"));
}
#else
const char *const hwcap_names[] = {NULL};

bool hwcap_is_supported(const char *name)
{
	(void)name;
	return false;
}
#endif

static const void *cache_at(const struct cache *cache, uint64_t offset, uint64_t length)
{
	if (offset > cache->size || length > cache->size - offset)
		return NULL;
	return cache->bytes + offset;
}

static const char *cache_string(const struct cache *cache, uint64_t offset)
{
	const char *string = cache_at(cache, offset, 1);

	return string && memchr(string, '\0', cache->size - offset) ? string : NULL;
}

static void read_extension(struct cache *cache, uint64_t offset)
{
	uint32_t head[2], section[4], i;
	const void *from = cache_at(cache, offset, sizeof(head));

	if (!offset || !from)
		return;
	memcpy(head, from, sizeof(head));
	if (head[0] != EXTENSION_MAGIC)
		return;
	for (i = 0; i < head[1]; i++) {
		from = cache_at(cache, offset + sizeof(head) + (uint64_t)i * sizeof(section),
				sizeof(section));
		if (!from)
			return;
		memcpy(section, from, sizeof(section));
		if (section[0] != EXTENSION_HWCAP_NAMES || section[2] % 4 != 0)
			continue;
		cache->hwcap_offsets = cache_at(cache, section[2], section[3]);
		cache->hwcap_count = cache->hwcap_offsets ? section[3] / 4 : 0;
		return;
	}
}

/* Where in the order of preference an entry stands: 0 is best, the plain ones are last. */
static int entry_rank(const struct cache *cache, uint64_t hwcap)
{
	const char *name;
	int rank, plain = 0;

	while (hwcap_names[plain])
		plain++;
	if (!hwcap)
		return plain;
	if (!(hwcap & HWCAP_IS_NAME) || (uint32_t)hwcap >= cache->hwcap_count)
		return -1;
	name = cache_string(cache, cache->hwcap_offsets[(uint32_t)hwcap]);
	for (rank = 0; name && rank < plain; rank++) {
		if (!strcmp(hwcap_names[rank], name) && hwcap_is_supported(name))
			return rank;
	}
	return -1;
}

static bool cache_open(struct cache *cache)
{
	struct stat status;
	const char *start;
	void *bytes;
	int fd;

	memset(cache, 0, sizeof(*cache));
	fd = open(CACHE_PATH, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (fstat(fd, &status) || status.st_size < (off_t)sizeof(struct cache_header)) {
		close(fd);
		return false;
	}
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return false;
	/* Offsets count from the header of this format, also where it is behind an older one. */
	start = memmem(bytes, (size_t)status.st_size, magic, sizeof(magic) - 1);
	if (!start)
		return false;
	cache->bytes = start;
	cache->size = (size_t)status.st_size - (size_t)(start - (const char *)bytes);
	return true;
}

struct string_list loader_cache_find(const char *name)
{
	struct string_list found = {0};
	const struct cache_header *from;
	struct cache_header header;
	struct cache_entry entry;
	struct cache cache;
	int rank, last_rank;
	uint32_t i;

	if (!cache_open(&cache))
		return found;
	from = cache_at(&cache, 0, sizeof(header));
	if (!from)
		return found;
	memcpy(&header, from, sizeof(header));
	read_extension(&cache, header.extension);

	for (last_rank = 0; hwcap_names[last_rank]; last_rank++)
		;
	for (rank = 0; rank <= last_rank; rank++) {
		for (i = 0; i < header.entry_count; i++) {
			const void *at = cache_at(&cache,
						  sizeof(header) + (uint64_t)i * sizeof(entry),
						  sizeof(entry));
			const char *string;

			if (!at)
				break;
			memcpy(&entry, at, sizeof(entry));
			string = cache_string(&cache, entry.name);
			if (ENTRY_TYPE(entry.flags) != ENTRY_ELF_LIBC6 || !string ||
			    strcmp(string, name) != 0 || entry_rank(&cache, entry.hwcap) != rank)
				continue;
			string = cache_string(&cache, entry.path);
			if (string)
				string_list_add(&found, string);
		}
	}
	return found;
}
