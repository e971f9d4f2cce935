// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "trace_name.h"
#include "process.h"
#include "text.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* A number from 0 on that fits, or -1. */
static int number(const char *text)
{
	long value = 0;

	if (!*text)
		return -1;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || value > (INT_MAX - 9) / 10)
			return -1;
		value = value * 10 + (*text - '0');
	}
	return (int)value;
}

struct trace_rank trace_rank(void)
{
	/* What starts programs within an allocation comes before what made the allocation. */
	static const char *const variables[] = {
		"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK",
		"SLURM_PROCID",
	};
	size_t i;

	for (i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		/* Who starts a set-user-ID program does not say where it writes. */
		const char *value = secure_getenv(variables[i]);
		int rank = value ? number(value) : -1;

		if (rank >= 0)
			return (struct trace_rank){rank, variables[i]};
	}
	return (struct trace_rank){-1, ""};
}

bool trace_name_is_valid(const char *pattern, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++) {
		if (pattern[i] != '%')
			continue;
		if (++i == length || !strchr("hepr%", pattern[i]))
			return false;
	}
	return true;
}

/**
 * struct name - a path being made
 * @text: it
 * @length: so far
 * @capacity: bytes there, for a NUL as well
 * @fits: whether everything did
 */
struct name {
	char *text;
	size_t length;
	size_t capacity;
	bool fits;
};

static void add(struct name *name, const char *text, size_t length)
{
	if (length >= name->capacity - name->length) {
		name->fits = false;
		return;
	}
	memcpy(name->text + name->length, text, length);
	name->length += length;
	name->text[name->length] = '\0';
}

/* A part of a file's name: what would be a folder, or steer a terminal, becomes "_". */
static void add_part(struct name *name, const char *text)
{
	if (!strcmp(text, ".") || !strcmp(text, ".."))
		text = "_";
	for (; *text; text++)
		add(name, *text == '/' || text_is_control(*text) ? "_" : text, 1);
}

static void add_number(struct name *name, unsigned int value)
{
	char digits[10];
	size_t start = sizeof(digits);

	do {
		digits[--start] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	add(name, digits + start, sizeof(digits) - start);
}

static void add_value(struct name *name, char which)
{
	struct trace_rank rank;
	struct utsname system;

	switch (which) {
	case 'h':
		add_part(name, uname(&system) ? "" : system.nodename);
		break;
	case 'e':
		add_part(name, program_invocation_short_name);
		break;
	case 'p':
		add_number(name, (unsigned int)process_id());
		break;
	case 'r':
		rank = trace_rank();
		if (rank.rank < 0)
			add(name, "-", 1);
		else
			add_number(name, (unsigned int)rank.rank);
		break;
	default:
		add(name, "%", 1);
		break;
	}
}

bool trace_name_expand(const char *pattern, char *path, size_t capacity)
{
	struct name name = {path, 0, capacity, true};

	if (*pattern != '/') {
		if (!getcwd(path, capacity))
			return false;
		name.length = strlen(path);
		add(&name, "/", 1);
	}
	for (; *pattern; pattern++) {
		if (*pattern == '%' && pattern[1])
			add_value(&name, *++pattern);
		else
			add(&name, pattern, 1);
	}
	if (!name.fits)
		errno = ENAMETOOLONG;
	return name.fits;
}

void trace_name_add_suffix(char *end, unsigned int suffix)
{
	struct name name = {end, 0, TRACE_NAME_SUFFIX, true};

	add(&name, ".", 1);
	add_number(&name, suffix);
}

void trace_name_copy(char *field, size_t capacity, const char *text)
{
	size_t length = strlen(text);

	if (length >= capacity) {
		text += length - (capacity - 1);
		length = capacity - 1;
	}
	memcpy(field, text, length);
	field[length] = '\0';
}
