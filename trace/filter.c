// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "filter.h"
#include "../launcher/message.h"
#include "../launcher/string_list.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum filter_option {
	OPTION_CALL = FILTER_OPTION,
	OPTION_THREAD,
	OPTION_DEVICE,
	OPTION_CALLER,
	OPTION_ERRNO,
	OPTION_FAILED,
	OPTION_MIN_SIZE,
	OPTION_MAX_SIZE,
	OPTION_SINCE,
	OPTION_UNTIL,
	OPTION_MIN_DURATION,
	OPTION_PID,
	OPTION_RANK,
};

const struct option filter_options[] = {
	{"call", required_argument, NULL, OPTION_CALL},
	{"thread", required_argument, NULL, OPTION_THREAD},
	{"device", required_argument, NULL, OPTION_DEVICE},
	{"caller", required_argument, NULL, OPTION_CALLER},
	{"errno", required_argument, NULL, OPTION_ERRNO},
	{"failed", no_argument, NULL, OPTION_FAILED},
	{"min-size", required_argument, NULL, OPTION_MIN_SIZE},
	{"max-size", required_argument, NULL, OPTION_MAX_SIZE},
	{"since", required_argument, NULL, OPTION_SINCE},
	{"until", required_argument, NULL, OPTION_UNTIL},
	{"min-duration", required_argument, NULL, OPTION_MIN_DURATION},
	{"pid", required_argument, NULL, OPTION_PID},
	{"rank", required_argument, NULL, OPTION_RANK},
};
const size_t filter_option_count = sizeof(filter_options) / sizeof(filter_options[0]);

const char filter_help[] =
	"  --call NAME           calls of that name, with or without \"ibv_\"\n"
	"  --thread ID           calls of that thread\n"
	"  --device NAME         calls for that device: mlx5_0\n"
	"  --caller TEXT         calls from a place whose module, offset or function has\n"
	"                        TEXT in it\n"
	"  --errno NAME|N|any    calls that failed in that way (-1: without an errno), or in\n"
	"                        any\n"
	"  --failed              the same as --errno any\n"
	"  --min-size SIZE, --max-size SIZE\n"
	"                        calls for at least, at most, so many bytes: 4096, 64K, 1G\n"
	"  --since TIME, --until TIME\n"
	"                        calls that began then, counted from the start of the first\n"
	"                        file: 1.5 (seconds), 300ms, 10m\n"
	"  --min-duration TIME   calls that took at least as long: 20us, 1ms\n"
	"  --pid ID              files of that process\n"
	"  --rank N              files of that rank\n";

/* Numbers; of several, each will do. */
struct numbers {
	uint64_t *items;
	size_t count;
};

/* What was not asked for is empty, or lets everything pass. */
struct filter {
	bool set;
	struct numbers calls;
	struct numbers threads;
	struct numbers errors;
	struct numbers processes;
	struct numbers ranks;
	struct string_list devices;
	struct string_list callers;
	bool failed;
	uint64_t least_size, most_size;
	uint64_t since, until;
	uint64_t least_duration;
	uint64_t start;
};

struct filter *filter_new(void)
{
	struct filter *filter = grow(NULL, 1, sizeof(*filter));

	memset(filter, 0, sizeof(*filter));
	filter->most_size = UINT64_MAX;
	filter->until = UINT64_MAX;
	return filter;
}

static void free_strings(struct string_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
}

void filter_free(struct filter *filter)
{
	free(filter->calls.items);
	free(filter->threads.items);
	free(filter->errors.items);
	free(filter->processes.items);
	free(filter->ranks.items);
	free_strings(&filter->devices);
	free_strings(&filter->callers);
	free(filter);
}

static void add_number(struct numbers *numbers, uint64_t number)
{
	numbers->items = grow(numbers->items, numbers->count + 1, sizeof(*numbers->items));
	numbers->items[numbers->count++] = number;
}

/* Nothing named is everything named. */
static bool has_number(const struct numbers *numbers, uint64_t number)
{
	size_t i;

	for (i = 0; i < numbers->count; i++) {
		if (numbers->items[i] == number)
			return true;
	}
	return !numbers->count;
}

static bool read_number(const char *text, char **end, uint64_t *number)
{
	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*number = strtoull(text, end, 10);
	return !errno;
}

static bool add_whole_number(struct numbers *numbers, const char *text)
{
	uint64_t number;
	char *end;

	if (!read_number(text, &end, &number) || *end || number > UINT32_MAX)
		return false;
	add_number(numbers, number);
	return true;
}

static bool add_call(struct numbers *numbers, const char *name)
{
	const uint16_t call = trace_call_number(name);

	if (call)
		add_number(numbers, call);
	return call;
}

