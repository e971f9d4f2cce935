// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "settings.h"
#include "config.h"
#include "config_values.h"
#include "message.h"
#include "paths.h"
#include "string_list.h"
#include "trace_files.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Values are checked by the shim's own functions. */
static const struct option_key {
	const char *name, *kind;
	bool (*check)(void *member, struct span value);
	size_t member;
	const char *initial, *values;
} keys[] = {
#define OPTION(key, kind, initial, values)                                                         \
	{#key, #kind, config_value_##kind, offsetof(struct config, key), initial, values},
#include "config_options.def"
#undef OPTION
};

#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))

static char *variable_name(const char *key)
{
	char *name = print_string("IBVBUF_%s", key);
	char *letter;

	for (letter = name; *letter; letter++)
		*letter = (char)toupper((unsigned char)*letter);
	return name;
}

void settings_add(struct settings *settings, const char *text)
{
	const char *equals = strchr(text, '=');
	struct string_list names = {0};
	struct config config;
	const char *value;
	size_t length, i;

	if (!equals)
		fail("--set: '%s' is not of the form key=value", text);
	length = (size_t)(equals - text);
	value = equals + 1;
	for (i = 0; i < KEY_COUNT; i++) {
		if (strlen(keys[i].name) == length && !strncmp(keys[i].name, text, length))
			break;
		string_list_add(&names, keys[i].name);
	}
	if (i == KEY_COUNT)
		fail("--set: no key '%.*s'; there are %s", (int)length, text,
		     string_list_join(&names, ", "));
	if (!keys[i].check((char *)&config + keys[i].member, (struct span){value, strlen(value)}))
		fail("--set: %s cannot be '%s' (%s)", keys[i].name, value, keys[i].values);
	/* The program may be somewhere else when it reads this. */
	if (!strcmp(keys[i].kind, "path") && *value)
		value = path_absolute(value);
	else if (!strcmp(keys[i].kind, "trace") && *value)
		value = trace_files_pattern(value);

	settings->items = grow(settings->items, settings->count + 1, sizeof(*settings->items));
	settings->items[settings->count++] =
		(struct setting){variable_name(keys[i].name), print_string("%s", value)};
}

const char *settings_value(const struct settings *settings, const char *key)
{
	const char *name = variable_name(key);
	const char *value = getenv(name);
	size_t i;

	for (i = 0; i < settings->count; i++) {
		if (!strcmp(settings->items[i].variable, name))
			value = settings->items[i].value;
	}
	return value;
}

void settings_describe(FILE *to)
{
	size_t i;

	for (i = 0; i < KEY_COUNT; i++)
		fprintf(to, "  %-22s %s (default: %s)\n", keys[i].name, keys[i].values,
			*keys[i].initial ? keys[i].initial : "none");
}
