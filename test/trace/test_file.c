// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "image.h"
#include "../../trace/trace_file.h"

#include <criterion/criterion.h>

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct image image;

static void make_image(void)
{
	image = image_new(8, 2);
}

static void remove_image(void)
{
	image_remove(&image);
}

TestSuite(file, .init = make_image, .fini = remove_image);

/* The file cannot be read, and is said to be so in these words. */
static void refused(const char *path, const char *words)
{
	char *problem = NULL;
	struct trace_file *file = trace_file_open(path, &problem);

	cr_assert_null(file);
	cr_assert_not_null(problem);
	cr_assert_not_null(strstr(problem, words), "'%s' does not say '%s'", problem, words);
	free(problem);
}

static struct trace_file *opened(void)
{
	char *problem = NULL;
	struct trace_file *file = trace_file_open(image.path, &problem);

	cr_assert_not_null(file, "%s", problem);
	return file;
}

/* The file can be read, and what is wrong with it is said in these words; NULL: nothing is. */
static void damaged(const char *words)
{
	struct trace_file *file = opened();

	if (!words) {
		cr_assert_null(file->damage, "%s", file->damage);
	} else {
		cr_assert_not_null(file->damage);
		cr_assert_not_null(strstr(file->damage, words), "'%s' does not say '%s'",
				   file->damage, words);
	}
	trace_file_close(file);
}

Test(file, a_whole_one_has_no_damage)
{
	damaged(NULL);
}

Test(file, a_missing_one_is_refused)
{
	refused("/nonexistent", "No such file");
}

Test(file, a_folder_is_refused)
{
	refused("/tmp", "folder");
}

Test(file, a_fifo_is_refused_at_once)
{
	char path[] = "/tmp/ibvbuf-trace-fifo.XXXXXX";

	close(mkstemp(path));
	unlink(path);
	cr_assert_eq(mkfifo(path, 0600), 0);
	refused(path, "not a regular file");
	unlink(path);
}

Test(file, a_device_is_refused)
{
	refused("/dev/zero", "not a regular file");
}

Test(file, an_empty_one_is_refused)
{
	cr_assert_eq(truncate(image.path, 0), 0);
	refused(image.path, "empty");
}

Test(file, one_with_nothing_written_yet_is_refused)
{
	memset(image.header, 0, sizeof(*image.header));
	refused(image.path, "nothing has been written");
}

Test(file, another_magic_is_refused)
{
	memcpy(image.header->magic, "\177ELF\2\1\1", 8);
	refused(image.path, "not a trace file");
}

Test(file, the_other_byte_order_is_refused_by_name)
{
	image.header->byte_order = UINT32_C(0x04030201);
	refused(image.path, "other byte order");
}

Test(file, another_major_version_is_refused_by_number)
{
	image.header->version_major = 2;
	image.header->version_minor = 7;
	refused(image.path, "version 2.7");
}

Test(file, a_header_that_is_cut_is_refused)
{
	size_t size;

	for (size = sizeof(*image.header) - 1; size > 8; size -= 7) {
		cr_assert_eq(truncate(image.path, (off_t)size), 0);
		refused(image.path, "cut short");
	}
}

Test(file, records_of_no_bytes_are_refused)
{
	image.header->record_size = 0;
	refused(image.path, "records of 0 bytes");
}

Test(file, records_of_absurd_size_are_refused)
{
	image.header->record_size = UINT32_MAX - 63;
	refused(image.path, "damaged");
}

Test(file, no_room_for_records_is_refused)
{
	image.header->record_capacity = 0;
	refused(image.path, "no room");
}

Test(file, records_within_the_header_are_refused)
{
	image.header->records_offset = 0;
	refused(image.path, "damaged");
}

Test(file, records_beyond_all_offsets_are_refused)
{
	image.header->records_offset = UINT64_MAX - 64;
	refused(image.path, "damaged");
}

Test(file, records_beyond_the_end_are_none)
{
	struct trace_file *file;

	image.header->records_offset = INT64_MAX;
	file = opened();
	cr_assert_eq(file->slots, 0);
	trace_file_close(file);
}

