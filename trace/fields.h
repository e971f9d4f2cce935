/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A record as fields with names, for jsonl and csv. */
#ifndef IBVBUF_TRACE_FIELDS_H
#define IBVBUF_TRACE_FIELDS_H

#include "command.h"

enum field_kind {
	FIELD_STRING,  /* `string`, NULL for none */
	FIELD_NUMBER,  /* `number` */
	FIELD_INTEGER, /* `number`, as a signed one */
	FIELD_ADDRESS, /* `number`, "0x7f00", for more than 53 bits are in use */
	FIELD_BOOLEAN, /* `number` */
};

struct field {
	const char *name;
	enum field_kind kind;
};

struct field_value {
	const char *string;
	uint64_t number;
};

enum field_index {
#define FIELD(name, kind, member, value) FIELD_##name,
#include "fields.def"
#undef FIELD
	FIELD_COUNT
};

/* The stack comes after them, as a list. */
extern const struct field fields[FIELD_COUNT];

/* The values of an event, until the next call. */
const struct field_value *field_values(const struct trace_input *input,
				       const struct trace_event *event);

/* "libucm.so.0+0x1f3a" of one of the addresses of the event's stack. */
const char *field_stack(const struct trace_input *input, const struct trace_event *event,
			unsigned int index);

#endif
