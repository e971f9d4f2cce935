// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "text.h"
#include "code_module.h"

#include <errno.h>
#include <string.h>

void text_bytes(struct text *text, const char *bytes, size_t length)
{
	size_t room = TEXT_CAPACITY - text->length;

	if (length > room)
		length = room;
	/* What is quoted must not look like a line of its own, or steer a terminal. */
	for (; length; length--, bytes++) {
		text->bytes[text->length] = *bytes;
		if (text_is_control(*bytes))
			text->bytes[text->length] = '?';
		text->length++;
	}
}

void text_string(struct text *text, const char *string)
{
	text_bytes(text, string, strlen(string));
}

static void text_number(struct text *text, uint64_t value, unsigned int base)
{
	char digits[20];
	size_t start = sizeof(digits);

	do {
		digits[--start] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	text_bytes(text, digits + start, sizeof(digits) - start);
}

void text_decimal(struct text *text, uint64_t value)
{
	text_number(text, value, 10);
}

void text_hexadecimal(struct text *text, uint64_t value)
{
	text_string(text, "0x");
	text_number(text, value, 16);
}

void text_end_line(struct text *text)
{
	if (text->length == TEXT_CAPACITY)
		text->length--;
	text->bytes[text->length++] = '\n';
}

const char *text_error_name(int error)
{
	static const struct {
		int error;
		const char *name;
	} names[] = {
#define NAME(error) {error, #error}
		NAME(ENOENT),  NAME(EACCES),	   NAME(EPERM),	 NAME(EISDIR), NAME(ENOTDIR),
		NAME(ELOOP),   NAME(ENAMETOOLONG), NAME(EINVAL), NAME(EFBIG),  NAME(EOVERFLOW),
		NAME(EMFILE),  NAME(ENFILE),	   NAME(ENOMEM), NAME(ENOSPC), NAME(EDQUOT),
		NAME(EROFS),   NAME(EIO),	   NAME(ENODEV), NAME(ENXIO),  NAME(EBUSY),
		NAME(ETXTBSY), NAME(EAGAIN),	   NAME(EINTR),	 NAME(EEXIST),
#undef NAME
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].error == error)
			return names[i].name;
	return "another errno";
}

void text_code_address(struct text *text, const void *address)
{
	struct code_module module;

	if (code_module_find(&module, (uintptr_t)address)) {
		text_string(text, module.mapping.path);
		text_string(text, "+");
		text_hexadecimal(text, (uintptr_t)address - module.bias);
	} else {
		text_hexadecimal(text, (uintptr_t)address);
	}
}
