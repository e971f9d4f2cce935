/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A list of strings, such as the components of a path variable. */
#ifndef IBVBUF_LAUNCHER_STRING_LIST_H
#define IBVBUF_LAUNCHER_STRING_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct string_list {
	char **items;
	size_t count;
};

void string_list_add(struct string_list *list, const char *item);
bool string_list_has(const struct string_list *list, const char *item);
/* The components between separators, empty ones too; nothing for NULL or "". */
struct string_list string_list_split(const char *text, const char *separators);
/* NULL for an empty list. */
char *string_list_join(const struct string_list *list, const char *separator);

#endif
