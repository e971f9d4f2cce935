// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../launcher/message.h"
#include "file_words.h"

static void print_words(unsigned int first, unsigned int rest, const char *words)
{
	unsigned int column = first, length;
	bool begun = false;

	printf("%*s", (int)first, "");
	while (*words) {
		length = (unsigned int)strcspn(words, " ");
		if (begun && column + 1 + length > TEXT_COLUMNS) {
			printf("\n%*s", (int)rest, "");
			column = rest;
		} else if (begun) {
			putchar(' ');
			column++;
		}
		printf("%.*s", (int)length, words);
		begun = true;
		column += length;
		words += length;
		words += strspn(words, " ");
	}
	putchar('\n');
}

void text_paragraph(unsigned int first, unsigned int rest, const char *format, ...)
{
	va_list arguments;
	char *words;

	va_start(arguments, format);
	if (vasprintf(&words, format, arguments) < 0)
		fail("out of memory");
	va_end(arguments);
	print_words(first, rest, printable(words));
	free(words);
}

void text_last(unsigned int column, const char *text)
{
	const char *shown = printable(text);
	size_t room = column < TEXT_COLUMNS - 20 ? TEXT_COLUMNS - column : 20;

	if (strlen(shown) <= room)
		puts(shown);
	else
		printf("%.*s...\n", (int)room - 3, shown);
}

const char *text_bytes(struct text_numbers *numbers, uint64_t bytes)
{
	units_bytes(numbers->text[numbers->used], bytes);
	return numbers->text[numbers->used++];
}

const char *text_count(struct text_numbers *numbers, uint64_t count)
{
	units_count(numbers->text[numbers->used], count);
	return numbers->text[numbers->used++];
}

const char *text_time(struct text_numbers *numbers, uint64_t nanoseconds)
{
	units_time(numbers->text[numbers->used], nanoseconds);
	return numbers->text[numbers->used++];
}

const char *text_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}
