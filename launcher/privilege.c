// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "privilege.h"

#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

const char *privilege_gained(const char *path)
{
	struct statvfs file_system;
	struct stat status;

	if (stat(path, &status) || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
	    (!statvfs(path, &file_system) && file_system.f_flag & ST_NOSUID))
		return NULL;
	if (status.st_mode & S_ISUID && status.st_uid != getuid())
		return "set-user-ID";
	/* Without the group's right to execute, the bit once meant mandatory locking. */
	if (status.st_mode & S_ISGID && status.st_mode & S_IXGRP && status.st_gid != getgid())
		return "set-group-ID";
	if (getuid() && getxattr(path, "security.capability", NULL, 0) > 0)
		return "given file capabilities";
	return NULL;
}

bool has_capability(unsigned int number)
{
	FILE *status = fopen("/proc/self/status", "re");
	unsigned long long effective = 0;
	char line[256];

	while (status && fgets(line, sizeof(line), status)) {
		if (sscanf(line, "CapEff: %llx", &effective) == 1)
			break;
	}
	if (status)
		fclose(status);
	return effective >> number & 1;
}
