// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "config_values.h"
#include "config.h"

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

/* "2M", "1G": a power of two, in bytes or with a unit; 0 if it is none. */
static size_t page_size(struct span value)
{
	size_t size = 0;
	size_t i;

	for (i = 0; i < value.length && value.start[i] >= '0' && value.start[i] <= '9'; i++) {
		if (size > ((size_t)1 << 40))
			return 0;
		size = size * 10 + (size_t)(value.start[i] - '0');
	}
	if (i == 0 || value.length - i > 1)
		return 0;
	if (i < value.length) {
		switch (value.start[i]) {
		case 'K':
			size <<= 10;
			break;
		case 'M':
			size <<= 20;
			break;
		case 'G':
			size <<= 30;
			break;
		default:
			return 0;
		}
	}
	return (size & (size - 1)) ? 0 : size;
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
		choice.huge_page_size = page_size(value);
		if (!choice.huge_page_size)
			return false;
	} else if (skip_prefix(&value, "dma_heap:")) {
		choice.kind = BACKING_DMA_HEAP;
		if (!value.length || !config_value_heap(choice.heap, value))
			return false;
	} else if (!span_is(value, "auto") && !span_is(value, "anonymous")) {
		return false;
	}
	*backing = choice;
	return true;
}
