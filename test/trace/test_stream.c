// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "image.h"
#include "../../trace/trace_reader.h"
#include "../../trace/trace_stream.h"

#include <criterion/criterion.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Enough for some fifty records at a time. */
#define LITTLE_MEMORY 8192

static struct trace_file *open_file(const struct image *image)
{
	char *problem = NULL;
	struct trace_file *file = trace_file_open(image->path, &problem);

	cr_assert_not_null(file, "%s", problem);
	return file;
}

/* The numbers of all records, in the order in which they come: "0 2 1 ". */
static char *numbers(struct trace_stream *stream)
{
	static char text[65536];
	size_t length = 0;
	struct trace_event event;

	text[0] = '\0';
	while (trace_stream_next(stream, &event))
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%lu ",
					   (unsigned long)event.number);
	return text;
}

/* Reads an image that nobody writes to any more. */
static void reads(struct image *image, const char *wanted, uint64_t absent, uint64_t torn,
		  uint64_t overwritten)
{
	struct trace_file *file = open_file(image);
	struct trace_stream *stream = trace_stream_open(&file, 1, false);

	cr_assert_str_eq(numbers(stream), wanted);
	cr_assert_eq(file->absent, absent);
	cr_assert_eq(file->torn, torn);
	cr_assert_eq(file->overwritten, overwritten);
	trace_stream_close(stream);
	trace_file_close(file);
	image_remove(image);
}

static struct image filled(uint64_t capacity, uint64_t records)
{
	struct image image = image_new(capacity, 0);
	uint64_t i;

	for (i = 0; i < records; i++)
		image_add(&image, 100 * i);
	return image;
}

Test(stream, a_file_without_records_ends_at_once)
{
	struct image image = filled(4, 0);

	reads(&image, "", 0, 0, 0);
}

Test(stream, records_come_by_their_number)
{
	struct image image = filled(4, 3);

	reads(&image, "0 1 2 ", 0, 0, 0);
}

Test(stream, after_wrapping_the_oldest_that_is_left_comes_first)
{
	struct image image = filled(4, 10);

	reads(&image, "6 7 8 9 ", 0, 0, 6);
}

Test(stream, a_full_file_that_keeps_the_oldest_has_the_first_records)
{
	struct image image = filled(4, 4);

	image.header->keep = IBVBUF_TRACE_KEEP_OLDEST;
	image.header->claimed = 10;
	reads(&image, "0 1 2 3 ", 0, 0, 0);
}

Test(stream, a_call_that_took_its_number_late_comes_by_its_time)
{
	struct image image = image_new(4, 0);

	image_add(&image, 100);
	image_add(&image, 300);
	image_add(&image, 200);
	reads(&image, "0 2 1 ", 0, 0, 0);
}

Test(stream, a_record_that_was_being_written_is_passed_over)
{
	struct image image = filled(4, 3);

	image_slot(&image, 1)->state--;
	reads(&image, "0 2 ", 0, 1, 0);
}

Test(stream, a_record_that_was_never_written_is_absent)
{
	struct image image = filled(4, 3);

	memset(image_slot(&image, 1), 0, sizeof(struct ibvbuf_trace_record));
	reads(&image, "0 2 ", 1, 0, 0);
}

Test(stream, a_record_that_its_successor_should_have_replaced_is_not_taken_for_it)
{
	struct image image = filled(4, 8);

	image_slot(&image, 2)->state = 2 * (2 + 1);
	reads(&image, "4 5 7 ", 1, 0, 4);
}

Test(stream, records_without_space_are_absent)
{
	struct image image = filled(8, 8);

	cr_assert_eq(truncate(image.path, (off_t)(image.header->records_offset +
						  5 * image.header->record_size)),
		     0);
	reads(&image, "0 1 2 3 4 ", 3, 0, 0);
}

Test(stream, a_capacity_without_end_ends)
{
	struct image image = filled(4, 3);

	image.header->record_capacity = UINT64_C(1) << 63;
	reads(&image, "0 1 2 ", 0, 0, 0);
}

Test(stream, lies_about_time_do_not_hide_records)
{
	struct image image = image_new(200, 0);
	struct trace_file *file;
	struct trace_stream *stream;
	struct trace_event event;
	unsigned int i, count = 0;

	for (i = 0; i < 200; i++)
		image_add(&image, i * UINT64_C(0x9e3779b97f4a7c15));
	file = open_file(&image);
	stream = trace_stream_open(&file, 1, false);
	while (trace_stream_next(stream, &event))
		count++;
	cr_assert_eq(count, 200);
	trace_stream_close(stream);
	trace_file_close(file);
	image_remove(&image);
}

