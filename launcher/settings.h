/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* --set key=value: the options of the shim's configuration, as the variables that it reads. */
#ifndef IBVBUF_LAUNCHER_SETTINGS_H
#define IBVBUF_LAUNCHER_SETTINGS_H

#include <stddef.h>
#include <stdio.h>

struct setting {
	char *variable;
	char *value;
};

struct settings {
	struct setting *items;
	size_t count;
};

/* Ends the process if `text` is no "key=value", or not of a key and a value that there are. */
void settings_add(struct settings *settings, const char *text);
/* What the program gets for a key by its environment; NULL for nothing. */
const char *settings_value(const struct settings *settings, const char *key);
/* A line for each key, with its values and its default. */
void settings_describe(FILE *to);

#endif
