// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* As RFC 4180 has it, but for the end of a line, which is that of Unix. */
static void write_string(const char *string)
{
	if (!string)
		return;
	if (!strpbrk(string, ",\"\r\n")) {
		fputs(string, stdout);
		return;
	}
	putchar('"');
	for (; *string; string++) {
		if (*string == '"')
			putchar('"');
		putchar(*string);
	}
	putchar('"');
}

static void write_field(const struct field *field, const struct field_value *value)
{
	switch (field->kind) {
	case FIELD_STRING:
		write_string(value->string);
		break;
	case FIELD_NUMBER:
	case FIELD_BOOLEAN:
		printf("%" PRIu64, value->number);
		break;
	case FIELD_INTEGER:
		printf("%" PRId64, (int64_t)value->number);
		break;
	case FIELD_ADDRESS:
		printf("0x%" PRIx64, value->number);
		break;
	}
}

/* Each place of the stack is a word; names of modules may have anything in them. */
static void write_stack(const struct trace_input *input, const struct trace_event *event)
{
	unsigned int i;
	const char *c;

	putchar('"');
	for (i = 0; i < event->stack_used; i++) {
		if (i)
			putchar(';');
		for (c = field_stack(input, event, i); *c; c++) {
			if (*c == '"')
				putchar('"');
			putchar(*c);
		}
	}
	putchar('"');
}

static void run(struct trace_input *input)
{
	const struct field_value *values;
	struct trace_event event;
	unsigned int i;

	for (i = 0; i < FIELD_COUNT; i++)
		printf("%s,", fields[i].name);
	puts("stack");
	while (trace_input_next(input, &event)) {
		values = field_values(input, &event);
		for (i = 0; i < FIELD_COUNT; i++) {
			write_field(&fields[i], &values[i]);
			putchar(',');
		}
		if (event.stack_used)
			write_stack(input, &event);
		putchar('\n');
	}
}

const struct trace_command command_csv = {
	.name = "csv",
	.purpose = "a table of all fields with a line of their names, as RFC 4180 has it",
	.run = run,
};
