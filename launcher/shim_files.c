// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "shim_files.h"
#include "library_search.h"
#include "message.h"
#include "paths.h"

#include <stdlib.h>
#include <unistd.h>

#define PLAIN_NAME "libibvbuf-preload.so"

const char *shim_folder(void)
{
	static char *folder;
	const char *named = getenv("IBVBUF_LIBDIR");
	char *launcher, *installed;

	if (folder)
		return folder;
	if (named && *named)
		return folder = path_absolute(named);
	launcher = path_read_link("/proc/self/exe");
	if (!launcher)
		fail("/proc/self/exe does not tell where ibvbuf-run is; set IBVBUF_LIBDIR to the "
		     "folder of " PLAIN_NAME);
	launcher = path_folder(launcher);
	installed = print_string("%s/lib/ibvbuf", path_folder(launcher));
	/* In the build tree the libraries are in the launcher's own folder. */
	folder = access(installed, F_OK) ? launcher : installed;
	return folder;
}

char *shim_drop_in(void)
{
	return print_string("%s/dropin/" VERBS_SONAME, shim_folder());
}

char *shim_plain(void)
{
	return print_string("%s/" PLAIN_NAME, shim_folder());
}
