// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "config_values.h"
#include "config.h"
#include "trace/trace_name.h"

#include "ibvbuf/trace.h"

#include <string.h>

bool span_is(struct span span, const char *string)
{
	return span.length == strlen(string) && memcmp(span.start, string, span.length) == 0;
}

/* Take a prefix off; false, and nothing taken, if it is not there. */
static bool skip_prefix(struct span *span, const char *prefix)
{
	size_t length = strlen(prefix);

	if (span->length < length || memcmp(span->start, prefix, length) != 0)
		return false;
	span->start += length;
	span->length -= length;
	return true;
}

static bool copy_string(char *member, size_t capacity, struct span value)
{
	if (value.length >= capacity || memchr(value.start, '\0', value.length))
		return false;
	memcpy(member, value.start, value.length);
	member[value.length] = '\0';
	return true;
}

bool config_value_diagnostics(void *member, struct span value)
{
	static const char *const names[] = {
		[DIAGNOSTICS_OFF] = "off",
		[DIAGNOSTICS_MISUSE] = "misuse",
		[DIAGNOSTICS_VERBOSE] = "verbose",
	};
	enum diagnostics *diagnostics = member;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (span_is(value, names[i])) {
			*diagnostics = (enum diagnostics)i;
			return true;
		}
	}
	return false;
}

bool config_value_boolean(void *member, struct span value)
{
	bool *boolean = member;

	if (!span_is(value, "yes") && !span_is(value, "no"))
		return false;
	*boolean = span_is(value, "yes");
	return true;
}

bool config_value_path(void *member, struct span value)
{
	return copy_string(member, PATH_MAX, value);
}

/* The name of a file in /dev/dma_heap, and of nothing elsewhere. */
bool config_value_heap(void *member, struct span value)
{
	if (memchr(value.start, '/', value.length) || span_is(value, ".") || span_is(value, ".."))
		return false;
	return copy_string(member, NAME_MAX + 1, value);
}

/* "64", "2M", "1G": bytes, or so many of a unit; false for what is none, or too large. */
static bool read_size(struct span value, size_t *size)
{
	static const struct {
		char letter;
		unsigned int shift;
	} units[] = {{'K', 10}, {'M', 20}, {'G', 30}, {'T', 40}};
	size_t number = 0;
	size_t i, unit;

	for (i = 0; i < value.length && value.start[i] >= '0' && value.start[i] <= '9'; i++) {
		if (number > ((size_t)1 << 40))
			return false;
		number = number * 10 + (size_t)(value.start[i] - '0');
	}
	if (i == 0 || value.length - i > 1)
		return false;
	*size = number;
	if (i == value.length)
		return true;
	for (unit = 0; unit < sizeof(units) / sizeof(units[0]); unit++) {
		if (value.start[i] != units[unit].letter)
			continue;
		*size = number << units[unit].shift;
		return *size >> units[unit].shift == number;
	}
	return false;
}

/* No page is smaller; and 1, of which the logarithm is 0, would be the default to mmap. */
static bool read_page_size(struct span value, size_t *size)
{
	const size_t least = 4096;

	return read_size(value, size) && *size >= least && !(*size & (*size - 1));
}

bool config_value_backing(void *member, struct span value)
{
	struct backing_choice choice = {.kind = BACKING_ANONYMOUS};
	struct backing_choice *backing = member;

	if (span_is(value, "udmabuf")) {
		choice.kind = BACKING_UDMABUF;
	} else if (span_is(value, "hugetlb")) {
		choice.kind = BACKING_HUGETLB;
	} else if (skip_prefix(&value, "hugetlb:")) {
		choice.kind = BACKING_HUGETLB;
		if (!read_page_size(value, &choice.huge_page_size))
			return false;
	} else if (skip_prefix(&value, "dma_heap:")) {
		choice.kind = BACKING_DMA_HEAP;
		if (!value.length || !config_value_heap(choice.heap, value))
			return false;
	} else if (span_is(value, "auto")) {
		choice.kind = BACKING_AUTO;
	} else if (!span_is(value, "anonymous")) {
		return false;
	}
	*backing = choice;
	return true;
}

bool config_value_trace(void *member, struct span value)
{
	return trace_name_is_valid(value.start, value.length) &&
	       copy_string(member, PATH_MAX, value);
}

bool config_value_size(void *member, struct span value)
{
	const size_t least = (size_t)64 << 10, most = (size_t)1 << 40;
	size_t size;

	if (!read_size(value, &size) || size < least || size > most)
		return false;
	*(size_t *)member = size;
	return true;
}

bool config_value_keep(void *member, struct span value)
{
	if (!span_is(value, "newest") && !span_is(value, "oldest"))
		return false;
	*(unsigned int *)member = span_is(value, "newest") ? IBVBUF_TRACE_KEEP_NEWEST
							   : IBVBUF_TRACE_KEEP_OLDEST;
	return true;
}

bool config_value_depth(void *member, struct span value)
{
	size_t depth;

	if (!read_size(value, &depth) || depth > TRACE_STACK_MAX)
		return false;
	*(unsigned int *)member = (unsigned int)depth;
	return true;
}
