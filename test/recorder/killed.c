// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What is left in the file of a process that was killed at any moment. */
#define _GNU_SOURCE
#include "recorder.h"
#include "runs.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4
#define LINE	64

#ifndef KILLS
#define KILLS 200
#endif

/* Calls that returned, of each thread. */
static uint32_t *returned;
static const char *returned_file;
static const char *trace_file;

static uint32_t count_of(uint32_t thread)
{
	return __atomic_load_n(returned + thread * (LINE / sizeof(*returned)), __ATOMIC_ACQUIRE);
}

static void share_counts(void)
{
	static const char zeros[THREADS * LINE];
	int fd;

	returned_file = strdup(scratch_file("returned", zeros, sizeof(zeros)));
	trace_file = strdup(scratch_path("trace"));
	fd = open(returned_file, O_RDWR | O_CLOEXEC);
	returned = mmap(NULL, sizeof(zeros), PROT_READ, MAP_SHARED, fd, 0);
	cr_assert_neq(returned, MAP_FAILED);
	close(fd);
}

static void clear_counts(void)
{
	static const char zeros[THREADS * LINE];
	int fd = open(returned_file, O_WRONLY | O_CLOEXEC);

	cr_assert_eq(write(fd, zeros, sizeof(zeros)), (ssize_t)sizeof(zeros));
	close(fd);
}

static void sleep_for(long microseconds)
{
	struct timespec time = {.tv_nsec = microseconds * 1000};

	nanosleep(&time, NULL);
}

/* Run it for a while: sometimes from its start on, more often from its first calls on. */
static void run_and_kill(const struct run *run)
{
	pid_t child = run_start(run);
	int status;

	if (rand() % 4)
		while (!count_of(0))
			sleep_for(100);
	sleep_for(rand() % 10000);
	cr_assert_eq(kill(child, SIGKILL), 0);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, SIGKILL);
}

static uint32_t call_of(const struct ibvbuf_trace_record *record)
{
	return 2 * range_call(record->address) + (record->call == IBVBUF_TRACE_DEREG_MR);
}

static void assert_whole(const struct trace *trace)
{
	size_t i;

	for (i = 0; i < trace->count; i++)
		cr_assert(trace->entries[i].record.call == IBVBUF_TRACE_ALLOC_PD ||
				  is_consistent(&trace->entries[i].record),
			  "record %llu is torn", (unsigned long long)trace->entries[i].number);
	/* A thread writes one at a time. */
	cr_assert(trace->unfinished <= THREADS);
}

/* Of each thread the calls 0 to N, one after the other, where N has returned. */
static void assert_complete(const struct trace *trace)
{
	uint32_t found[THREADS] = {0};
	uint32_t thread;
	size_t i;

	for (i = 0; trace && i < trace->count; i++) {
		const struct ibvbuf_trace_record *record = &trace->entries[i].record;

		if (record->call == IBVBUF_TRACE_ALLOC_PD)
			continue;
		thread = range_thread(record->address);
		cr_assert_lt(thread, THREADS);
		cr_assert_eq(call_of(record), found[thread]);
		found[thread]++;
	}
	for (thread = 0; thread < THREADS; thread++) {
		cr_assert(found[thread] >= count_of(thread), "%u of %u calls of thread %u",
			  found[thread], count_of(thread), thread);
		cr_assert(found[thread] <= count_of(thread) + 1);
	}
}

Test(one_killed, each_record_of_a_call_that_had_returned_is_there, .timeout = 300)
{
	struct run run = {.arguments = {"for-ever"}};
	unsigned int round, with_calls = 0;
	struct trace *trace;

	share_counts();
	run.trace = trace_file;
	run.arguments[1] = returned_file;
	for (round = 0; round < KILLS; round++) {
		clear_counts();
		run_and_kill(&run);
		trace = trace_read(trace_file);
		assert_complete(trace);
		if (trace) {
			assert_whole(trace);
			cr_assert_eq(trace->header.dropped_no_space, 0);
			trace_free(trace);
		}
		with_calls += count_of(0) != 0;
		unlink(trace_file);
	}
	cr_assert_gt(with_calls, KILLS / 2);
}

/* Those of the last round; where there is none, it was dropped, or a thread was at it. */
static void assert_latest_are_there(const struct trace *trace)
{
	const struct ibvbuf_trace_header *header = &trace->header;
	uint64_t oldest = header->claimed > header->record_capacity
				  ? header->claimed - header->record_capacity
				  : 0;
	uint64_t present = 0;
	size_t i;

	for (i = 0; i < trace->count; i++)
		present += trace->entries[i].number >= oldest;
	cr_assert(present + THREADS + header->dropped_busy >= header->claimed - oldest);
}

Test(one_killed, each_record_of_a_ring_is_whole, .timeout = 300)
{
	struct run run = {.limit = SMALLEST, .keep = "newest", .arguments = {"for-ever"}};
	unsigned int round;
	struct trace *trace;

	share_counts();
	run.trace = trace_file;
	run.arguments[1] = returned_file;
	for (round = 0; round < (KILLS + 3) / 4; round++) {
		clear_counts();
		run_and_kill(&run);
		trace = trace_read(trace_file);
		if (trace) {
			assert_whole(trace);
			assert_latest_are_there(trace);
			trace_free(trace);
		} else {
			cr_assert_eq(count_of(0), 0);
		}
		unlink(trace_file);
	}
}