Test(stream, a_stack_is_no_longer_than_its_room)
{
	struct image image = image_new(2, 3);
	struct trace_file *file;
	struct trace_stream *stream;
	struct trace_event event;
	struct ibvbuf_trace_record *record;

	record = image_add(&image, 100);
	record->stack_used = 2;
	((uint64_t *)(record + 1))[1] = 0x4711;
	image_add(&image, 200)->stack_used = UINT16_MAX;
	file = open_file(&image);
	stream = trace_stream_open(&file, 1, false);
	cr_assert(trace_stream_next(stream, &event));
	cr_assert_eq(event.stack_used, 2);
	cr_assert_eq(event.stack[1], 0x4711);
	cr_assert(trace_stream_next(stream, &event));
	cr_assert_eq(event.stack_used, 3);
	trace_stream_close(stream);
	trace_file_close(file);
	image_remove(&image);
}

Test(stream, files_are_merged_by_the_clock_of_the_host)
{
	struct image one = image_new(4, 0), other = image_new(4, 0);
	struct trace_file *files[2];
	struct trace_stream *stream;
	struct trace_event event;
	uint64_t last = 0;
	char order[16] = "";

	/* booted at another time */
	other.header->start_monotonic = UINT64_C(1) << 50;
	other.header->start_realtime += 50;
	image_add(&one, 100);
	image_add(&one, 200);
	image_add(&other, 100);
	image_add(&other, 200);
	files[0] = open_file(&one);
	files[1] = open_file(&other);
	stream = trace_stream_open(files, 2, false);
	while (trace_stream_next(stream, &event)) {
		strcat(order, event.file == files[0] ? "a" : "b");
		cr_assert_geq(event.end, last);
		cr_assert_eq(event.end - event.begin, 10);
		last = event.end;
	}
	cr_assert_str_eq(order, "abab");
	trace_stream_close(stream);
	trace_file_close(files[0]);
	trace_file_close(files[1]);
	image_remove(&one);
	image_remove(&other);
}

Test(stream, many_blocks_are_one_file)
{
	struct image image = image_new(3000, 0);
	struct trace_reader *reader;
	struct trace_file *file;
	struct trace_event event;
	uint64_t i, last = 0;

	/* each eighth took its number five calls late */
	for (i = 0; i < 5000; i++)
		image_add(&image, 100 * (i % 8 == 7 ? i - 5 : i));
	file = open_file(&image);
	reader = trace_reader_open(file, LITTLE_MEMORY, false);
	for (i = 0; trace_reader_next(reader, &event); i++) {
		cr_assert_geq(event.end, last);
		last = event.end;
	}
	cr_assert_eq(i, 3000);
	trace_reader_close(reader);
	trace_file_close(file);
	image_remove(&image);
}

Test(stream, a_file_that_is_cut_while_it_is_read_ends)
{
	struct image image = filled(3000, 3000);
	struct trace_file *file = open_file(&image);
	struct trace_reader *reader = trace_reader_open(file, LITTLE_MEMORY, false);
	struct trace_event event;
	uint64_t count = 0;

	while (trace_reader_next(reader, &event)) {
		if (++count == 10)
			cr_assert_eq(truncate(image.path, 0), 0);
	}
	cr_assert_lt(count, 3000);
	cr_assert_eq(file->records, count);
	cr_assert_eq(file->absent, 3000 - count);
	trace_reader_close(reader);
	trace_file_close(file);
	image_remove(&image);
}

Test(stream, what_is_overwritten_while_it_is_read_is_left_out)
{
	struct image image = filled(1000, 1000);
	struct trace_file *file = open_file(&image);
	struct trace_reader *reader = trace_reader_open(file, LITTLE_MEMORY, false);
	struct trace_event event;
	uint64_t i, count = 1;

	cr_assert(trace_reader_next(reader, &event));
	/* a writer has taken the numbers of all slots anew, but not begun to write */
	image.header->claimed = 2000;
	while (trace_reader_next(reader, &event))
		count++;
	cr_assert_lt(count, 1000);
	cr_assert_eq(file->overwritten, 1000 - count);
	for (i = 0; i < count; i++)
		cr_assert_eq(image_slot(&image, i)->state, 2 * (i + 1));
	trace_reader_close(reader);
	trace_file_close(file);
	image_remove(&image);
}

Test(follow, new_records_come_after_resuming)
{
	struct image image = filled(8, 2);
	struct trace_file *file = open_file(&image);
	struct trace_stream *stream = trace_stream_open(&file, 1, true);

	cr_assert_str_eq(numbers(stream), "0 1 ");
	image_add(&image, 1000);
	trace_stream_resume(stream);
	cr_assert_str_eq(numbers(stream), "2 ");
	trace_stream_resume(stream);
	cr_assert_str_eq(numbers(stream), "");
	trace_stream_close(stream);
	trace_file_close(file);
	image_remove(&image);
}

