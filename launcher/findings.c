// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "findings.h"
#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_WIDTH 14
#define LINE_WIDTH  100

static const struct {
	const char *name, *label;
} severities[] = {
	[SEVERITY_FAILURE] = {"failure", "PROBLEM"},
	[SEVERITY_LIMIT] = {"limit", "limit"},
	[SEVERITY_HINT] = {"hint", "hint"},
};

void findings_add(struct findings *findings, enum severity severity, const char *remedy,
		  const char *format, ...)
{
	struct finding *finding;
	va_list arguments;

	findings->items = grow(findings->items, findings->count + 1, sizeof(*findings->items));
	finding = &findings->items[findings->count++];
	finding->severity = severity;
	finding->remedy = remedy;
	va_start(arguments, format);
	if (vasprintf(&finding->text, format, arguments) < 0)
		fail("out of memory");
	va_end(arguments);
}

/* A terminal shall show what is in a file, and not obey it. */
static void put_plain(const char *text, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		putchar((unsigned char)text[i] < 0x20 || text[i] == 0x7f ? '?' : text[i]);
}

static void put_wrapped(const char *label, const char *text)
{
	size_t column = LABEL_WIDTH, length;

	printf("%-*s", LABEL_WIDTH, label);
	while (*text) {
		length = strcspn(text, " ");
		if (column + length > LINE_WIDTH && column > LABEL_WIDTH) {
			printf("\n%*s", LABEL_WIDTH, "");
			column = LABEL_WIDTH;
		} else if (column > LABEL_WIDTH) {
			putchar(' ');
			column++;
		}
		put_plain(text, length);
		column += length;
		text += length;
		if (*text)
			text++;
	}
	putchar('\n');
}

void print_line(const char *label, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		fail("out of memory");
	va_end(arguments);
	put_wrapped(label, text);
	free(text);
}

void findings_print(const struct findings *findings)
{
	enum severity severity;
	size_t i;

	for (severity = SEVERITY_FAILURE; severity <= SEVERITY_HINT; severity++) {
		for (i = 0; i < findings->count; i++) {
			const struct finding *finding = &findings->items[i];

			if (finding->severity == severity)
				print_line(severities[severity].label, "%s. %s", finding->text,
					   finding->remedy);
		}
	}
}

void findings_write(const struct findings *findings, struct json *json)
{
	size_t i;

	json_open(json, "findings", '[');
	for (i = 0; i < findings->count; i++) {
		json_open(json, NULL, '{');
		json_string(json, "severity", severities[findings->items[i].severity].name);
		json_string(json, "text", findings->items[i].text);
		json_string(json, "remedy", findings->items[i].remedy);
		json_close(json, '}');
	}
	json_close(json, ']');
}
