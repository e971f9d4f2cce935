// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "possessions.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Most descriptors that a test has open. */
#define MOST_DESCRIPTORS 256

/* What is open, without a descriptor of our own: a limit on them may be what is tested. */
static void note_descriptors(char *text, size_t capacity)
{
	char path[64], target[256];
	size_t length = 0;
	ssize_t got;
	int fd;

	text[0] = '\0';
	for (fd = 0; fd < MOST_DESCRIPTORS; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		got = readlink(path, target, sizeof(target) - 1);
		if (got < 0)
			continue;
		target[got] = '\0';
		length += (size_t)snprintf(text + length, capacity - length, "%d %s\n", fd, target);
		cr_assert_lt(length, capacity);
	}
}

unsigned int count_descriptors(void)
{
	unsigned int count = 0;
	int fd;

	for (fd = 0; fd < MOST_DESCRIPTORS; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* The stack grows as it likes. */
static void drop_stack(char *text)
{
	char *line, *end, *name = strstr(text, "[stack]");

	if (!name)
		return;
	for (line = name; line > text && line[-1] != '\n'; line--)
		;
	end = strchr(name, '\n') + 1;
	memmove(line, end, strlen(end) + 1);
}

static int maps = -1;

static void note_mappings(char *text, size_t capacity)
{
	size_t length = 0;
	ssize_t got;

	cr_assert_eq(lseek(maps, 0, SEEK_SET), 0);
	do {
		got = read(maps, text + length, capacity - 1 - length);
		cr_assert_geq(got, 0);
		length += (size_t)got;
	} while (got > 0);
	cr_assert_lt(length, capacity - 1);
	text[length] = '\0';
	drop_stack(text);
}

void note_possessions(struct possessions *possessions)
{
	/* It stays open, and high up: a limit may be at the lowest free descriptor. */
	if (maps < 0) {
		int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

		maps = fcntl(fd, F_DUPFD_CLOEXEC, MOST_DESCRIPTORS);
		close(fd);
		cr_assert_geq(maps, 0);
	}
	note_descriptors(possessions->descriptors, sizeof(possessions->descriptors));
	note_mappings(possessions->mappings, sizeof(possessions->mappings));
}

void assert_names_caller(const char *line, const void *function)
{
	const char *place = strstr(line, "(called from ");
	const ElfW(Sym) * symbol;
	uintptr_t offset, start;
	Dl_info info;

	cr_assert_neq(dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT), 0);
	cr_assert_not_null(symbol, "the function is not in the dynamic symbol table");
	start = (uintptr_t)function - (uintptr_t)info.dli_fbase;
	cr_assert_not_null(place, "no caller in: %s", line);
	cr_assert_not_null(strchr(place, '+'), "no offset in: %s", line);
	offset = strtoul(strchr(place, '+') + 1, NULL, 16);
	cr_assert(offset > start && offset <= start + symbol->st_size,
		  "the function is at %#lx to %#lx, not where this says: %s", start,
		  start + symbol->st_size, line);
}
