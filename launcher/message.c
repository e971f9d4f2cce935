// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void say(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

static void say(const char *format, va_list arguments)
{
	fputs("ibvbuf-run: ", stderr);
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
	exit(EXIT_LAUNCHER);
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
