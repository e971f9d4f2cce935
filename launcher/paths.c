// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "paths.h"
#include "message.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

char *path_absolute(const char *path)
{
	char *here;

	if (path[0] == '/')
		return print_string("%s", path);
	here = get_current_dir_name();
	if (!here)
		fail("the current folder has no path: %s", strerror(errno));
	return *path ? print_string("%s/%s", here, path) : here;
}

char *path_folder(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return print_string(".");
	if (slash == path)
		return print_string("/");
	return print_string("%.*s", (int)(slash - path), path);
}

char *path_read_link(const char *path)
{
	char target[PATH_MAX];
	ssize_t length = readlink(path, target, sizeof(target));

	if (length < 0 || length == (ssize_t)sizeof(target))
		return NULL;
	return print_string("%.*s", (int)length, target);
}
