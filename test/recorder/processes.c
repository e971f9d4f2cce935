// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Programs of many processes, threads and signals. */
#define _GNU_SOURCE
#include "recorder.h"
#include "runs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static char *directory;

/* Traced into "trace-" with the process id, in a directory of its own. */
static struct run run_of(const char *way, const char *argument)
{
	struct run run = {.arguments = {way, argument}};
	char *pattern;

	directory = strdup(scratch_path(""));
	cr_assert_gt(asprintf(&pattern, "%strace-%%p", directory), 0);
	run.trace = pattern;
	return run;
}

static void run_well(const struct run *run)
{
	struct outcome *outcome = assert_runs_the_same(run);

	cr_assert_eq(outcome->status, 0, "status %#x", (unsigned int)outcome->status);
	cr_assert_str_eq(outcome->errors, "");
}

/* The traces in the directory, in the order of their processes' beginnings. */
static size_t read_all(struct trace **traces, size_t capacity)
{
	struct dirent *entry;
	DIR *files = opendir(directory);
	size_t count = 0, i;

	cr_assert_not_null(files);
	while ((entry = readdir(files))) {
		char path[8192];
		struct trace *trace;

		if (strncmp(entry->d_name, "trace", 5))
			continue;
		snprintf(path, sizeof(path), "%s%s", directory, entry->d_name);
		trace = trace_read(path);
		cr_assert_not_null(trace, "%s is no trace", entry->d_name);
		cr_assert_lt(count, capacity);
		for (i = count++;
		     i && traces[i - 1]->header.start_monotonic > trace->header.start_monotonic;
		     i--)
			traces[i] = traces[i - 1];
		traces[i] = trace;
	}
	closedir(files);
	return count;
}

static size_t records_of(const struct trace *trace, uint32_t thread)
{
	size_t count = 0, i;

	for (i = 0; i < trace->count; i++)
		count += trace->entries[i].record.call != IBVBUF_TRACE_ALLOC_PD &&
			 range_thread(trace->entries[i].record.address) == thread;
	return count;
}

static void assert_consistent(const struct trace *trace)
{
	size_t i;

	cr_assert_eq(trace->unfinished, 0);
	cr_assert_eq(trace->header.claimed, trace->count);
	for (i = 0; i < trace->count; i++)
		cr_assert(trace->entries[i].record.call == IBVBUF_TRACE_ALLOC_PD ||
			  is_consistent(&trace->entries[i].record));
}

Test(one_processes, each_child_has_a_file_of_its_own)
{
	struct trace *traces[128];
	struct run run = run_of("children", "100");
	size_t count, i;

	run.arguments[2] = "50";
	run_well(&run);
	count = read_all(traces, 128);
	cr_assert_eq(count, 101);
	cr_assert_eq(traces[0]->count, 1 + 2 * 100);
	cr_assert_eq(records_of(traces[0], 0), 200);
	for (i = 0; i < count; i++) {
		assert_consistent(traces[i]);
		cr_assert_eq(traces[i]->entries[traces[i]->count - 1].record.thread,
			     traces[i]->header.process);
		if (i == 0)
			continue;
		cr_assert_eq(traces[i]->header.parent, traces[0]->header.process);
		cr_assert_eq(traces[i]->count, 100);
		cr_assert_eq(records_of(traces[i], 1), 100);
	}
}

Test(one_processes, a_child_that_makes_no_call_has_no_file)
{
	struct trace *traces[4];
	struct run run = run_of("children", "2");

	run.arguments[2] = "0";
	run_well(&run);
	cr_assert_eq(read_all(traces, 4), 1);
}

/* All of them have the one name: a suffix each. */
Test(one_processes, children_with_a_pattern_that_does_not_tell_them_apart)
{
	struct trace *traces[64];
	struct run run = run_of("children", "50");
	char *pattern;

	cr_assert_gt(asprintf(&pattern, "%strace", directory), 0);
	run.trace = pattern;
	run.arguments[2] = "10";
	run_well(&run);
	cr_assert_eq(read_all(traces, 64), 51);
}

Test(one_processes, children_of_a_program_with_a_thread_in_the_dynamic_linker)
{
	struct trace *traces[16];
	struct run run = run_of("fork-beside-linker", "10");

	run_well(&run);
	cr_assert_eq(read_all(traces, 16), 11);
}

Test(one_processes, children_of_raw_clones_of_a_program_with_a_thread_in_the_dynamic_linker)
{
	struct trace *traces[16];
	struct run run = run_of("clone-beside-linker", "10");
	size_t i;

	run_well(&run);
	cr_assert_eq(read_all(traces, 16), 11);
	/* By its own id, without a suffix. */
	cr_assert_null(strchr(files_in(directory), '.'));
	for (i = 1; i < 11; i++) {
		cr_assert_eq(traces[i]->header.parent, traces[0]->header.process);
		cr_assert_eq(traces[i]->header.process, traces[i]->entries[0].record.thread);
	}
}

