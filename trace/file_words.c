// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "file_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Longer than any string of a file. */
#define LONGEST	  4352
#define AT_A_TIME 4

const char *printable(const char *text)
{
	static char texts[AT_A_TIME][LONGEST];
	static unsigned int last;
	unsigned char *to, *end;

	last = (last + 1) % AT_A_TIME;
	to = (unsigned char *)texts[last];
	for (end = to + LONGEST - 1; *text && to < end; text++, to++) {
		*to = (unsigned char)*text;
		if (*to < 0x20 || *to == 0x7f)
			*to = '?';
		/* U+0080 to U+009F are such orders, too */
		if (*to == 0xc2 && (unsigned char)text[1] < 0xa0)
			*to = '?';
	}
	*to = '\0';
	return texts[last];
}

const char *time_words(uint64_t realtime, char words[TIME_WORDS_SIZE])
{
	const time_t seconds = (time_t)(realtime / 1000000000);
	char zone[16];
	struct tm tm;
	size_t length;

	if (!localtime_r(&seconds, &tm))
		memset(&tm, 0, sizeof(tm));
	length = strftime(words, TIME_WORDS_SIZE - 32, "%F %T", &tm);
	if (!strftime(zone, sizeof(zone), "%z", &tm))
		zone[0] = '\0';
	snprintf(words + length, TIME_WORDS_SIZE - length, ".%09" PRIu64 " %s",
		 realtime % 1000000000, zone);
	return words;
}

void print_file_line(const struct trace_file *file)
{
	const struct ibvbuf_trace_header *header = &file->header;
	char time[TIME_WORDS_SIZE];

	printf("%s on %s, process %" PRIu32, printable(header->program), printable(header->host),
	       header->process);
	if (header->rank >= 0)
		printf(", rank %" PRId32, header->rank);
	printf(", %s, from %s", printable(header->library),
	       time_words(header->start_realtime, time));
}
