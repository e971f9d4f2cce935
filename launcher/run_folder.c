// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "run_folder.h"
#include "message.h"
#include "paths.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The user id that root's files seem to have. In a user namespace without root, as unprivileged
 * containers are, it is the one that stands for all that cannot be told.
 */
static uid_t root_user(void)
{
	unsigned long inside, outside, length, overflow = 65534;
	FILE *map = fopen("/proc/self/uid_map", "re");
	bool has_root = !map;
	FILE *setting;

	while (map && fscanf(map, "%lu %lu %lu", &inside, &outside, &length) == 3)
		has_root = has_root || inside == 0;
	if (map)
		fclose(map);
	if (has_root)
		return 0;
	setting = fopen("/proc/sys/kernel/overflowuid", "re");
	if (setting) {
		if (fscanf(setting, "%lu", &overflow) != 1)
			overflow = 65534;
		fclose(setting);
	}
	return (uid_t)overflow;
}

/* NULL, or why somebody else could put another file in the way of this path's last component. */
static char *folder_weakness(const char *path, bool must_be_own)
{
	struct stat status;

	if (lstat(path, &status))
		return print_string("%s: %s", path, strerror(errno));
	if (S_ISLNK(status.st_mode))
		return print_string("%s is a symbolic link", path);
	if (!S_ISDIR(status.st_mode))
		return print_string("%s is not a folder", path);
	if (status.st_uid != geteuid() && (must_be_own || status.st_uid != root_user()))
		return print_string("%s belongs to user %u", path, (unsigned int)status.st_uid);
	/* In a folder like /tmp others can add files, but not touch those that are there. */
	if (status.st_mode & (S_IWGRP | S_IWOTH) && (must_be_own || !(status.st_mode & S_ISVTX)))
		return print_string("%s can be written by others (mode %04o)", path,
				    (unsigned int)status.st_mode & 07777);
	return NULL;
}

/* The same for each folder on the way to it. `path` has no symbolic links. */
static char *way_weakness(const char *path)
{
	char *weakness = folder_weakness("/", false);
	const char *slash = path;

	while (!weakness && slash && path[1]) {
		slash = strchr(slash + 1, '/');
		weakness = folder_weakness(
			slash ? print_string("%.*s", (int)(slash - path), path) : path, false);
	}
	return weakness;
}

/*
 * `folders`, one below the other, in `root`, which is made too if `make_root`. The path, or NULL
 * and the reason.
 */
static char *prepare_base(const char *root, bool make_root, const char *const *folders,
			  const char *forbidden, char **problem)
{
	char *path;

	if (root[0] != '/') {
		*problem = print_string("%s is not an absolute path", root);
		return NULL;
	}
	if (make_root) {
		/* Nothing of ours is left in a folder of somebody else's. */
		path = realpath(path_folder(root), NULL);
		*problem = path ? way_weakness(path)
				: print_string("%s: %s", path_folder(root), strerror(errno));
		if (!*problem && mkdir(root, 0700) && errno != EEXIST)
			*problem = print_string("%s: %s", root, strerror(errno));
		if (*problem)
			return NULL;
	}
	path = realpath(root, NULL);
	if (!path) {
		*problem = print_string("%s: %s", root, strerror(errno));
		return NULL;
	}
	if (path[strcspn(path, forbidden)]) {
		*problem = print_string(
			"%s: a list of paths cannot hold this name, for one of these in it: '%s'",
			path, forbidden);
		return NULL;
	}
	*problem = way_weakness(path);
	while (!*problem && *folders) {
		path = print_string("%s/%s", path[1] ? path : "", *folders++);
		if (mkdir(path, 0700) && errno != EEXIST)
			*problem = print_string("%s: %s", path, strerror(errno));
		else
			*problem = folder_weakness(path, true);
	}
	return *problem ? NULL : path;
}

