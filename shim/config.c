// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reading the configuration: the defaults, then /etc/ibvbuf-preload.conf, then the file that
 * IBVBUF_CONF names, then one variable a key. What comes later wins; what is wrong is named, and
 * changes nothing.
 *
 * Threads that come here at the same time each read for themselves, into pages of their own; the
 * first to finish is the one whose reading counts, so nobody waits for anybody.
 */
#define _GNU_SOURCE
#include "config.h"
#include "config_values.h"
#include "report.h"
#include "small_file.h"
#include "text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#ifndef IBVBUF_SYSCONFDIR
#define IBVBUF_SYSCONFDIR "/etc"
#endif
#define SYSTEM_FILE   IBVBUF_SYSCONFDIR "/ibvbuf-preload.conf"
#define FILE_CAPACITY ((size_t)64 << 10)

/* One reading: the result, and what there is to say about the way to it. */
struct reading {
	struct config config;
	struct text complaints;
	char file[FILE_CAPACITY];
};

const struct config *config_current;

/* What is used when not even pages for a reading can be had. */
static const struct config built_in = {
	.diagnostics = DIAGNOSTICS_MISUSE,
	.transparent_huge_pages = true,
};

static struct span span_trim(struct span span)
{
	while (span.length && isspace((unsigned char)span.start[0])) {
		span.start++;
		span.length--;
	}
	while (span.length && isspace((unsigned char)span.start[span.length - 1]))
		span.length--;
	return span;
}

static const struct option {
	const char *key;
	bool (*parse)(void *member, struct span value);
	size_t member;
	const char *initial;
	const char *values;
} options[] = {
#define OPTION(key, kind, initial, values)                                                         \
	{#key, config_value_##kind, offsetof(struct config, key), initial, values},
#include "config_options.def"
#undef OPTION
};

#define OPTION_COUNT (sizeof(options) / sizeof(options[0]))

/* "ibvbuf-preload: FILE:LINE: " or, for a variable (line 0), "ibvbuf-preload: VARIABLE: ". */
static void complain(struct reading *reading, const char *where, unsigned int line)
{
	text_string(&reading->complaints, "ibvbuf-preload: ");
	text_string(&reading->complaints, where);
	if (line) {
		text_string(&reading->complaints, ":");
		text_decimal(&reading->complaints, line);
	}
	text_string(&reading->complaints, ": ");
}

static void complain_value(struct reading *reading, const struct option *option, struct span value)
{
	text_string(&reading->complaints, option->key);
	text_string(&reading->complaints, " cannot be '");
	text_bytes(&reading->complaints, value.start, value.length);
	text_string(&reading->complaints, "' (");
	text_string(&reading->complaints, option->values);
	text_string(&reading->complaints, "); ignored\n");
}

static bool set(struct reading *reading, const struct option *option, struct span value)
{
	return option->parse((char *)&reading->config + option->member, value);
}

static void read_line(struct reading *reading, const char *path, unsigned int line,
		      struct span text)
{
	const char *comment = memchr(text.start, '#', text.length);
	const char *equals;
	struct span key, value;
	size_t i;

	if (comment)
		text.length = (size_t)(comment - text.start);
	text = span_trim(text);
	if (!text.length)
		return;

	equals = memchr(text.start, '=', text.length);
	if (!equals) {
		complain(reading, path, line);
		text_string(&reading->complaints, "not of the form 'key = value'; ignored\n");
		return;
	}
	key = span_trim((struct span){text.start, (size_t)(equals - text.start)});
	value = span_trim(
		(struct span){equals + 1, text.length - (size_t)(equals + 1 - text.start)});

	for (i = 0; i < OPTION_COUNT; i++) {
		if (!span_is(key, options[i].key))
			continue;
		if (!set(reading, &options[i], value)) {
			complain(reading, path, line);
			complain_value(reading, &options[i], value);
		}
		return;
	}
	complain(reading, path, line);
	text_string(&reading->complaints, "unknown key '");
	text_bytes(&reading->complaints, key.start, key.length);
	text_string(&reading->complaints, "'; ignored\n");
}

static void read_lines(struct reading *reading, const char *path, size_t length)
{
	const char *end = reading->file + length;
	const char *start = reading->file;
	unsigned int line = 1;

	while (start < end) {
		const char *newline = memchr(start, '\n', (size_t)(end - start));
		const char *stop = newline ? newline : end;

		read_line(reading, path, line++, (struct span){start, (size_t)(stop - start)});
		start = stop + 1;
	}
}

static void read_file(struct reading *reading, const char *path, bool may_be_missing)
{
	ssize_t length = small_file_read(path, reading->file, sizeof(reading->file));

	if (length >= 0) {
		read_lines(reading, path, (size_t)length);
	} else if (errno != ENOENT || !may_be_missing) {
		int error = errno;

		complain(reading, path, 0);
		text_string(&reading->complaints, "cannot be read (");
		text_error(&reading->complaints, error);
		text_string(&reading->complaints, "); ignored\n");
	}
}

static void read_variable(struct reading *reading, const struct option *option)
{
	char name[64] = "IBVBUF_";
	size_t length = strlen(name);
	const char *value, *key;

	for (key = option->key; *key; key++)
		name[length++] = (char)toupper((unsigned char)*key);
	name[length] = '\0';

	value = getenv(name);
	if (value && !set(reading, option, (struct span){value, strlen(value)})) {
		complain(reading, name, 0);
		complain_value(reading, option, (struct span){value, strlen(value)});
	}
}

static void read_all(struct reading *reading)
{
	const char *named;
	size_t i;

	for (i = 0; i < OPTION_COUNT; i++)
		set(reading, &options[i],
		    (struct span){options[i].initial, strlen(options[i].initial)});

	read_file(reading, SYSTEM_FILE, true);
	/* Who starts a set-user-ID program does not say where it writes. */
	if (getauxval(AT_SECURE))
		return;
	named = getenv("IBVBUF_CONF");
	if (named && *named)
		read_file(reading, named, false);
	for (i = 0; i < OPTION_COUNT; i++)
		read_variable(reading, &options[i]);
}

const struct config *config_read(void)
{
	const struct config *expected = NULL;
	int saved_errno = errno;
	struct reading *reading;

	reading = mmap(NULL, sizeof(*reading), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	if (reading == MAP_FAILED) {
		errno = saved_errno;
		return &built_in;
	}
	read_all(reading);

	/* release: pairs with the acquire in config_get() */
	if (__atomic_compare_exchange_n(&config_current, &expected, &reading->config, false,
					__ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) {
		expected = &reading->config;
		if (expected->diagnostics != DIAGNOSTICS_OFF && reading->complaints.length)
			report_text(&reading->complaints);
		report_start();
	} else {
		munmap(reading, sizeof(*reading));
	}
	errno = saved_errno;
	return expected;
}
