// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "fields.h"

/* fields.def has a field of the name errno; errno.h has a macro. */
#include <inttypes.h>
#include <stdio.h>

const struct field fields[FIELD_COUNT] = {
#define FIELD(name, kind, member, value) {#name, FIELD_##kind},
#include "fields.def"
#undef FIELD
};

/* Strings that are made for one event. */
struct words {
	char realtime[32];
	char call[32];
	char access_room[TRACE_WORDS_SIZE];
	const char *access;
};

static void make_words(struct words *words, const struct trace_event *event)
{
	const char *call = trace_call_name(event->record->call);

	snprintf(words->realtime, sizeof(words->realtime), "%" PRIu64 ".%09" PRIu64,
		 event->begin / 1000000000, event->begin % 1000000000);
	if (call)
		snprintf(words->call, sizeof(words->call), "%s", call);
	else
		snprintf(words->call, sizeof(words->call), "call %u", event->record->call);
	words->access = trace_access_words(event->record->access, words->access_room);
}

const struct field_value *field_values(const struct trace_input *input,
				       const struct trace_event *event)
{
	static struct field_value values[FIELD_COUNT];
	static struct words event_words;
	const struct words *words = &event_words;
	const struct ibvbuf_trace_header *header = &event->file->header;
	const struct ibvbuf_trace_record *record = event->record;
	const struct call_site *site = call_site_of(input->sites, event);

	make_words(&event_words, event);
#define FIELD(name, kind, member, value) values[FIELD_##name].member = (value);
#include "fields.def"
#undef FIELD
	return values;
}

const char *field_stack(const struct trace_input *input, const struct trace_event *event,
			unsigned int index)
{
	return call_site_find(input->sites, event->file, event->stack[index],
			      event->record->time + event->record->duration)
		->text;
}
