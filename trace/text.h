/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Text for a screen, on standard output. */
#ifndef IBVBUF_TRACE_TEXT_H
#define IBVBUF_TRACE_TEXT_H

#include "units.h"

/* Columns that a line has at most. */
#define TEXT_COLUMNS 96

/* Words of a format, broken into lines: the first behind `first` spaces, the others `rest`. */
void text_paragraph(unsigned int first, unsigned int rest, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* What of `text` fits on a line that has `column` columns already, and the line's end. */
void text_last(unsigned int column, const char *text);

/* Room for the numbers of one line. All zero: none is used. */
struct text_numbers {
	char text[8][UNITS_TEXT_SIZE];
	unsigned int used;
};

/* At most 8 of one struct. */
const char *text_bytes(struct text_numbers *numbers, uint64_t bytes);
const char *text_count(struct text_numbers *numbers, uint64_t count);
const char *text_time(struct text_numbers *numbers, uint64_t nanoseconds);
/* "" for 1, otherwise "s". */
const char *text_plural(uint64_t count);

#endif
