// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A program may start others, which have files of their own. Their names are not known here, and
 * other programs may trace to the same pattern; so a file says itself when it was made.
 */
#define _GNU_SOURCE
#include "trace_files.h"
#include "message.h"
#include "paths.h"

#include "ibvbuf/trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static char *private_folder;

/* As it has to be in a pattern to mean itself, or in one of glob(3). */
static char *quote(const char *text, const char *special, char by)
{
	char *quoted = grow(NULL, 2 * strlen(text) + 1, 1);
	size_t length = 0;

	for (; *text; text++) {
		if (strchr(special, *text))
			quoted[length++] = by;
		quoted[length++] = *text;
	}
	quoted[length] = '\0';
	return quoted;
}

static bool is_folder(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISDIR(status.st_mode);
}

char *trace_files_pattern(const char *file)
{
	if (is_folder(file))
		return print_string("%s/%s", quote(path_absolute(file), "%", '%'), TRACE_FILE_NAME);
	/* An absolute one needs no current folder, which may be gone. */
	if (*file == '/')
		return print_string("%s", file);
	return print_string("%s/%s", quote(path_absolute(""), "%", '%'), file);
}

char *trace_files_private(void)
{
	const char *root = getenv("TMPDIR");

	if (!root || !*root)
		root = "/tmp";
	private_folder = path_absolute(print_string("%s/ibvbuf-trace.XXXXXX", root));
	/* For this user alone: 0700. */
	if (!mkdtemp(private_folder))
		fail("no folder for the trace can be made in '%s': %s; set TMPDIR, or name one "
		     "with --trace",
		     root, strerror(errno));
	return print_string("%s/%s", quote(private_folder, "%", '%'), TRACE_FILE_NAME);
}

/* What a pattern is in glob(3): what the writer fills in can be anything. */
static char *glob_of(const char *pattern)
{
	char *result = print_string("%s", "");
	char one[2] = "";

	for (; *pattern; pattern++) {
		if (*pattern == '%' && pattern[1] && *++pattern != '%') {
			result = print_string("%s*", result);
		} else {
			one[0] = *pattern;
			result = print_string("%s%s", result, quote(one, "*?[\\", '\\'));
		}
	}
	return result;
}

static uint64_t nanoseconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t trace_files_now(void)
{
	return nanoseconds(CLOCK_MONOTONIC);
}

/* When the file was made; 0 if it is no trace of this host. */
static uint64_t made_at(const char *path)
{
	struct ibvbuf_trace_header header;
	struct utsname system;
	const char *host = system.nodename;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t length;

	if (fd < 0)
		return 0;
	length = read(fd, &header, sizeof(header));
	close(fd);
	if (length != (ssize_t)sizeof(header) || uname(&system))
		return 0;
	/* Of a name that is too long, the file has the end. */
	if (strlen(host) >= sizeof(header.host))
		host += strlen(host) - (sizeof(header.host) - 1);
	if (memcmp(header.magic, IBVBUF_TRACE_MAGIC, sizeof(header.magic)) != 0 ||
	    strncmp(header.host, host, sizeof(header.host)) != 0)
		return 0;
	return header.start_monotonic;
}

static void add_matches(struct string_list *files, const char *expression, uint64_t since)
{
	glob_t found;
	size_t i;

	/* A program's name may begin with a dot. */
	if (glob(expression, GLOB_NOSORT | GLOB_PERIOD, NULL, &found))
		return;
	for (i = 0; i < found.gl_pathc; i++)
		if (made_at(found.gl_pathv[i]) >= since)
			string_list_add(files, found.gl_pathv[i]);
	globfree(&found);
}

struct string_list trace_files_find(const char *pattern, uint64_t since)
{
	struct string_list files = {0};
	char *expression = glob_of(pattern);

	add_matches(&files, expression, since);
	/* Where the name was taken. A pattern that ends with "*" has found these. */
	if (*expression && expression[strlen(expression) - 1] != '*')
		add_matches(&files, print_string("%s.[0-9]*", expression), since);
	return files;
}

void trace_files_remove(const char *pattern)
{
	struct string_list files = trace_files_find(pattern, 0);
	size_t i;

	for (i = 0; i < files.count; i++)
		unlink(files.items[i]);
	if (rmdir(private_folder))
		complain("'%s' cannot be removed: %s", private_folder, strerror(errno));
}