Test(file, one_that_is_cut_has_the_whole_slots_before)
{
	struct trace_file *file;

	cr_assert_eq(truncate(image.path, (off_t)(image.header->records_offset +
						  3 * image.header->record_size + 5)),
		     0);
	file = opened();
	cr_assert_eq(file->slots, 3);
	trace_file_close(file);
	damaged("the last 5 are missing");
}

Test(file, strings_end)
{
	struct trace_file *file;

	memset(image.header->host, 'x', sizeof(image.header->host));
	memset(image.header->program, 'x', sizeof(image.header->program));
	memset(image.header->library, 'x', sizeof(image.header->library));
	memset(image.devices[0].name, 'x', sizeof(image.devices[0].name));
	image.devices[0].state = 1;
	memset(image.modules[0].path, 'x', sizeof(image.modules[0].path));
	image.modules[0].state = 1;
	file = opened();
	cr_assert_eq(strlen(file->header.host), sizeof(file->header.host) - 1);
	cr_assert_eq(strlen(file->header.program), sizeof(file->header.program) - 1);
	cr_assert_eq(strlen(file->header.library), sizeof(file->header.library) - 1);
	cr_assert_eq(strlen(trace_file_device(file, 0)), sizeof(file->devices[0].name) - 1);
	cr_assert_eq(strlen(file->modules[0].path), sizeof(file->modules[0].path) - 1);
	trace_file_close(file);
}

Test(file, a_table_with_absurd_numbers_is_left_out)
{
	image.header->module_capacity = UINT32_MAX;
	damaged("table of modules");
	image.header->module_capacity = IMAGE_MODULES;
	image.header->device_size = 0;
	damaged("table of devices");
	image.header->device_size = sizeof(struct ibvbuf_trace_device);
	image.header->devices_offset = UINT64_MAX;
	damaged("table of devices");
}

Test(file, a_table_beyond_the_end_is_empty)
{
	struct trace_file *file;

	image_add_device(&image, 0, "mlx5_0");
	image.header->devices_offset = image.size;
	file = opened();
	cr_assert_null(trace_file_device(file, 0));
	trace_file_close(file);
}

Test(file, devices_are_those_that_are_there)
{
	struct trace_file *file;

	image_add_device(&image, 1, "mlx5_1");
	file = opened();
	cr_assert_null(trace_file_device(file, 0));
	cr_assert_str_eq(trace_file_device(file, 1), "mlx5_1");
	cr_assert_null(trace_file_device(file, 2));
	cr_assert_null(trace_file_device(file, IBVBUF_TRACE_NO_DEVICE));
	trace_file_close(file);
}

Test(file, what_is_entered_later_is_seen_after_a_refresh)
{
	struct trace_file *file;
	const char *first;

	image_add_device(&image, 0, "mlx5_0");
	file = opened();
	first = trace_file_device(file, 0);
	image_add_device(&image, 3, "mlx5_3");
	image_add(&image, 100);
	trace_file_refresh(file);
	cr_assert_str_eq(trace_file_device(file, 3), "mlx5_3");
	cr_assert_eq(trace_file_device(file, 0), first);
	cr_assert_eq(file->claimed, 1);
	trace_file_close(file);
}

Test(file, a_build_id_is_no_longer_than_its_room)
{
	struct trace_file *file;

	image_add_module(&image, 0, "/lib/a", 0, 1);
	image.modules[0].build_id_length = UINT32_MAX;
	file = opened();
	cr_assert_eq(file->modules[0].build_id_length, sizeof(file->modules[0].build_id));
	trace_file_close(file);
}

Test(file, a_counter_that_no_record_agrees_with_is_replaced)
{
	struct trace_file *file;

	image_add(&image, 10);
	image_add(&image, 20);
	image_add(&image, 30);
	image.header->claimed = UINT64_MAX / 2;
	file = opened();
	cr_assert_eq(file->claimed, 3);
	trace_file_close(file);
	damaged("its records 3");
}

Test(file, times_are_those_of_the_host)
{
	struct trace_file *file = opened();

	cr_assert_eq(trace_file_realtime(file, file->header.start_monotonic + 7),
		     file->header.start_realtime + 7);
	cr_assert_eq(trace_file_realtime(file, file->header.start_monotonic - 7),
		     file->header.start_realtime - 7);
	trace_file_close(file);
}
