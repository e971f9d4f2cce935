// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What trace files are called, and whose they are. */
#define _GNU_SOURCE
#include "recorder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const ranks[] = {
	"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID",
};

static char *directory;

/* Trace into that file of a directory of this test. */
static void trace_to(const char *pattern)
{
	char *path;

	directory = strdup(scratch_path(""));
	cr_assert_gt(asprintf(&path, "%s%s", directory, pattern), 0);
	setenv("IBVBUF_TRACE", path, 1);
	free(path);
}

static void record_something(void)
{
	errno = ERRNO_BEFORE;
	cr_assert_not_null(make_domain());
	cr_assert_eq(errno, ERRNO_BEFORE);
}

static const char *path_of(const char *name)
{
	static char path[8192];

	snprintf(path, sizeof(path), "%s%s", directory, name);
	return path;
}

static void assert_file_is(const char *name)
{
	struct trace *trace;

	record_something();
	cr_assert_str_eq(files_in(directory), name, "there is %s", files_in(directory));
	trace = trace_read(scratch_path(strtok(strdup(name), " ")));
	cr_assert_not_null(trace);
	cr_assert_eq(trace->count, 1);
}

Test(any_names, host_program_and_process)
{
	char host[256], name[1024];

	gethostname(host, sizeof(host));
	trace_to("%h-%e-%p.ibvt");
	snprintf(name, sizeof(name), "%s-%s-%d.ibvt ", host, program_invocation_short_name,
		 getpid());
	assert_file_is(name);
}

Test(any_names, a_percent_sign)
{
	trace_to("100%%");
	assert_file_is("100% ");
}

/* A program can be started by any name. */
Test(any_names, a_program_by_a_strange_name_is_no_folder)
{
	program_invocation_short_name = "../a\n\033b";
	trace_to("x%e");
	assert_file_is("x.._a__b ");
}

static void assert_stays_in_its_folder(const char *program)
{
	program_invocation_short_name = (char *)(uintptr_t)program;
	trace_to("traces/%e/trace");
	cr_assert_eq(mkdir(path_of("traces"), 0700), 0);
	cr_assert_eq(mkdir(path_of("traces/_"), 0700), 0);
	record_something();
	cr_assert_not_null(trace_read(path_of("traces/_/trace")));
	cr_assert_str_eq(files_in(directory), "traces ");
}

Test(any_names, a_program_called_as_the_folder_above_is_no_folder)
{
	assert_stays_in_its_folder("..");
}

Test(any_names, a_program_called_as_the_folder_itself_is_no_folder)
{
	assert_stays_in_its_folder(".");
}

Test(any_names, no_rank_is_a_dash)
{
	size_t i;

	for (i = 0; i < 5; i++)
		unsetenv(ranks[i]);
	trace_to("r%r");
	assert_file_is("r- ");
}

static void assert_rank(const char *variable)
{
	struct trace *trace;
	size_t i;

	for (i = 0; i < 5; i++)
		unsetenv(ranks[i]);
	setenv(variable, "17", 1);
	trace_to("r%r");
	assert_file_is("r17 ");
	trace = trace_read(path_of("r17"));
	cr_assert_eq(trace->header.rank, 17);
	cr_assert_str_eq(trace->header.rank_variable, variable);
}

Test(any_names, rank_of_open_mpi)
{
	assert_rank("OMPI_COMM_WORLD_RANK");
}

Test(any_names, rank_of_pmix)
{
	assert_rank("PMIX_RANK");
}

Test(any_names, rank_of_mvapich)
{
	assert_rank("MV2_COMM_WORLD_RANK");
}

Test(any_names, rank_of_pmi)
{
	assert_rank("PMI_RANK");
}

Test(any_names, rank_of_slurm)
{
	assert_rank("SLURM_PROCID");
}

/* mpirun within an allocation of Slurm, where all processes of a node have one SLURM_PROCID. */
Test(any_names, what_starts_the_program_tells_its_rank)
{
	setenv("SLURM_PROCID", "0", 1);
	setenv("OMPI_COMM_WORLD_RANK", "5", 1);
	trace_to("r%r");
	assert_file_is("r5 ");
}

Test(any_names, a_rank_that_is_no_number_is_none)
{
	setenv("OMPI_COMM_WORLD_RANK", "../../etc", 1);
	setenv("PMIX_RANK", "-3", 1);
	setenv("PMI_RANK", "99999999999999999999", 1);
	setenv("SLURM_PROCID", "", 1);
	trace_to("r%r");
	assert_file_is("r- ");
}

Test(any_names, an_existing_file_is_not_overwritten)
{
	trace_to("trace");
	scratch_file("trace", "mine", 4);
	scratch_file("trace.1", "too", 3);
	record_something();
	cr_assert_str_eq(files_in(directory), "trace trace.1 trace.2 ");
	cr_assert_str_eq(read_file(path_of("trace")), "mine");
	cr_assert_str_eq(read_file(path_of("trace.1")), "too");
	cr_assert_eq(trace_read(path_of("trace.2"))->count, 1);
}

Test(any_names, suffixes_of_two_and_three_digits)
{
	char name[32] = "trace";
	int i;

	trace_to("trace");
	for (i = 0; i < 123; i++) {
		scratch_file(name, "", 0);
		snprintf(name, sizeof(name), "trace.%d", i + 1);
	}
	record_something();
	cr_assert_eq(trace_read(path_of("trace.123"))->count, 1);
}

