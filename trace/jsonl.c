// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "fields.h"
#include "../launcher/json.h"

#include <inttypes.h>
#include <stdio.h>

static void write_field(struct json *json, const struct field *field,
			const struct field_value *value)
{
	char address[24];

	switch (field->kind) {
	case FIELD_STRING:
		json_string(json, field->name, value->string);
		break;
	case FIELD_NUMBER:
		json_number(json, field->name, value->number);
		break;
	case FIELD_INTEGER:
		json_integer(json, field->name, (int64_t)value->number);
		break;
	case FIELD_ADDRESS:
		snprintf(address, sizeof(address), "0x%" PRIx64, value->number);
		json_string(json, field->name, address);
		break;
	case FIELD_BOOLEAN:
		json_boolean(json, field->name, value->number);
		break;
	}
}

static void run(struct trace_input *input)
{
	const struct field_value *values;
	struct trace_event event;
	struct json json;
	unsigned int i;

	while (trace_input_next(input, &event)) {
		values = field_values(input, &event);
		json_start_line(&json, stdout);
		json_open(&json, NULL, '{');
		for (i = 0; i < FIELD_COUNT; i++)
			write_field(&json, &fields[i], &values[i]);
		json_open(&json, "stack", '[');
		for (i = 0; i < event.stack_used; i++)
			json_string(&json, NULL, field_stack(input, &event, i));
		json_close(&json, ']');
		json_close(&json, '}');
	}
}

const struct trace_command command_jsonl = {
	.name = "jsonl",
	.purpose = "a JSON object a record, each on a line of its own",
	.run = run,
};
