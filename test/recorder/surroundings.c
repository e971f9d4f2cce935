// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Where and how a traced program runs. Whatever stands in the way of its trace, the program prints
 * and ends as it does without the shim.
 */
#define _GNU_SOURCE
#include "configuration.h"
#include "recorder.h"
#include "runs.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* What "some MANY" makes: a domain, and two calls each. */
#define MANY	  "20000"
#define ALL_CALLS 40001

static char *directory, *trace_path;

static char *path_of(const char *name)
{
	char *path;

	cr_assert_gt(asprintf(&path, "%s%s", directory, name), 0);
	return path;
}

static void use_directory(void)
{
	directory = strdup(scratch_path(""));
	trace_path = path_of("trace");
}

/* Before the directory is removed. */
static void unmount(void)
{
	umount2(directory, MNT_DETACH);
}

/* A file system in the place of the directory, for this test alone. */
static void mount_there(const char *type, const char *options)
{
	use_directory();
	if (!make_private_mounts())
		cr_skip_test("not root");
	cr_assert_eq(mount("none", directory, type, 0, options), 0);
	atexit(unmount);
}

static struct run some(const char *calls)
{
	return (struct run){.trace = trace_path, .arguments = {"some", calls}};
}

/* The records of the first calls, without a gap, and one for each that is not counted. */
static struct trace *assert_first_are_there(const char *path)
{
	struct trace *trace = trace_read(path);
	size_t i;

	cr_assert_not_null(trace);
	cr_assert_eq(trace->unfinished, 0);
	for (i = 0; i < trace->count; i++) {
		cr_assert_eq(trace->entries[i].number, i);
		cr_assert(i == 0 || is_consistent(&trace->entries[i].record));
	}
	return trace;
}

static void assert_some_dropped(const char *path, uint64_t calls)
{
	struct trace *trace = assert_first_are_there(path);

	cr_assert_geq(trace->count, FIRST_STEP);
	cr_assert_gt(trace->header.dropped_no_space, 0);
	cr_assert_eq(trace->count + trace->header.dropped_no_space, calls);
}

static void assert_all_there(const char *path, uint64_t calls)
{
	struct trace *trace = assert_first_are_there(path);

	cr_assert_eq(trace->count, calls);
	cr_assert_eq(trace->header.dropped_no_space, 0);
}

/* The program goes on, it is said once why there is no trace, and nothing is left. */
static void assert_nothing_traced(const struct run *run, const char *reason)
{
	struct outcome *outcome = assert_runs_the_same(run);
	char expected[256];

	snprintf(expected, sizeof(expected), "ibvbuf-preload: nothing is traced: %s for ", reason);
	cr_assert_eq(occurrences(outcome->errors, expected), 1, "said: %s", outcome->errors);
	cr_assert_eq(occurrences(outcome->errors, "nothing is traced"), 1);
	cr_assert_str_eq(files_in(directory), "");
}

Test(one_surroundings, nothing_stands_in_the_way)
{
	struct run run;

	use_directory();
	run = some(MANY);
	cr_assert_str_eq(assert_runs_the_same(&run)->errors, "");
	assert_all_there(trace_path, ALL_CALLS);
}

/* Records with stacks: a step of space does not end where a page does. */
Test(one_surroundings, a_file_whose_steps_end_within_a_page)
{
	struct run run;

	use_directory();
	run = some(MANY);
	run.stack = "3";
	cr_assert_str_eq(assert_runs_the_same(&run)->errors, "");
	assert_all_there(trace_path, ALL_CALLS);
}

Test(one_surroundings, a_disk_that_gets_full)
{
	struct run run;

	mount_there("tmpfs", "size=2m");
	run = some(MANY);
	cr_assert_str_eq(assert_runs_the_same(&run)->errors, "");
	assert_some_dropped(trace_path, ALL_CALLS);
}

Test(one_surroundings, a_disk_that_is_full)
{
	struct run run;

	mount_there("tmpfs", "size=512k");
	run = some("100");
	assert_nothing_traced(&run, "ENOSPC");
}

