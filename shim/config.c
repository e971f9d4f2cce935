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

/**
 * struct reading - one reading of the whole configuration
 * @config: the result
 * @is_reporting: whether mistakes are said
 * @file: the file that is being read
 */
struct reading {
	struct config config;
	bool is_reporting;
	char file[FILE_CAPACITY];
};

const struct config *config_current;

/* What is used when not even pages for a reading can be had. */
static const struct config built_in = {
	.diagnostics = DIAGNOSTICS_MISUSE,
	.transparent_huge_pages = true,
	.keep_small_buffers = true,
};

/* By hand, for the C library follows the program's locale: a Turkish i in upper case is no I. */
static bool is_blank(char byte)
{
	return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static char to_upper(char byte)
{
	if (byte >= 'a' && byte <= 'z')
		byte = (char)(byte - 'a' + 'A');
	return byte;
}

static struct span span_trim(struct span span)
{
	while (span.length && is_blank(span.start[0])) {
		span.start++;
		span.length--;
	}
	while (span.length && is_blank(span.start[span.length - 1]))
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

/* A long value is cut, so that what comes after it is still there. */
#define QUOTED_CAPACITY ((size_t)256)

/**
 * struct mistake - "WHERE:LINE: SUBJECT PROBLEM 'QUOTED' (VALUES); ignored"
 * @where: a file or a variable
 * @line: in the file, from 1 on; 0 for none
 * @subject: an option, or empty
 * @problem: what is wrong
 * @quoted: what it was found in
 * @values: what would have been right, or NULL
 */
struct mistake {
	const char *where;
	unsigned int line;
	const char *subject;
	const char *problem;
	struct span quoted;
	const char *values;
};

static void report_mistake(const struct mistake *mistake)
{
	size_t quoted = mistake->quoted.length;
	struct text text = {.length = 0};

	text_string(&text, "ibvbuf-preload: ");
	text_string(&text, mistake->where);
	if (mistake->line) {
		text_string(&text, ":");
		text_decimal(&text, mistake->line);
	}
	text_string(&text, ": ");
	text_string(&text, mistake->subject);
	text_string(&text, mistake->problem);
	text_string(&text, " '");
	text_bytes(&text, mistake->quoted.start,
		   quoted < QUOTED_CAPACITY ? quoted : QUOTED_CAPACITY);
	text_string(&text, "'");
	if (mistake->values) {
		text_string(&text, " (");
		text_string(&text, mistake->values);
		text_string(&text, ")");
	}
	text_string(&text, "; ignored");
	text_end_line(&text);
	report_text(&text);
}

static struct span span_of(const char *string)
{
	return (struct span){string, strlen(string)};
}

static void set(struct reading *reading, const char *where, unsigned int line,
		const struct option *option, struct span value)
{
	struct mistake mistake = {where, line, option->key, " cannot be", value, option->values};

	if (!option->parse((char *)&reading->config + option->member, value) &&
	    reading->is_reporting)
		report_mistake(&mistake);
}

static void read_line(struct reading *reading, const char *path, unsigned int line,
		      struct span text)
{
	const char *comment = memchr(text.start, '#', text.length);
	struct mistake mistake = {path, line, "", "not of the form 'key = value':", text, NULL};
	const char *equals;
	struct span value;
	size_t i;

	if (comment)
		text.length = (size_t)(comment - text.start);
	mistake.quoted = span_trim(text);
	if (!mistake.quoted.length)
		return;

	equals = memchr(text.start, '=', text.length);
	if (equals) {
		mistake.problem = "unknown key";
		mistake.quoted =
			span_trim((struct span){text.start, (size_t)(equals - text.start)});
		value.start = equals + 1;
		value.length = text.length - (size_t)(value.start - text.start);
		for (i = 0; i < OPTION_COUNT; i++) {
			if (!span_is(mistake.quoted, options[i].key))
				continue;
			set(reading, path, line, &options[i], span_trim(value));
			return;
		}
	}
	if (reading->is_reporting)
		report_mistake(&mistake);
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
	struct mistake mistake = {path, 0, "", "cannot be read:", {NULL, 0}, NULL};

	if (length >= 0) {
		read_lines(reading, path, (size_t)length);
	} else if (reading->is_reporting && (errno != ENOENT || !may_be_missing)) {
		mistake.quoted = span_of(text_error_name(errno));
		report_mistake(&mistake);
	}
}

static void read_variable(struct reading *reading, const struct option *option)
{
	char name[64] = "IBVBUF_";
	size_t length = strlen(name);
	const char *value, *key;

	for (key = option->key; *key; key++)
		name[length++] = to_upper(*key);
	name[length] = '\0';

	value = getenv(name);
	if (value)
		set(reading, name, 0, option, span_of(value));
}

static void read_all(struct reading *reading)
{
	const char *named;
	size_t i;

	for (i = 0; i < OPTION_COUNT; i++)
		set(reading, "", 0, &options[i], span_of(options[i].initial));

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

static struct reading *new_reading(bool is_reporting)
{
	struct reading *reading = mmap(NULL, sizeof(*reading), PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (reading == MAP_FAILED)
		return NULL;
	reading->is_reporting = is_reporting;
	read_all(reading);
	return reading;
}

/* A second reading says what is wrong, now that it is known where to say it. */
static void report_mistakes(void)
{
	struct reading *reading = new_reading(true);

	if (reading)
		munmap(reading, sizeof(*reading));
}

const struct config *config_read(void)
{
	const struct config *expected = NULL;
	int saved_errno = errno;
	struct reading *reading = new_reading(false);

	if (!reading) {
		errno = saved_errno;
		return &built_in;
	}
	/* release: pairs with the acquire in config_get() */
	if (__atomic_compare_exchange_n(&config_current, &expected, &reading->config, false,
					__ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) {
		expected = &reading->config;
		if (expected->diagnostics != DIAGNOSTICS_OFF)
			report_mistakes();
		report_start();
	} else {
		munmap(reading, sizeof(*reading));
	}
	errno = saved_errno;
	return expected;
}
