// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Files that are full, and many threads that write. */
#define _GNU_SOURCE
#include "recorder.h"

#include <dirent.h>

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define THREADS 4

static struct ibv_pd *pd;

static void begin(const char *keep)
{
	setenv("IBVBUF_TRACE_LIMIT", SMALLEST, 1);
	setenv("IBVBUF_TRACE_KEEP", keep, 1);
	trace_this_process();
	standin_turn(STANDIN_KEEPS_NO_LOG, true);
	pd = make_domain();
}

/* Failures, so that a call makes one record and nothing has to be given back. */
static void make_calls(uint32_t thread, uint32_t from, uint32_t to)
{
	for (; from < to; from++) {
		uint64_t address = range_address(thread, from);
		struct ibv_mr *mr =
			ibv_reg_mr(pd, (void *)(uintptr_t)address, range_length(address), 0);

		cr_assert_not_null(mr);
		free(mr);
	}
}

static void assert_consecutive(const struct trace *trace, uint64_t first, size_t count)
{
	size_t i;

	cr_assert_eq(trace->count, count);
	for (i = 0; i < count; i++) {
		const struct entry *entry = &trace->entries[i];

		cr_assert_eq(entry->number, first + i);
		if (entry->number == 0)
			continue;
		cr_assert(is_consistent(&entry->record));
		cr_assert_eq(range_call(entry->record.address), entry->number - 1);
	}
}

static void assert_nothing_dropped(const struct ibvbuf_trace_header *header)
{
	cr_assert_eq(header->dropped_full, 0);
	cr_assert_eq(header->dropped_busy, 0);
	cr_assert_eq(header->dropped_no_space, 0);
}

Test(any_rings, a_full_file_that_keeps_the_newest)
{
	struct trace *trace;

	begin("newest");
	make_calls(0, 0, IN_SMALLEST - 1);
	trace = trace_now();
	cr_assert_eq(trace->unused, 0);
	assert_consecutive(trace, 0, IN_SMALLEST);
	make_calls(0, IN_SMALLEST - 1, IN_SMALLEST + 99);
	trace = trace_now();
	assert_consecutive(trace, 100, IN_SMALLEST);
	cr_assert_eq(trace->header.claimed, IN_SMALLEST + 100);
	cr_assert_eq(trace->header.record_capacity, IN_SMALLEST);
	assert_nothing_dropped(&trace->header);
	make_calls(0, IN_SMALLEST + 99, 10 * IN_SMALLEST + 6);
	assert_consecutive(trace_now(), 9 * IN_SMALLEST + 7, IN_SMALLEST);
}

Test(any_rings, a_full_file_that_keeps_the_oldest)
{
	struct trace *trace;

	begin("oldest");
	make_calls(0, 0, IN_SMALLEST + 99);
	trace = trace_now();
	assert_consecutive(trace, 0, IN_SMALLEST);
	cr_assert_eq(trace->header.dropped_full, 100);
	cr_assert_eq(trace->header.dropped_busy, 0);
	cr_assert_eq(trace->header.dropped_no_space, 0);
}

Test(any_rings, space_is_there_before_it_is_needed)
{
	uint32_t made;
	struct trace *trace;

	setenv("IBVBUF_TRACE_LIMIT", "4M", 1);
	setenv("IBVBUF_TRACE_KEEP", "oldest", 1);
	trace_this_process();
	standin_turn(STANDIN_KEEPS_NO_LOG, true);
	pd = make_domain();
	cr_assert_eq(trace_now()->header.slots_allocated, FIRST_STEP);
	for (made = 0; made < 4 * FIRST_STEP - 1; made += 1000)
		make_calls(0, made,
			   made + 1000 < 4 * FIRST_STEP - 1 ? made + 1000 : 4 * FIRST_STEP - 1);
	trace = trace_now();
	assert_consecutive(trace, 0, 4 * FIRST_STEP);
	cr_assert_eq(trace->header.slots_allocated, 4 * FIRST_STEP);
	assert_nothing_dropped(&trace->header);
}

static unsigned int count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	unsigned int count = 0;

	cr_assert_not_null(directory);
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

static uint32_t calls_each;

static void *hammer(void *argument)
{
	make_calls((uint32_t)(uintptr_t)argument, 0, calls_each);
	return NULL;
}

static void start_threads(pthread_t *threads, uint32_t calls)
{
	uintptr_t i;

	calls_each = calls;
	for (i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, hammer, (void *)i), 0);
}

static void join_threads(const pthread_t *threads)
{
	int i;

	for (i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_join(threads[i], NULL), 0);
}

/* Each record is of some call, and no call has two. */
static void assert_whole(const struct trace *trace)
{
	size_t i;

	for (i = 0; i < trace->count; i++) {
		const struct entry *entry = &trace->entries[i];

		if (entry->record.call == IBVBUF_TRACE_ALLOC_PD)
			continue;
		cr_assert(is_consistent(&entry->record), "record %llu is torn",
			  (unsigned long long)entry->number);
		cr_assert_lt(range_thread(entry->record.address), THREADS);
		cr_assert_lt(range_call(entry->record.address), calls_each);
		cr_assert(!i || entry->number > entry[-1].number);
	}
}

