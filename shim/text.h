/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A line of text, put together without stdio, locale or heap: it is made in other people's
 * processes, perhaps in a signal handler.
 */
#ifndef IBVBUF_TEXT_H
#define IBVBUF_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a pipe takes in one piece, so that no two lines mix. */
#define TEXT_CAPACITY 4096

/**
 * struct text - a line being made
 * @length: bytes so far; what does not fit is left out
 */
struct text {
	size_t length;
	char bytes[TEXT_CAPACITY];
};

/* Whether a byte could steer a terminal; not one of eight bits, where UTF-8 would. */
static inline bool text_is_control(char byte)
{
	return (unsigned char)byte < ' ' || byte == 0x7f;
}

void text_string(struct text *text, const char *string);
void text_bytes(struct text *text, const char *bytes, size_t length);
void text_decimal(struct text *text, uint64_t value);
void text_hexadecimal(struct text *text, uint64_t value);
/* Ends the line, at the price of what it ends with if there is no room. */
void text_end_line(struct text *text);
/* The name of an errno value, if it is one that files are refused with. */
const char *text_error_name(int error);
/*
 * The module and the offset in it of a code address, as addr2line wants them; the address alone
 * where that cannot be told. Preserves errno.
 */
void text_code_address(struct text *text, const void *address);

#endif
