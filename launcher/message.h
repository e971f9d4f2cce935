/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the launcher says, and strings that it makes. Memory is never given back: the process is
 * about to become another program, or to end.
 */
#ifndef IBVBUF_LAUNCHER_MESSAGE_H
#define IBVBUF_LAUNCHER_MESSAGE_H

#include <stddef.h>

/* As env(1) has them. */
#define EXIT_LAUNCHER	    125
#define EXIT_CANNOT_EXECUTE 126
#define EXIT_NOT_FOUND	    127

/* A line on standard error, behind "ibvbuf-run: ". */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, and the end with EXIT_LAUNCHER. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* asprintf() that does not fail. */
char *print_string(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* realloc() of an array that does not fail. */
void *grow(void *array, size_t count, size_t size);

#endif
