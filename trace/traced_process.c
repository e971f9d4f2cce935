// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The writer keeps its file mapped. So it can be told from a process that was given its number
 * later, and from the program that it became; and in a container, where it has another number, it
 * can be found. Its children have the file mapped, too, but another number there.
 */
#define _GNU_SOURCE
#include "traced_process.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

enum mapping { MAPPED, NOT_MAPPED, UNKNOWN };

/*
 * Of a line of /proc/PID/maps. On some file systems, overlayfs among them, the numbers there are
 * not those of stat(2); there the path has to do.
 */
static bool line_is_of(char *line, const struct stat *status, const char *path)
{
	unsigned int device_major, device_minor;
	uint64_t inode;
	int place = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%*s %*s %*s %x:%x %" SCNu64 " %n", &device_major, &device_minor, &inode,
		   &place) != 3 ||
	    !place)
		return false;
	if (inode == status->st_ino && makedev(device_major, device_minor) == status->st_dev)
		return true;
	return !strcmp(line + place, path);
}

static enum mapping file_mapping(const struct trace_file *file, pid_t process)
{
	char name[64], path[PATH_MAX], *line = NULL;
	enum mapping answer = NOT_MAPPED;
	struct stat status;
	ssize_t length;
	size_t size = 0;
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", file->fd);
	length = readlink(name, path, sizeof(path) - 1);
	path[length < 0 ? 0 : length] = '\0';
	snprintf(name, sizeof(name), "/proc/%d/maps", (int)process);
	maps = fopen(name, "re");
	if (!maps || fstat(file->fd, &status)) {
		answer = errno == ENOENT || errno == ESRCH ? NOT_MAPPED : UNKNOWN;
		if (maps)
			fclose(maps);
		return answer;
	}
	while (answer == NOT_MAPPED && getline(&line, &size, maps) > 0) {
		if (line_is_of(line, &status, path))
			answer = MAPPED;
	}
	free(line);
	fclose(maps);
	return answer;
}

static bool is_of_this_host(const struct trace_file *file)
{
	const size_t room = sizeof(file->header.host) - 1;
	struct utsname system;
	const char *host = system.nodename;

	if (uname(&system))
		return false;
	/* Of a name that is too long, the file has the end. */
	if (strlen(host) > room)
		host += strlen(host) - room;
	return !strcmp(host, file->header.host);
}

/* Whether it has that number in its own container. */
static bool is_called(pid_t process, uint32_t number)
{
	char name[64], *line = NULL, *last;
	bool answer = false;
	size_t size = 0;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/status", (int)process);
	file = fopen(name, "re");
	if (!file)
		return false;
	while (!answer && getline(&line, &size, file) > 0) {
		last = strrchr(line, '\t');
		answer = !strncmp(line, "NSpid:", strlen("NSpid:")) && last &&
			 strtoul(last + 1, NULL, 10) == number;
	}
	free(line);
	fclose(file);
	return answer;
}

/* The writer, if it can be looked at; 0 if not. */
static pid_t find_anywhere(const struct trace_file *file)
{
	struct dirent *entry;
	pid_t process, found = 0;
	DIR *folder;

	folder = opendir("/proc");
	if (!folder)
		return 0;
	while (!found && (entry = readdir(folder))) {
		process = (pid_t)strtol(entry->d_name, NULL, 10);
		if (process > 0 && is_called(process, file->header.process) &&
		    file_mapping(file, process) == MAPPED)
			found = process;
	}
	closedir(folder);
	return found;
}

bool traced_process_is_here(const struct trace_file *file)
{
	const pid_t named = (pid_t)file->header.process;

	return named > 0 && is_of_this_host(file) && file_mapping(file, named) == MAPPED;
}

void traced_process_find(struct traced_process *process, const struct trace_file *file)
{
	const pid_t named = (pid_t)file->header.process;

	process->file = file;
	process->process = 0;
	if (named > 0 && is_of_this_host(file) && file_mapping(file, named) != NOT_MAPPED)
		process->process = named;
	else
		process->process = find_anywhere(file);
}

bool traced_process_runs(struct traced_process *process)
{
	enum mapping mapping;

	if (!process->process) {
		process->process = find_anywhere(process->file);
		return process->process || !is_of_this_host(process->file);
	}
	mapping = file_mapping(process->file, process->process);
	if (mapping == UNKNOWN)
		return !kill(process->process, 0) || errno == EPERM;
	return mapping == MAPPED;
}
