// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "process.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *process_program(const struct trace_file *file)
{
	const char *slash = strrchr(file->header.program, '/');

	return slash && slash[1] ? slash + 1 : file->header.program;
}

const char *process_text(const struct trace_file *file, char text[PROCESS_TEXT_SIZE])
{
	const struct ibvbuf_trace_header *header = &file->header;
	const char *program = process_program(file);
	int length;

	length = snprintf(text, PROCESS_TEXT_SIZE, "%s, process %" PRIu32 "%s%s",
			  *program ? program : "(unknown program)", header->process,
			  header->host[0] ? " on " : "", header->host);
	if (header->rank >= 0)
		snprintf(text + length, PROCESS_TEXT_SIZE - (size_t)length, ", rank %" PRId32,
			 header->rank);
	return text;
}
