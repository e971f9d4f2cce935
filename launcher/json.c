// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "json.h"

#include <inttypes.h>
#include <stddef.h>

#include "utf8.h"

/* Most of a string needs nothing done to it. */
static size_t plain_length(const unsigned char *bytes)
{
	size_t length = 0;

	while (bytes[length] >= 0x20 && bytes[length] < 0x7f && bytes[length] != '"' &&
	       bytes[length] != '\\')
		length++;
	return length;
}

static void put_string(FILE *to, const char *string)
{
	const unsigned char *byte = (const unsigned char *)string;
	size_t length;

	fputc('"', to);
	while (*byte) {
		length = plain_length(byte);
		if (length) {
			fwrite(byte, 1, length, to);
			byte += length;
			continue;
		}
		length = utf8_length(byte);
		if (!length)
			fputs("\\ufffd", to);
		else if (*byte < 0x20 || *byte == 0x7f)
			fprintf(to, "\\u%04x", *byte);
		else if (*byte == '"' || *byte == '\\')
			fprintf(to, "\\%c", *byte);
		else
			fwrite(byte, 1, length, to);
		byte += length ? length : 1;
	}
	fputc('"', to);
}

static void new_line(struct json *json)
{
	unsigned int i;

	if (json->one_line)
		return;
	fputc('\n', json->to);
	for (i = 0; i < json->depth; i++)
		fputs("  ", json->to);
}

static void begin_value(struct json *json, const char *key)
{
	if (!json->first)
		fputc(',', json->to);
	if (json->depth)
		new_line(json);
	json->first = false;
	if (key) {
		put_string(json->to, key);
		fputs(json->one_line ? ":" : ": ", json->to);
	}
}

void json_start(struct json *json, FILE *to)
{
	json->to = to;
	json->depth = 0;
	json->first = true;
	json->one_line = false;
}

void json_start_line(struct json *json, FILE *to)
{
	json_start(json, to);
	json->one_line = true;
}

void json_open(struct json *json, const char *key, char bracket)
{
	begin_value(json, key);
	fputc(bracket, json->to);
	json->depth++;
	json->first = true;
}

void json_close(struct json *json, char bracket)
{
	json->depth--;
	if (!json->first)
		new_line(json);
	json->first = false;
	fputc(bracket, json->to);
	if (!json->depth)
		fputc('\n', json->to);
}

void json_string(struct json *json, const char *key, const char *value)
{
	begin_value(json, key);
	if (value)
		put_string(json->to, value);
	else
		fputs("null", json->to);
}

void json_boolean(struct json *json, const char *key, bool value)
{
	begin_value(json, key);
	fputs(value ? "true" : "false", json->to);
}

void json_number(struct json *json, const char *key, uint64_t value)
{
	begin_value(json, key);
	fprintf(json->to, "%" PRIu64, value);
}

void json_integer(struct json *json, const char *key, int64_t value)
{
	begin_value(json, key);
	fprintf(json->to, "%" PRId64, value);
}

void json_thousandths(struct json *json, const char *key, uint64_t value)
{
	begin_value(json, key);
	fprintf(json->to, "%" PRIu64 ".%03" PRIu64, value / 1000, value % 1000);
}

void json_null(struct json *json, const char *key)
{
	begin_value(json, key);
	fputs("null", json->to);
}
