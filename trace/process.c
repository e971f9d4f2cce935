// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "process.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

const char *process_program(const struct trace_file *file)
{
	const char *slash = strrchr(file->header.program, '/');

	return slash && slash[1] ? slash + 1 : file->header.program;
}

const char *process_text(const struct trace_file *file, char text[PROCESS_TEXT_SIZE])
{
	const struct ibvbuf_trace_header *header = &file->header;
	const char *program = process_program(file);
	int length;

	length = snprintf(text, PROCESS_TEXT_SIZE, "%s, process %" PRIu32 "%s%s",
			  *program ? program : "(unknown program)", header->process,
			  header->host[0] ? " on " : "", header->host);
	if (header->rank >= 0)
		snprintf(text + length, PROCESS_TEXT_SIZE - (size_t)length, ", rank %" PRId32,
			 header->rank);
	return text;
}

/* By device and inode; or by path, since some file systems show others in the list of mappings. */
static bool is_mapped(const char *line, const struct stat *status, const char *path)
{
	unsigned int device_major, device_minor;
	uint64_t inode;
	int at = 0;

	if (sscanf(line, "%*s %*s %*s %x:%x %" SCNu64 " %n", &device_major, &device_minor, &inode,
		   &at) < 3)
		return false;
	if (inode == status->st_ino && device_major == major(status->st_dev) &&
	    device_minor == minor(status->st_dev))
		return true;
	return path && at && !strncmp(line + at, path, strlen(path)) &&
	       line[(size_t)at + strlen(path)] == '\n';
}

bool process_runs(const struct trace_file *file)
{
	char maps[64], *line = NULL, *path;
	struct stat status;
	bool runs = false;
	size_t size = 0;
	FILE *list;

	snprintf(maps, sizeof(maps), "/proc/%" PRIu32 "/maps", file->header.process);
	list = fopen(maps, "re");
	if (!list)
		return false;
	path = realpath(file->path, NULL);
	if (!fstat(file->fd, &status)) {
		while (!runs && getline(&line, &size, list) > 0)
			runs = is_mapped(line, &status, path);
	}
	free(line);
	free(path);
	fclose(list);
	return runs;
}