Test(one_surroundings, a_file_system_without_room_for_another_file)
{
	struct run run;

	mount_there("tmpfs", "nr_inodes=1");
	run = some("100");
	assert_nothing_traced(&run, "ENOSPC");
}

Test(one_surroundings, a_file_system_that_is_read_only)
{
	struct run run;

	mount_there("tmpfs", NULL);
	cr_assert_eq(mount("none", directory, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	run = some("100");
	assert_nothing_traced(&run, "EROFS");
}

/* It has no fallocate(): space is given by writing. */
Test(one_surroundings, a_file_system_that_cannot_be_asked_for_space)
{
	struct run run;

	mount_there("ramfs", NULL);
	run = some(MANY);
	cr_assert_str_eq(assert_runs_the_same(&run)->errors, "");
	assert_all_there(trace_path, ALL_CALLS);
}

Test(one_surroundings, many_threads_on_a_file_system_that_cannot_be_asked_for_space)
{
	struct run run;
	struct trace *trace;

	mount_there("ramfs", NULL);
	run = some(NULL);
	run.arguments[0] = "threads";
	run.arguments[1] = MANY;
	cr_assert_str_eq(assert_runs_the_same(&run)->errors, "");
	trace = assert_first_are_there(trace_path);
	cr_assert_eq(trace->count + trace->header.dropped_no_space, 4 * (ALL_CALLS - 1) + 1);
	cr_assert_eq(trace->header.dropped_no_space, 0);
}

static void become_nobody(void)
{
	if (setgid(65534) || setuid(65534))
		_exit(126);
}

/* Whether another user can start the program: a clone may lie in a folder of its own user's. */
static bool is_open_to_nobody(void)
{
	bool is_open = !seteuid(65534) &&
		       !faccessat(AT_FDCWD, getenv("RECORDER_PROGRAMS"), X_OK, AT_EACCESS);

	return !seteuid(0) && is_open;
}

Test(one_surroundings, a_folder_of_another_user)
{
	struct run run;

	use_directory();
	if (geteuid() != 0)
		cr_skip_test("not root");
	if (!is_open_to_nobody())
		cr_skip_test("another user cannot reach the program here");
	run = some("100");
	run.prepare = become_nobody;
	assert_nothing_traced(&run, "EACCES");
}

Test(one_surroundings, a_file_that_is_deleted_meanwhile)
{
	struct run run;

	use_directory();
	run = some(NULL);
	run.arguments[0] = "without";
	run.arguments[1] = trace_path;
	cr_assert_str_eq(assert_runs_the_same(&run)->errors, "");
	cr_assert_str_eq(files_in(directory), "");
}

static void remove_other(void)
{
	unlink(trace_path);
}

/* Told of each time that a file of the directory is opened; of closes as well, since openings with
 * nothing in between are told as one. */
static int watch_openings(void)
{
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	cr_assert_geq(watch, 0);
	cr_assert_geq(inotify_add_watch(watch, directory, IN_OPEN | IN_CLOSE), 0);
	return watch;
}

/* Of the trace's name. */
static unsigned int openings(int watch)
{
	char events[64 << 10] __attribute__((aligned(8)));
	const struct inotify_event *event;
	unsigned int count = 0;
	ssize_t length, at;

	while ((length = read(watch, events, sizeof(events))) > 0) {
		for (at = 0; at < length; at += (ssize_t)(sizeof(*event) + event->len)) {
			event = (const void *)(events + at);
			if (event->mask & IN_Q_OVERFLOW)
				return UINT_MAX;
			count += event->mask & IN_OPEN && !strcmp(event->name, "trace");
		}
	}
	return count;
}

/* The other file is not written to, no space is taken in it, and it is looked at now and then. */
Test(one_surroundings, a_file_whose_name_another_has_meanwhile)
{
	struct stat status;
	struct run run;
	int watch;

	use_directory();
	watch = watch_openings();
	run = some(NULL);
	run.arguments[0] = "beside";
	run.prepare = remove_other;
	run.arguments[1] = trace_path;
	cr_assert_str_eq(assert_runs_the_same(&run)->errors, "");
	cr_assert_lt(openings(watch), 100);
	cr_assert_eq(stat(trace_path, &status), 0);
	cr_assert_eq(status.st_size, 13);
	cr_assert_str_eq(read_file(trace_path), "another file\n");
	assert_some_dropped(path_of("trace.moved"), ALL_CALLS + 20);
}

static void limit_files_to(rlim_t size)
{
	struct rlimit limit = {size, size};

	if (setrlimit(RLIMIT_FSIZE, &limit))
		_exit(126);
}

static void limit_files(void)
{
	limit_files_to(1 << 20 | 1 << 19);
}

static void limit_files_a_lot(void)
{
	limit_files_to(100 << 10);
}

Test(one_surroundings, a_limit_of_file_sizes)
{
	struct run run;

	use_directory();
	run = some(MANY);
	run.prepare = limit_files;
	cr_assert_str_eq(assert_runs_the_same(&run)->errors, "");
	assert_some_dropped(trace_path, ALL_CALLS);
}

Test(one_surroundings, a_limit_of_file_sizes_whose_signal_the_program_handles)
{
	struct outcome *outcome;
	struct run run;

	use_directory();
	run = some(MANY);
	run.arguments[0] = "limited";
	run.prepare = limit_files;
	outcome = assert_runs_the_same(&run);
	cr_assert_str_eq(outcome->output, "registered\nsignals: 0\n");
	assert_some_dropped(trace_path, ALL_CALLS);
}

Test(one_surroundings, a_limit_of_file_sizes_where_space_is_given_by_writing)
{
	struct outcome *outcome;
	struct run run;

	mount_there("ramfs", NULL);
	run = some(MANY);
	run.arguments[0] = "limited";
	run.prepare = limit_files;
	outcome = assert_runs_the_same(&run);
	cr_assert_str_eq(outcome->output, "registered\nsignals: 0\n");
	assert_some_dropped(trace_path, ALL_CALLS);
}

Test(one_surroundings, a_limit_of_file_sizes_that_no_trace_fits_in)
{
	struct run run;

	use_directory();
	run = some("100");
	run.arguments[0] = "limited";
	run.prepare = limit_files_a_lot;
	assert_nothing_traced(&run, "EFBIG");
}

Test(one_surroundings, descriptors_that_the_program_closes_and_uses_again)
{
	struct outcome *outcome;
	char *file;
	struct run run;

	use_directory();
	file = path_of("file");
	run = some(NULL);
	run.arguments[0] = "closing";
	run.arguments[1] = file;
	outcome = assert_runs_the_same(&run);
	cr_assert_str_eq(outcome->errors, "");
	cr_assert_str_eq(outcome->output, "descriptor 3\nregistered\n");
	cr_assert_str_eq(read_file(file), "one\ntwo\n");
	assert_all_there(trace_path, ALL_CALLS);
}

/* The trace file does not take the place of what is closed, not even for a moment. */
Test(one_surroundings, the_standard_error_is_closed_and_written_to)
{
	struct run run;
	struct outcome *outcome;

	use_directory();
	run = some(NULL);
	run.arguments[0] = "closed-error";
	run.arguments[1] = "40000";
	outcome = assert_runs_the_same(&run);
	cr_assert_str_eq(outcome->output, "written: 0\n");
	assert_all_there(trace_path, 2 * 40000 + 1);
}

Test(one_surroundings, no_descriptor_is_to_be_had)
{
	struct run run;

	use_directory();
	run = some("100");
	run.arguments[0] = "no-descriptors";
	assert_nothing_traced(&run, "EMFILE");
}

Test(one_surroundings, an_address_space_without_room_for_the_file)
{
	struct run run;

	use_directory();
	run = some("100");
	run.arguments[0] = "little-memory";
	assert_nothing_traced(&run, "ENOMEM");
}

Test(one_surroundings, an_address_space_with_room_for_a_smaller_file)
{
	struct run run;

	use_directory();
	run = some("100");
	run.arguments[0] = "little-memory";
	run.limit = "2M";
	cr_assert_str_eq(assert_runs_the_same(&run)->errors, "");
	assert_all_there(trace_path, 201);
}

Test(one_surroundings, a_stack_that_is_small)
{
	struct run run;

	use_directory();
	run = some("100");
	run.arguments[0] = "small-stack";
	run.stack = "64";
	cr_assert_str_eq(assert_runs_the_same(&run)->errors, "");
	assert_all_there(trace_path, 201);
}

/* A root directory without the file, and a user who may not write it. */
Test(one_surroundings, privileges_that_the_program_drops)
{
	struct run run;

	use_directory();
	if (geteuid() != 0)
		cr_skip_test("not root");
	run = some(NULL);
	run.arguments[0] = "drop";
	run.arguments[1] = directory;
	cr_assert_str_eq(assert_runs_the_same(&run)->errors, "");
	assert_some_dropped(trace_path, ALL_CALLS + 20);
}

/* The program is cancelled nowhere but where it is without the shim. */
Test(one_surroundings, a_thread_that_is_cancelled)
{
	struct run run;

	use_directory();
	run = some(NULL);
	run.arguments[0] = "cancelled";
	run.arguments[1] = MANY;
	cr_assert_str_eq(assert_runs_the_same(&run)->output, MANY " calls before it ended\n");
	assert_all_there(trace_path, ALL_CALLS);
}

Test(one_surroundings, a_thread_that_is_cancelled_where_space_is_given_by_writing)
{
	struct run run;

	mount_there("ramfs", NULL);
	run = some(NULL);
	run.arguments[0] = "cancelled";
	run.arguments[1] = MANY;
	cr_assert_str_eq(assert_runs_the_same(&run)->output, MANY " calls before it ended\n");
	assert_all_there(trace_path, ALL_CALLS);
}

Test(one_surroundings, a_thread_that_is_cancelled_before_nothing_can_be_traced)
{
	struct run run;

	mount_there("tmpfs", "size=512k");
	run = some(NULL);
	run.arguments[0] = "cancelled";
	run.arguments[1] = "100";
	assert_nothing_traced(&run, "ENOSPC");
}

/* Whether the program made a system call between its marks, by what strace(1) wrote. */
static bool is_quiet_between_marks(const char *report)
{
	const char *from = strstr(report, "write(1, \"from here");
	const char *next = from ? strchr(from, '\n') : NULL;

	cr_assert_not_null(next);
	return !strncmp(next + 1, "write(1, \"to here", 17);
}

Test(one_surroundings, records_are_written_without_system_calls)
{
	struct run run;
	char *report;

	use_directory();
	report = path_of("report");
	run = some(NULL);
	run.arguments[0] = "marks";
	run.arguments[1] = "1000";
	run.wrapper[0] = "strace";
	run.wrapper[1] = "-o";
	run.wrapper[2] = report;
	cr_assert_str_eq(assert_runs_the_same(&run)->errors, "");
	cr_assert(is_quiet_between_marks(read_file(report)));
	assert_all_there(trace_path, 2201);
}

Test(one_surroundings, without_a_trace_there_is_no_file_and_no_system_call)
{
	struct run run;
	char *report;

	use_directory();
	report = path_of("report");
	trace_path = "";
	run = some(NULL);
	run.arguments[0] = "marks";
	run.arguments[1] = "1000";
	run.wrapper[0] = "strace";
	run.wrapper[1] = "-o";
	run.wrapper[2] = report;
	cr_assert_str_eq(assert_runs_the_same(&run)->errors, "");
	cr_assert(is_quiet_between_marks(read_file(report)));
	cr_assert_str_eq(files_in(directory), "report ");
}
