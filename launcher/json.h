/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writing JSON. A key is NULL for the outermost value and in arrays. */
#ifndef IBVBUF_LAUNCHER_JSON_H
#define IBVBUF_LAUNCHER_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *to;
	unsigned int depth;
	bool first;
	bool one_line;
};

void json_start(struct json *json, FILE *to);
/* Without a line break or space until the end of the outermost value. */
void json_start_line(struct json *json, FILE *to);
/* `bracket` is '{' or '[', and its partner in json_close(). */
void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);
/* null for NULL. Bytes that are no UTF-8 become U+FFFD. */
void json_string(struct json *json, const char *key, const char *value);
void json_boolean(struct json *json, const char *key, bool value);
void json_number(struct json *json, const char *key, uint64_t value);
void json_integer(struct json *json, const char *key, int64_t value);
/* The value divided by 1000, exactly. */
void json_thousandths(struct json *json, const char *key, uint64_t value);
void json_null(struct json *json, const char *key);

#endif