Test(any_names, its_owner_alone_may_read_it)
{
	struct stat status;

	umask(0);
	trace_to("trace");
	record_something();
	cr_assert_eq(stat(path_of("trace"), &status), 0);
	cr_assert_eq(status.st_mode, S_IFREG | 0600);
}

Test(any_names, a_symbolic_link_is_not_followed)
{
	char *target;

	trace_to("trace");
	target = strdup(path_of("target"));
	cr_assert_eq(symlink(target, path_of("trace")), 0);
	record_something();
	cr_assert_str_eq(files_in(directory), "trace trace.1 ");
	cr_assert_eq(trace_read(path_of("trace.1"))->count, 1);
}

Test(any_names, a_relative_pattern_is_in_the_current_folder)
{
	directory = strdup(scratch_path(""));
	cr_assert_eq(chdir(directory), 0);
	setenv("IBVBUF_TRACE", "here", 1);
	record_something();
	cr_assert_eq(chdir("/"), 0);
	record_something();
	cr_assert_eq(trace_read(path_of("here"))->count, 2);
}

static void assert_said_once(const char *piece)
{
	struct ibv_pd *pd;

	capture_errors();
	record_something();
	record_something();
	pd = make_domain();
	cr_assert_not_null(ibv_reg_mr(pd, pd, 8, 0));
	cr_assert_eq(occurrences(captured_errors(), "nothing is traced"), 1);
	cr_assert_eq(occurrences(captured_errors(), piece), 1, "said: %s", captured_errors());
	cr_assert_eq(occurrences(captured_errors(), "\n"), 1);
}

Test(any_names, a_folder_that_is_not_there)
{
	trace_to("none/trace");
	assert_said_once("nothing is traced: ENOENT for the file '/");
}

Test(any_names, a_folder_that_may_not_be_written_to)
{
	setenv("IBVBUF_TRACE", "/proc/trace", 1);
	assert_said_once(" for the file '/proc/trace'");
}

Test(any_names, a_name_that_is_a_folder_gets_a_suffix)
{
	trace_to("trace");
	cr_assert_eq(mkdir(path_of("trace"), 0700), 0);
	record_something();
	cr_assert_eq(trace_read(path_of("trace.1"))->count, 1);
}

Test(any_names, a_name_that_gets_too_long)
{
	char pattern[4000];

	memset(pattern, 'x', sizeof(pattern));
	memcpy(pattern, "/tmp/%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h", 65);
	pattern[sizeof(pattern) - 1] = '\0';
	setenv("IBVBUF_TRACE", pattern, 1);
	assert_said_once("ENAMETOOLONG");
}

Test(any_names, nothing_is_said_with_diagnostics_off)
{
	setenv("IBVBUF_DIAGNOSTICS", "off", 1);
	trace_to("none/trace");
	capture_errors();
	record_something();
	cr_assert_str_eq(captured_errors(), "");
}

static void assert_value_is_refused(const char *variable, const char *value)
{
	char expected[256];

	unsetenv("IBVBUF_TRACE");
	setenv(variable, value, 1);
	snprintf(expected, sizeof(expected), "ibvbuf-preload: %s: ", variable);
	capture_errors();
	record_something();
	cr_assert_eq(occurrences(captured_errors(), expected), 1, "said: %s", captured_errors());
	snprintf(expected, sizeof(expected), " cannot be '%s' (", value);
	cr_assert_eq(occurrences(captured_errors(), expected), 1, "said: %s", captured_errors());
}

Test(any_names, an_unknown_letter_is_named)
{
	assert_value_is_refused("IBVBUF_TRACE", "/tmp/%q");
}

Test(any_names, a_percent_sign_at_the_end_is_named)
{
	assert_value_is_refused("IBVBUF_TRACE", "/tmp/100%");
}

Test(any_names, a_limit_that_is_too_small_is_named)
{
	assert_value_is_refused("IBVBUF_TRACE_LIMIT", "63K");
}

Test(any_names, a_limit_that_is_too_large_is_named)
{
	assert_value_is_refused("IBVBUF_TRACE_LIMIT", "1025G");
}

Test(any_names, an_unknown_choice_of_what_to_keep_is_named)
{
	assert_value_is_refused("IBVBUF_TRACE_KEEP", "all");
}

Test(any_names, a_stack_that_is_too_deep_is_named)
{
	assert_value_is_refused("IBVBUF_TRACE_STACK", "65");
}

Test(any_names, the_configuration_file_can_switch_it_on)
{
	char *text;

	directory = strdup(scratch_path(""));
	cr_assert_gt(asprintf(&text,
			      "trace = %strace\ntrace_limit = 1M\ntrace_keep = oldest\n"
			      "trace_stack = 3\n",
			      directory),
		     0);
	setenv("IBVBUF_CONF", scratch_file("conf", text, strlen(text)), 1);
	record_something();
	{
		const struct ibvbuf_trace_header *header = &trace_read(path_of("trace"))->header;

		cr_assert_eq(header->stack_capacity, 3);
		cr_assert_eq(header->record_size, 192);
		cr_assert_eq(header->record_capacity, (1 << 20) / 192);
		cr_assert_eq(header->keep, IBVBUF_TRACE_KEEP_OLDEST);
	}
}