/* FNV-1a over names and targets. Nobody but the user could make two of a kind on purpose. */
static uint64_t links_hash(const struct run_link *links, size_t count)
{
	uint64_t hash = 0xcbf29ce484222325;
	const char *strings[2];
	size_t i, j, k;

	for (i = 0; i < count; i++) {
		strings[0] = links[i].name;
		strings[1] = links[i].target;
		for (j = 0; j < 2; j++) {
			/* with the closing zero, so that names and targets do not run together */
			for (k = 0; k <= strlen(strings[j]); k++)
				hash = (hash ^ (unsigned char)strings[j][k]) * 0x100000001b3;
		}
	}
	return hash;
}

static bool link_is_right(const char *folder, const struct run_link *link)
{
	char *target = path_read_link(print_string("%s/%s", folder, link->name));

	return target && !strcmp(target, link->target);
}

/* A link that is missing, since something tidied old files away, is put back in one step. */
static int mend_link(const char *folder, const struct run_link *link)
{
	char *new_path = print_string("%s/%s.%ld", folder, link->name, (long)getpid());
	int error;

	if (symlink(link->target, new_path))
		return errno;
	if (!rename(new_path, print_string("%s/%s", folder, link->name)))
		return 0;
	error = errno;
	unlink(new_path);
	return error;
}

/* Made under another name, then renamed: nobody ever sees half of it. */
static int make_folder(const char *folder, const struct run_link *links, size_t count)
{
	char *new_path = print_string("%s.XXXXXX", folder);
	size_t made = 0;
	int error = 0;

	if (!mkdtemp(new_path))
		return errno;
	while (!error && made < count) {
		if (symlink(links[made].target, print_string("%s/%s", new_path, links[made].name)))
			error = errno;
		else
			made++;
	}
	if (!error) {
		if (!rename(new_path, folder))
			return 0;
		error = errno;
	}
	while (made)
		unlink(print_string("%s/%s", new_path, links[--made].name));
	rmdir(new_path);
	/* Another start was faster. */
	return error == EEXIST || error == ENOTEMPTY ? 0 : error;
}

static char *prepare_folder(const char *base, const struct run_link *links, size_t count,
			    char **problem)
{
	char *folder = print_string("%s/%016" PRIx64, base, links_hash(links, count));
	struct stat status;
	int error = 0;
	size_t i;

	if (lstat(folder, &status))
		error = errno == ENOENT ? make_folder(folder, links, count) : errno;
	for (i = 0; i < count && !error; i++) {
		if (!link_is_right(folder, &links[i]))
			error = mend_link(folder, &links[i]);
	}
	if (!error)
		return folder;
	*problem = print_string("%s: %s", folder, strerror(error));
	return NULL;
}

char *run_folder_make(const struct run_link *links, size_t count, const char *forbidden,
		      char **problem)
{
	static const char *const runtime_folders[] = {"ibvbuf", NULL};
	static const char *const cache_folders[] = {"ibvbuf-preload", "run", NULL};
	const char *temporary_folders[] = {
		print_string("ibvbuf-%u", (unsigned int)geteuid()),
		NULL,
	};
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	const struct {
		const char *root;
		bool make_root;
		const char *const *folders;
	} places[] = {
		{runtime, false, runtime_folders},
		{cache && *cache ? cache
		 : home && *home ? print_string("%s/.cache", home)
				 : NULL,
		 true, cache_folders},
		{"/tmp", false, temporary_folders},
	};
	char *base, *folder, *reason, *reasons = NULL;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (!places[i].root || !*places[i].root)
			continue;
		base = prepare_base(places[i].root, places[i].make_root, places[i].folders,
				    forbidden, &reason);
		folder = base ? prepare_folder(base, links, count, &reason) : NULL;
		if (folder)
			return folder;
		reasons =
			print_string("%s%s%s", reasons ? reasons : "", reasons ? "; " : "", reason);
	}
	*problem = reasons;
	return NULL;
}