static int by_address(const void *one, const void *other)
{
	const struct entry *a = one, *b = other;

	return (a->record.address > b->record.address) - (a->record.address < b->record.address);
}

static void assert_no_call_twice(struct trace *trace)
{
	size_t i;

	qsort(trace->entries, trace->count, sizeof(*trace->entries), by_address);
	for (i = 1; i < trace->count; i++)
		cr_assert_neq(trace->entries[i].record.address,
			      trace->entries[i - 1].record.address);
}

Test(any_rings, many_threads_in_a_small_file_that_keeps_the_newest, .timeout = 60)
{
	const struct ibvbuf_trace_header *header;
	uint32_t calls = REPEATS(300000);
	pthread_t threads[THREADS];
	struct trace *trace;
	uint64_t missing;

	begin("newest");
	start_threads(threads, calls);
	join_threads(threads);
	trace = trace_now();
	header = &trace->header;
	assert_whole(trace);
	cr_assert_eq(header->claimed, 1 + (uint64_t)THREADS * calls);
	cr_assert_eq(header->dropped_full, 0);
	cr_assert_eq(header->dropped_no_space, 0);
	/* Each number of the last round is there, or was dropped. */
	missing = 0;
	for (size_t i = 0; i < trace->count; i++)
		missing += trace->entries[i].number < header->claimed - header->record_capacity;
	missing += header->record_capacity - trace->count;
	cr_assert(missing <= header->dropped_busy, "%llu are missing, %llu were dropped",
		  (unsigned long long)missing, (unsigned long long)header->dropped_busy);
	assert_no_call_twice(trace);
}

Test(any_rings, many_threads_in_a_small_file_that_keeps_the_oldest, .timeout = 60)
{
	const struct ibvbuf_trace_header *header;
	uint32_t calls = REPEATS(50000);
	pthread_t threads[THREADS];
	struct trace *trace;

	begin("oldest");
	start_threads(threads, calls);
	join_threads(threads);
	trace = trace_now();
	header = &trace->header;
	assert_whole(trace);
	cr_assert_eq(trace->count, IN_SMALLEST);
	cr_assert_eq(trace->count + header->dropped_full, 1 + (uint64_t)THREADS * calls);
	cr_assert_eq(header->dropped_busy, 0);
	assert_no_call_twice(trace);
}

Test(any_rings, many_threads_in_a_file_that_grows, .timeout = 60)
{
	uint32_t calls = REPEATS(60000);
	pthread_t threads[THREADS];
	struct trace *trace;

	trace_this_process();
	standin_turn(STANDIN_KEEPS_NO_LOG, true);
	pd = make_domain();
	start_threads(threads, calls);
	join_threads(threads);
	trace = trace_now();
	assert_whole(trace);
	cr_assert_eq(trace->count + trace->header.dropped_no_space, 1 + (uint64_t)THREADS * calls);
	cr_assert_eq(trace->header.dropped_no_space, 0);
	assert_no_call_twice(trace);
}

/* What threads that came second had made is gone. */
Test(one_rings, first_calls_of_many_threads_leave_one_file_and_one_mapping)
{
	pthread_t threads[THREADS];
	unsigned int descriptors;

	trace_this_process();
	standin_turn(STANDIN_KEEPS_NO_LOG, true);
	descriptors = count_descriptors();
	start_threads(threads, 100);
	join_threads(threads);
	cr_assert_eq(count_descriptors(), descriptors);
	/* With the part that has no space yet. */
	cr_assert_eq(occurrences(read_file("/proc/self/maps"), "/trace"), 2);
	cr_assert_eq(trace_now()->count, THREADS * 100);
}

Test(any_rings, a_reader_of_a_busy_ring_sees_whole_records, .timeout = 60)
{
	pthread_t threads[THREADS];
	unsigned int readings = 0;
	struct trace *trace;
	uint64_t claimed;

	begin("newest");
	start_threads(threads, REPEATS(300000));
	do {
		trace = trace_read(getenv("IBVBUF_TRACE"));
		assert_whole(trace);
		claimed = trace->header.claimed;
		trace_free(trace);
		readings++;
	} while (claimed < 1 + (uint64_t)THREADS * calls_each);
	join_threads(threads);
	cr_assert_gt(readings, 10);
}

/* Not even what describes a file can be had; nobody waits for that. */
Test(one_rings, a_trace_begins_when_there_is_memory_again)
{
	struct timespec before, after;
	int i;

	trace_this_process();
	/* It reads the configuration, and is no record. */
	cr_assert_not_null(ibv_open_device(NULL));
	pd = NULL;
	limit_address_space(0);
	clock_gettime(CLOCK_MONOTONIC, &before);
	for (i = 0; i < 100; i++)
		cr_assert_not_null(ibv_reg_mr(pd, NULL, 1, 0));
	clock_gettime(CLOCK_MONOTONIC, &after);
	cr_assert_lt(after.tv_sec - before.tv_sec, 3);
	cr_assert_null(trace_read(getenv("IBVBUF_TRACE")));
	limit_address_space((size_t)1 << 30);
	cr_assert_not_null(ibv_reg_mr(pd, NULL, 1, 0));
	cr_assert_eq(trace_now()->count, 1);
}
