// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "command.h"
#include "file_words.h"
#include "traced_process.h"
#include "../launcher/message.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How often a file is looked at, and how often whether its process still runs. */
#define POLL_NANOSECONDS  50000000
#define POLLS_FOR_PROCESS 10

enum { OPTION_FOLLOW = 1, OPTION_STACK };

static const struct option options[] = {
	{"follow", no_argument, NULL, OPTION_FOLLOW},
	{"stack", no_argument, NULL, OPTION_STACK},
	{NULL, 0, NULL, 0},
};

static bool follow, with_stack;

static bool take_option(int option, const char *value)
{
	(void)value;
	if (option == OPTION_FOLLOW)
		follow = true;
	else
		with_stack = true;
	return true;
}

static bool follows(void)
{
	return follow;
}

static void print_time(const struct trace_input *input, const struct trace_event *event)
{
	/* The first call begins before the file is made. */
	const int64_t time = (int64_t)(event->begin - input->start);
	const uint64_t distance = time < 0 ? -(uint64_t)time : (uint64_t)time;
	char words[32];

	snprintf(words, sizeof(words), "%s%" PRIu64 ".%09" PRIu64, time < 0 ? "-" : "",
		 distance / 1000000000, distance % 1000000000);
	printf("%16s", words);
}

static void print_duration(uint64_t duration)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	double number = (double)duration;
	unsigned int unit = 0;

	while (number >= 999.95 && unit < 3) {
		number /= 1000;
		unit++;
	}
	printf(unit ? "%7.1f %-2s" : "%7.0f %-2s", number, units[unit]);
}

static void print_call(const struct trace_event *event)
{
	const char *call = trace_call_name(event->record->call);
	char words[TRACE_WORDS_SIZE];

	if (call)
		printf(" %-24s", call);
	else
		printf(" call %-19u", event->record->call);
	printf(" %-10s", trace_result_words(event->record->error, words));
}

/* What is 0 where it does not belong to the call says nothing. */
static void print_number(const char *name, uint64_t number)
{
	if (number)
		printf(" %s=0x%" PRIx64, name, number);
}

static void print_details(const struct trace_event *event)
{
	const struct ibvbuf_trace_record *record = event->record;
	const char *device = trace_file_device(event->file, record->device);
	const enum trace_effect effect = trace_call_effect(record->call);
	char words[TRACE_WORDS_SIZE];

	if (device)
		printf(" %s", printable(device));
	print_number("pd", record->pd);
	if (effect == TRACE_EFFECT_OPENS || effect == TRACE_EFFECT_CLOSES)
		print_number("domain", record->object);
	else if (effect == TRACE_EFFECT_BINDS || effect == TRACE_EFFECT_UNBINDS)
		print_number("mw", record->object);
	else
		print_number("mr", record->object);
	print_number("lkey", record->lkey);
	print_number("rkey", record->rkey);
	if (record->iova != record->address)
		print_number("iova", record->iova);
	print_number("buffer", record->buffer);
	if (trace_backing_name(record->backing))
		printf(" (%s)", trace_backing_name(record->backing));
	if (record->fd != -1 || record->call == IBVBUF_TRACE_REG_DMABUF_MR)
		printf(" fd=%" PRId32 "%s", record->fd, event_probes(event) ? " (probe)" : "");
	print_number("offset", record->offset);
	print_number("mask", record->mask);
	if (effect == TRACE_EFFECT_REGISTERS || record->access)
		printf(" %s", trace_access_words(record->access, words));
}

static void print_stack(const struct trace_input *input, const struct trace_event *event)
{
	const uint64_t time = event->record->time + event->record->duration;
	const struct call_site *site;
	unsigned int i;

	for (i = 0; i < event->stack_used; i++) {
		site = call_site_find(input->sites, event->file, event->stack[i], time);
		printf("%20s#%-2u %s\n", "", i, call_site_text(input->sites, site));
	}
}

static void print_event(const struct trace_input *input, const struct trace_event *event)
{
	const struct ibvbuf_trace_record *record = event->record;

	if (input->file_count > 1)
		printf("%-3zu ", event->file->index);
	print_time(input, event);
	printf(" %7" PRIu32, record->thread);
	print_call(event);
	print_duration(record->duration);
	printf(" 0x%012" PRIx64 " %12" PRIu64, record->address, record->length);
	print_details(event);
	printf(" < %s\n", call_site_text(input->sites, call_site_of(input->sites, event)));
	if (with_stack)
		print_stack(input, event);
}

static void print_head(const struct trace_input *input)
{
	size_t i;

	for (i = 0; i < input->file_count; i++) {
		fputs("# ", stdout);
		if (input->file_count > 1)
			printf("%zu: ", i);
		print_file_line(input->files[i]);
		putchar('\n');
	}
	printf("#%s%*s %7s %-24s %-10s%10s %-14s %12s\n", input->file_count > 1 ? "   " : "",
	       input->file_count > 1 ? 16 : 15, "began (s)", "thread", "call", "result", "took",
	       "address", "bytes");
}

static void print_all(struct trace_input *input)
{
	struct trace_event event;

	while (trace_input_next(input, &event))
		print_event(input, &event);
}

static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number)
{
	(void)signal_number;
	interrupted = 1;
}

static bool any_runs(struct traced_process *processes, size_t count)
{
	bool runs = false;
	size_t i;

	for (i = 0; i < count; i++)
		runs |= traced_process_runs(&processes[i]);
	return runs;
}

static void follow_files(struct trace_input *input)
{
	const struct timespec pause = {.tv_nsec = POLL_NANOSECONDS};
	struct sigaction action = {.sa_handler = interrupt};
	struct traced_process *processes;
	unsigned int polls = 0;
	bool running = true;
	size_t i;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	processes = grow(NULL, input->file_count, sizeof(*processes));
	for (i = 0; i < input->file_count; i++)
		traced_process_find(&processes[i], input->files[i]);
	print_all(input);
	while (running && !interrupted && !ferror(stdout)) {
		fflush(stdout);
		nanosleep(&pause, NULL);
		/* First this: what it wrote until its end is read after that. */
		if (++polls % POLLS_FOR_PROCESS == 0)
			running = any_runs(processes, input->file_count);
		trace_stream_resume(input->stream);
		print_all(input);
	}
	/* what was not there yet, and does not come any more, is passed over */
	trace_stream_resume(input->stream);
	print_all(input);
	free(processes);
}

static void print_losses(const struct trace_input *input)
{
	const struct trace_file *file;
	uint64_t dropped;
	size_t i;

	for (i = 0; i < input->file_count; i++) {
		file = input->files[i];
		dropped = trace_file_dropped(file);
		if (dropped)
			printf("# %s: %" PRIu64 " records were dropped; see ibvbuf-trace info\n",
			       printable(file->path), dropped);
	}
}

static void run(struct trace_input *input)
{
	/* a line at a time, for whoever watches */
	if (follow)
		setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	print_head(input);
	if (follow)
		follow_files(input);
	else
		print_all(input);
	print_losses(input);
}

const struct trace_command command_print = {
	.name = "print",
	.purpose = "a line a record",
	.help = "  --follow              go on while the process runs, until it ends or ^C\n"
		"  --stack               the call stacks, if the file has them\n",
	.options = options,
	.take_option = take_option,
	.follows = follows,
	.run = run,
};
