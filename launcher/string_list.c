// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "string_list.h"
#include "message.h"

#include <string.h>

void string_list_add(struct string_list *list, const char *item)
{
	list->items = grow(list->items, list->count + 1, sizeof(*list->items));
	list->items[list->count++] = print_string("%s", item);
}

bool string_list_has(const struct string_list *list, const char *item)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		if (!strcmp(list->items[i], item))
			return true;
	}
	return false;
}

struct string_list string_list_split(const char *text, const char *separators)
{
	struct string_list list = {0};

	if (!text || !*text)
		return list;
	for (;;) {
		size_t length = strcspn(text, separators);
		char *item = print_string("%.*s", (int)length, text);

		string_list_add(&list, item);
		if (!text[length])
			return list;
		text += length + 1;
	}
}

char *string_list_join(const struct string_list *list, const char *separator)
{
	char *joined = NULL;
	size_t i;

	for (i = 0; i < list->count; i++)
		joined = joined ? print_string("%s%s%s", joined, separator, list->items[i])
				: print_string("%s", list->items[i]);
	return joined;
}
