// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Every command on files that libFuzzer makes up, from files that are whole. Half of the changes
 * are made where they matter: a number of the header, a table or a record becomes one that is at a
 * limit.
 */
#define _GNU_SOURCE
#include "../../trace/input.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

static const struct trace_command *const commands[] = {
	&command_summary,  &command_print, &command_jsonl, &command_csv,
	&command_timeline, &command_plot,  &command_info,
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return freopen("/dev/null", "w", stdout) ? 0 : 1;
}

static void run(const struct trace_command *command, char *path)
{
	char *argv[] = {(char *)command->name, path, path, NULL};
	struct trace_input *input;
	int status;

	optind = 1;
	input = trace_input_open(command, 3, argv, &status);
	if (!input)
		return;
	command->run(input);
	trace_input_close(input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);
	char path[64];
	size_t i;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (i = 0; i < COMMAND_COUNT; i++)
		run(commands[i], path);
	close(fd);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed)
{
	const uint64_t limits[] = {
		0,
		1,
		2,
		127,
		UINT16_MAX,
		INT32_MAX,
		UINT32_MAX,
		INT64_MAX,
		UINT64_MAX,
		UINT64_MAX - 1,
		UINT64_MAX - 4096,
		size,
		size - 128,
		size / 128,
		INT64_MIN,
	};
	const size_t header = offsetof(struct ibvbuf_trace_header, rank_variable);
	const size_t counters = offsetof(struct ibvbuf_trace_header, claimed);
	size_t width = (size_t)2 << seed % 3, place;
	uint64_t value;

	if (seed & 8 || size < sizeof(struct ibvbuf_trace_header) + 8)
		return LLVMFuzzerMutate(data, size, most);
	switch (seed >> 4 & 3) {
	case 0:
		place = 8 + (seed >> 8) % (header - 8);
		break;
	case 1:
		place = counters + (seed >> 8) % 6 * 64;
		width = 8;
		break;
	default:
		place = (seed >> 8) % (size - 8);
		break;
	}
	place = place / width * width;
	memcpy(&value, data + place, sizeof(value));
	if (seed & 1 << 6)
		value += seed & 1 << 7 ? 1 : (uint64_t)-1;
	else
		value = limits[(seed >> 16) % (sizeof(limits) / sizeof(limits[0]))];
	memcpy(data + place, &value, width);
	return size;
}