static bool add_error(struct filter *filter, const char *text)
{
	int error;

	if (!strcmp(text, "any")) {
		filter->failed = true;
		return true;
	}
	error = trace_errno_number(text);
	if (error)
		add_number(&filter->errors, (uint64_t)error);
	return error;
}

static bool read_size(const char *text, uint64_t *size)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *end;

	if (!read_number(text, &end, size))
		return false;
	if (!*end)
		return true;
	unit = strchr(units, toupper((unsigned char)*end));
	if (!unit)
		return false;
	end++;
	/* 64K, 64KB and 64KiB are the same here */
	if (*end == 'i')
		end++;
	if (*end == 'B')
		end++;
	return !*end &&
	       !__builtin_mul_overflow(*size, UINT64_C(1) << 10 * (unit - units + 1), size);
}

static bool read_time(const char *text, uint64_t *time)
{
	static const struct {
		const char *name;
		double nanoseconds;
	} units[] = {{"", 1e9},	  {"s", 1e9},	 {"ms", 1e6}, {"us", 1e3},
		     {"ns", 1.0}, {"min", 6e10}, {"m", 6e10}, {"h", 3.6e12}};
	double number;
	char *end;
	size_t i;

	if (!isdigit((unsigned char)*text) && *text != '.')
		return false;
	number = strtod(text, &end);
	for (i = 0; end != text && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].name) != 0)
			continue;
		number *= units[i].nanoseconds;
		/* also false for what is no number */
		if (!(number < 1.8e19))
			return false;
		*time = (uint64_t)number;
		return true;
	}
	return false;
}

static bool add(struct filter *filter, int option, const char *value)
{
	switch (option) {
	case OPTION_CALL:
		return add_call(&filter->calls, value);
	case OPTION_THREAD:
		return add_whole_number(&filter->threads, value);
	case OPTION_DEVICE:
		string_list_add(&filter->devices, value);
		return true;
	case OPTION_CALLER:
		string_list_add(&filter->callers, value);
		return true;
	case OPTION_ERRNO:
		return add_error(filter, value);
	case OPTION_FAILED:
		filter->failed = true;
		return true;
	case OPTION_MIN_SIZE:
		return read_size(value, &filter->least_size);
	case OPTION_MAX_SIZE:
		return read_size(value, &filter->most_size);
	case OPTION_SINCE:
		return read_time(value, &filter->since);
	case OPTION_UNTIL:
		return read_time(value, &filter->until);
	case OPTION_MIN_DURATION:
		return read_time(value, &filter->least_duration);
	case OPTION_PID:
		return add_whole_number(&filter->processes, value);
	case OPTION_RANK:
		return add_whole_number(&filter->ranks, value);
	default:
		return false;
	}
}

bool filter_add(struct filter *filter, int option, const char *value)
{
	filter->set = true;
	return add(filter, option, value);
}

bool filter_is_set(const struct filter *filter)
{
	return filter->set;
}

bool filter_takes_file(const struct filter *filter, const struct trace_file *file)
{
	return has_number(&filter->processes, file->header.process) &&
	       has_number(&filter->ranks, (uint64_t)file->header.rank);
}

void filter_start(struct filter *filter, uint64_t start)
{
	filter->start = start;
}

static bool takes_time(const struct filter *filter, const struct trace_event *event)
{
	const uint64_t time = event->begin > filter->start ? event->begin - filter->start : 0;

	return time >= filter->since && time <= filter->until &&
	       event->record->duration >= filter->least_duration;
}

static bool takes_device(const struct filter *filter, const struct trace_event *event)
{
	const char *device;

	if (!filter->devices.count)
		return true;
	device = trace_file_device(event->file, event->record->device);
	return device && string_list_has(&filter->devices, device);
}

static bool takes_caller(const struct filter *filter, struct call_sites *sites,
			 const struct trace_event *event)
{
	const char *text;
	size_t i;

	if (!filter->callers.count)
		return true;
	text = call_site_text(sites, call_site_of(sites, event));
	for (i = 0; i < filter->callers.count; i++) {
		if (strstr(text, filter->callers.items[i]))
			return true;
	}
	return false;
}

bool filter_takes(struct filter *filter, struct call_sites *sites, const struct trace_event *event)
{
	const struct ibvbuf_trace_record *record = event->record;

	if (!filter->set)
		return true;
	if ((filter->failed && !record->error) ||
	    !has_number(&filter->errors, (uint64_t)record->error))
		return false;
	return has_number(&filter->calls, record->call) &&
	       has_number(&filter->threads, record->thread) &&
	       record->length >= filter->least_size && record->length <= filter->most_size &&
	       takes_time(filter, event) && takes_device(filter, event) &&
	       takes_caller(filter, sites, event) && filter_takes_file(filter, event->file);
}