Test(follow, a_record_in_the_making_is_waited_for_once)
{
	struct image image = filled(8, 4);
	struct trace_file *file = open_file(&image);
	struct trace_stream *stream;

	image_slot(&image, 1)->state = 0;
	image_slot(&image, 2)->state--;
	stream = trace_stream_open(&file, 1, true);
	cr_assert_str_eq(numbers(stream), "0 ");
	image_slot(&image, 1)->state = 2 * (1 + 1);
	trace_stream_resume(stream);
	cr_assert_str_eq(numbers(stream), "1 3 ");
	cr_assert_eq(file->torn, 1);
	trace_stream_close(stream);
	trace_file_close(file);
	image_remove(&image);
}

Test(follow, a_file_that_grows_is_read_further)
{
	struct image image = filled(8, 8);
	struct trace_stream *stream;
	struct trace_file *file;
	const off_t whole = (off_t)image.size;

	cr_assert_eq(truncate(image.path, whole - 4 * image.header->record_size), 0);
	image.header->claimed = 4;
	image.header->slots_allocated = 4;
	file = open_file(&image);
	stream = trace_stream_open(&file, 1, true);
	cr_assert_str_eq(numbers(stream), "0 1 2 3 ");
	cr_assert_eq(truncate(image.path, whole), 0);
	image_add(&image, 1000);
	image_add(&image, 1100);
	trace_stream_resume(stream);
	cr_assert_str_eq(numbers(stream), "4 5 ");
	trace_stream_close(stream);
	trace_file_close(file);
	image_remove(&image);
}

Test(follow, what_was_overwritten_meanwhile_is_counted)
{
	struct image image = filled(4, 2);
	struct trace_file *file = open_file(&image);
	struct trace_stream *stream = trace_stream_open(&file, 1, true);
	unsigned int i;

	numbers(stream);
	for (i = 0; i < 8; i++)
		image_add(&image, 1000 + i);
	trace_stream_resume(stream);
	cr_assert_str_eq(numbers(stream), "6 7 8 9 ");
	cr_assert_eq(file->overwritten, 4);
	trace_stream_close(stream);
	trace_file_close(file);
	image_remove(&image);
}

/* A writer as the format has it, whose records are whole or not, to see at a glance. */
#define LIVE_SLOTS 256

static struct image live;
static atomic_bool stop;

static void write_live(uint64_t number)
{
	struct ibvbuf_trace_record *record = image_slot(&live, number % LIVE_SLOTS);
	_Atomic uint64_t *state = (_Atomic uint64_t *)&record->state;
	uint64_t *words = (uint64_t *)record;
	unsigned int i;

	atomic_store_explicit(state, 2 * number + 1, memory_order_relaxed);
	/* pairs with the reader's fences */
	atomic_thread_fence(memory_order_release);
	for (i = 1; i < sizeof(*record) / 8; i++)
		words[i] = number;
	/* pairs with the reader's fence after the states */
	atomic_store_explicit(state, 2 * (number + 1), memory_order_release);
}

static void *write_all(void *unused)
{
	_Atomic uint64_t *claimed = (_Atomic uint64_t *)&live.header->claimed;

	while (!atomic_load_explicit(&stop, memory_order_relaxed))
		write_live(atomic_fetch_add_explicit(claimed, 1, memory_order_relaxed));
	return unused;
}

Test(follow, records_of_a_busy_writer_are_whole, .timeout = 60)
{
	struct trace_file *file;
	struct trace_reader *reader;
	struct trace_event event;
	const uint64_t *words;
	pthread_t thread;
	uint64_t count = 0;
	unsigned int i, pass;

	live = image_new(LIVE_SLOTS, 0);
	file = open_file(&live);
	cr_assert_eq(pthread_create(&thread, NULL, write_all, NULL), 0);
	reader = trace_reader_open(file, LITTLE_MEMORY, true);
	for (pass = 0; pass < 3000 || (!count && pass < 1000000); pass++) {
		while (trace_reader_next(reader, &event)) {
			words = (const uint64_t *)event.record;
			for (i = 1; i < sizeof(*event.record) / 8; i++)
				cr_assert_eq(words[i], event.number, "torn: %lu has %lu at %u",
					     (unsigned long)event.number, (unsigned long)words[i],
					     i);
			count++;
		}
		trace_reader_resume(reader);
	}
	atomic_store_explicit(&stop, true, memory_order_relaxed);
	pthread_join(thread, NULL);
	cr_assert_gt(count, 0);
	trace_reader_close(reader);
	trace_file_close(file);
	image_remove(&live);
}
