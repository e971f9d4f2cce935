// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char *speaker = "ibvbuf-run";
static int status_of_failure = EXIT_LAUNCHER;

void message_from(const char *program, int status)
{
	speaker = program;
	status_of_failure = status;
}

static void say(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

static void say(const char *format, va_list arguments)
{
	fprintf(stderr, "%s: ", speaker);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
}

void complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
}

void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
	exit(status_of_failure);
}

char *print_string(const char *format, ...)
{
	va_list arguments;
	char *string;
	int length;

	va_start(arguments, format);
	length = vasprintf(&string, format, arguments);
	va_end(arguments);
	if (length < 0)
		fail("out of memory");
	return string;
}

void *grow(void *array, size_t count, size_t size)
{
	void *grown = NULL;

	if (count <= (size_t)-1 / size)
		grown = realloc(array, count * size);
	if (!grown)
		fail("out of memory");
	return grown;
}
