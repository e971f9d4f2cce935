/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the launcher says, and strings that it makes. Memory is never given back: the process is
 * about to become another program, or to end. The reader of traces says its own with these, too.
 */
#ifndef IBVBUF_LAUNCHER_MESSAGE_H
#define IBVBUF_LAUNCHER_MESSAGE_H

#include <stddef.h>

/* As env(1) has them. */
#define EXIT_LAUNCHER	    125
#define EXIT_CANNOT_EXECUTE 126
#define EXIT_NOT_FOUND	    127

/* Who speaks, and the status that fail() ends with: the launcher and EXIT_LAUNCHER until then. */
void message_from(const char *program, int status);

/* A line on standard error, behind the program's name. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, and the end. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* asprintf() that does not fail. */
char *print_string(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* realloc() of an array that does not fail. */
void *grow(void *array, size_t count, size_t size);

#endif