Test(one_processes, children_of_a_program_whose_threads_register)
{
	struct trace *traces[64];
	struct run run = run_of("fork-among-threads", "50");
	size_t i;

	run_well(&run);
	cr_assert_eq(read_all(traces, 64), 51);
	for (i = 0; i < 51; i++)
		assert_consistent(traces[i]);
	cr_assert_eq(records_of(traces[0], 9), 0);
	for (i = 1; i < 51; i++) {
		cr_assert_eq(traces[i]->count, 20);
		cr_assert_eq(records_of(traces[i], 9), 20);
	}
}

Test(one_processes, a_program_that_vforks_and_executes)
{
	struct trace *traces[4];
	struct run run = run_of("vfork", "30");

	run_well(&run);
	cr_assert_eq(read_all(traces, 4), 2);
	cr_assert_eq(traces[0]->count, 1 + 2 * 60);
	cr_assert_eq(traces[1]->count, 1 + 2 * 30);
	cr_assert_neq(traces[0]->header.process, traces[1]->header.process);
	assert_consistent(traces[0]);
	assert_consistent(traces[1]);
}

Test(one_processes, a_program_that_executes_itself)
{
	struct trace *traces[8];
	struct run run = run_of("again", "3");
	size_t i;

	run_well(&run);
	cr_assert_eq(read_all(traces, 8), 4);
	for (i = 0; i < 4; i++) {
		cr_assert_eq(traces[i]->header.process, traces[0]->header.process);
		cr_assert_eq(traces[i]->count, 21);
	}
}

Test(one_processes, a_program_that_leaves_without_a_farewell)
{
	struct trace *traces[4];
	struct run run = run_of("leave", "500");
	struct outcome *outcome = assert_runs_the_same(&run);

	cr_assert_eq(WEXITSTATUS(outcome->status), 7);
	cr_assert_eq(read_all(traces, 4), 1);
	cr_assert_eq(traces[0]->count, 1001);
}

/* Calls that fail, for a signal handler must not have memory allocated. */
static void assert_failures(const struct trace *trace)
{
	size_t i;

	cr_assert_eq(trace->unfinished, 0);
	for (i = 0; i < trace->count; i++) {
		const struct ibvbuf_trace_record *record = &trace->entries[i].record;

		if (record->call == IBVBUF_TRACE_ALLOC_PD)
			continue;
		cr_assert_eq(record->call, IBVBUF_TRACE_REG_MR);
		cr_assert_eq(record->length, range_length(record->address));
		cr_assert_eq(record->iova, record->address);
		cr_assert_eq(record->error, EFAULT);
	}
}

/* Calls of a handler that interrupts a call are a part of it: the child may have no record. */
Test(one_processes, a_program_that_forks_in_a_signal_handler, .timeout = 60)
{
	struct trace *traces[2048];
	struct run run = run_of("fork-in-handler", NULL);
	size_t count, i;

	run_well(&run);
	count = read_all(traces, 2048);
	cr_assert_eq(records_of(traces[0], 9), 0);
	for (i = 0; i < count; i++) {
		assert_failures(traces[i]);
		cr_assert(i == 0 || records_of(traces[i], 9) == 10);
		cr_assert_eq(traces[i]->header.claimed, traces[i]->count);
	}
}

Test(one_processes, a_daemon)
{
	struct trace *traces[4];
	struct run run = run_of("daemon", NULL);

	run_well(&run);
	cr_assert_eq(read_all(traces, 4), 1);
	cr_assert_eq(traces[0]->count, 40001);
	assert_consistent(traces[0]);
}

Test(one_processes, a_signal_handler_that_registers, .timeout = 60)
{
	struct trace *traces[4];
	struct run run = run_of("handler", NULL);

	run_well(&run);
	cr_assert_eq(read_all(traces, 4), 1);
	assert_failures(traces[0]);
	cr_assert_eq(traces[0]->header.claimed, traces[0]->count);
	cr_assert_geq(records_of(traces[0], 0), 100000);
}

/* However many come at once, there is one file, and nothing is missing. */
Test(one_processes, first_calls_of_many_threads)
{
	struct trace *traces[32];
	struct run run = run_of("begin", NULL);
	int round;

	for (round = 0; round < 20; round++) {
		char command[8192];

		run_well(&run);
		cr_assert_eq(read_all(traces, 32), 1);
		cr_assert_eq(traces[0]->count, 16 * 200);
		/* By its name, without a suffix. */
		cr_assert_null(strchr(files_in(directory), '.'));
		snprintf(command, sizeof(command), "rm -f %strace*", directory);
		cr_assert_eq(system(command), 0);
	}
}

Test(one_processes, children_do_not_repeat_that_nothing_is_traced)
{
	struct run run = run_of("children", "20");
	struct outcome *outcome;

	run.trace = "/proc/trace";
	run.arguments[2] = "10";
	outcome = assert_runs_the_same(&run);
	cr_assert_eq(occurrences(outcome->errors, "nothing is traced"), 1);
}
