// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Whether the writer of a file is still there, on a host whose name is too long for the file. */
#define _GNU_SOURCE
#include "image.h"
#include "../../trace/traced_process.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* 64 characters, as many as Linux has; 63 of them fit. */
#define LONG_NAME "a123456789b123456789c123456789d123456789e123456789f123456789.org"

static const char *host_name;
static struct image image;
static struct trace_file *file;

/* In place of the C library's. */
int uname(struct utsname *system)
{
	const int result = (int)syscall(SYS_uname, system);

	if (!result && host_name)
		snprintf(system->nodename, sizeof(system->nodename), "%s", host_name);
	return result;
}

/* This process has the file mapped, as its writer has. */
static void open_file(const char *host)
{
	char *problem;

	image = image_new(4, 0);
	memset(image.header->host, 0, sizeof(image.header->host));
	memcpy(image.header->host, host, strnlen(host, sizeof(image.header->host) - 1));
	host_name = LONG_NAME;
	file = trace_file_open(image.path, &problem);
	cr_assert_not_null(file);
}

static void close_file(void)
{
	trace_file_close(file);
	image_remove(&image);
}

Test(traced_process, is_here_if_the_file_has_the_end_of_the_hosts_name)
{
	open_file(LONG_NAME + 1);
	cr_assert(traced_process_is_here(file));
	close_file();
}

Test(traced_process, is_elsewhere_if_the_file_has_the_start_of_the_hosts_name)
{
	open_file(LONG_NAME);
	cr_assert_not(traced_process_is_here(file));
	close_file();
}

Test(traced_process, of_a_host_with_a_long_name_ends)
{
	struct traced_process process = {0};

	open_file(LONG_NAME + 1);
	/* no such process: it has ended */
	file->header.process = 0x7fffffff;
	process.file = file;
	cr_assert_not(traced_process_runs(&process));
	close_file();
}
