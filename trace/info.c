// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "command.h"
#include "file_words.h"

#include <inttypes.h>
#include <stdio.h>

static void print_row(const char *what, const char *value)
{
	if (*value)
		printf("  %-12s %s\n", what, value);
}

static void print_devices(const struct trace_file *file)
{
	const struct ibvbuf_trace_device *device;
	size_t i;

	for (i = 0; i < file->device_count; i++) {
		device = &file->devices[i];
		if (device->state)
			printf("  %-12s %s, GUID %016" PRIx64 "\n", "device",
			       printable(device->name), device->guid);
	}
}

static void print_modules(const struct trace_file *file)
{
	const struct ibvbuf_trace_module *module;
	uint32_t byte;
	size_t i;

	for (i = 0; i < file->module_count; i++) {
		module = &file->modules[i];
		if (!module->state)
			continue;
		printf("  %-12s 0x%" PRIx64 "-0x%" PRIx64 " %s", "module", module->start,
		       module->end, printable(module->path));
		if (module->build_id_length)
			fputs(", build-id ", stdout);
		for (byte = 0; byte < module->build_id_length; byte++)
			printf("%02x", module->build_id[byte]);
		putchar('\n');
	}
}

static void print_loss(const char *what, uint64_t count, const char *why)
{
	if (count)
		printf("  %-12s %" PRIu64 ": %s\n", what, count, why);
}

static void print_records(const struct trace_file *file)
{
	const struct ibvbuf_trace_header *header = &file->header;

	printf("  %-12s %" PRIu64 " of %" PRIu64 " calls; room for %" PRIu64 " of %" PRIu32
	       " bytes, then the %s are kept\n",
	       "records", file->records, file->claimed, header->record_capacity,
	       header->record_size, header->keep == IBVBUF_TRACE_KEEP_OLDEST ? "oldest" : "newest");
	print_loss("unfinished", file->torn, "the process ended, or is, in the middle of them");
	print_loss("absent", file->absent, "no record where one should be");
	print_loss("overwritten", file->overwritten, "newer ones took their place");
	print_loss("dropped", header->dropped_no_space,
		   "no space: the disk is full, a limit of file sizes was met, or the file was "
		   "removed or may not be opened any more");
	print_loss("dropped", header->dropped_full, "the file was full");
	print_loss("dropped", header->dropped_busy, "the place was still being written");
	print_loss("unlisted", header->unlisted,
		   "devices or modules that found no room in a table");
}

/* Reads all records, for they alone tell how many there are. */
static void run(struct trace_input *input)
{
	const struct ibvbuf_trace_header *header;
	const struct trace_file *file;
	char number[32], time[TIME_WORDS_SIZE];
	struct trace_event event;
	size_t i;

	while (trace_stream_next(input->stream, &event))
		;
	for (i = 0; i < input->file_count; i++) {
		file = input->files[i];
		header = &file->header;
		printf("%s\n", printable(file->path));
		snprintf(number, sizeof(number), "%u.%u", header->version_major,
			 header->version_minor);
		print_row("format", number);
		print_row("writer", printable(header->writer));
		print_row("started", time_words(header->start_realtime, time));
		print_row("host", printable(header->host));
		print_row("program", printable(header->program));
		snprintf(number, sizeof(number), "%" PRIu32 " of %" PRIu32 ", user %" PRIu32,
			 header->process, header->parent, header->user);
		print_row("process", number);
		if (header->rank >= 0) {
			snprintf(number, sizeof(number), "%" PRId32, header->rank);
			print_row("rank", number);
		}
		print_row("library", printable(header->library));
		print_devices(file);
		print_modules(file);
		print_records(file);
	}
}

const struct trace_command command_info = {
	.name = "info",
	.purpose = "what a file is: its process, devices, modules, and what is missing",
	.run = run,
};
