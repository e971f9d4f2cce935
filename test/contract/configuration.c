// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "configuration.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>

void configure(const char *text)
{
	setenv("IBVBUF_CONF", scratch_file("ibvbuf.conf", text, strlen(text)), 1);
}

bool make_private_mounts(void)
{
	if (unshare(CLONE_NEWNS))
		return false;
	return !mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL);
}

bool make_system_file(const char *text)
{
	if (!make_private_mounts())
		return false;
	/* Before the name that scratch_path() has for it is hidden. */
	scratch_file("ibvbuf-preload.conf", text, strlen(text));
	cr_assert_eq(mount(scratch_path(""), SYSCONFDIR, "none", MS_BIND, NULL), 0);
	return true;
}

const char *said_of_misuse(void)
{
	capture_errors();
	free_twice();
	return captured_errors();
}
