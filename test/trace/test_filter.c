// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "image.h"
#include "../../trace/filter.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <string.h>

static struct image image;
static struct trace_file *file;
static struct call_sites *sites;
static struct filter *filter;
static struct ibvbuf_trace_record record;
static struct trace_event event;

/* A record of a call a second after the start. */
static void begin(void)
{
	char *problem;

	image = image_new(1, 0);
	image.header->process = 4711;
	image.header->rank = 3;
	image_add_device(&image, 0, "mlx5_0");
	image_add_module(&image, 0, "/usr/lib/libucm.so.0", 0x10000, 0x20000);
	file = trace_file_open(image.path, &problem);
	sites = call_sites_new();
	filter = filter_new();
	record.call = IBVBUF_TRACE_REG_MR;
	record.thread = 4712;
	record.error = ENOMEM;
	record.length = 65536;
	record.duration = 2000;
	record.caller = 0x10abc;
	record.time = file->header.start_monotonic + 1000000000;
	event.file = file;
	event.record = &record;
	event.begin = trace_file_realtime(file, record.time);
	filter_start(filter, file->header.start_realtime);
}

static void end(void)
{
	filter_free(filter);
	call_sites_free(sites);
	trace_file_close(file);
	image_remove(&image);
}

TestSuite(filter, .init = begin, .fini = end);

static int option_value(const char *name)
{
	size_t i;

	for (i = 0; i < filter_option_count; i++) {
		if (!strcmp(filter_options[i].name, name))
			return filter_options[i].val;
	}
	cr_assert(false, "no option %s", name);
	return 0;
}

static bool add(const char *name, const char *value)
{
	return filter_add(filter, option_value(name), value);
}

/* Whether the record passes this option alone. */
static bool takes(const char *name, const char *value)
{
	bool taken;

	filter_free(filter);
	filter = filter_new();
	filter_start(filter, file->header.start_realtime);
	cr_assert(add(name, value), "--%s %s", name, value);
	taken = filter_takes(filter, sites, &event);
	return taken;
}

Test(filter, one_that_was_told_nothing_takes_everything)
{
	cr_assert_not(filter_is_set(filter));
	cr_assert(filter_takes(filter, sites, &event));
	cr_assert(filter_takes_file(filter, file));
}

Test(filter, calls)
{
	cr_assert(takes("call", "ibv_reg_mr"));
	cr_assert(takes("call", "reg_mr"));
	cr_assert_not(takes("call", "ibv_reg_mr_ex"));
	cr_assert_not(add("call", "ibv_what"));
}

Test(filter, of_two_values_each_will_do)
{
	cr_assert(add("call", "dereg_mr"));
	cr_assert(add("call", "reg_mr"));
	cr_assert(filter_takes(filter, sites, &event));
}

Test(filter, of_two_options_both_must_agree)
{
	cr_assert(add("call", "reg_mr"));
	cr_assert(add("thread", "1"));
	cr_assert_not(filter_takes(filter, sites, &event));
}

Test(filter, threads)
{
	cr_assert(takes("thread", "4712"));
	cr_assert_not(takes("thread", "4711"));
	cr_assert_not(add("thread", "x"));
	cr_assert_not(add("thread", "-1"));
	cr_assert_not(add("thread", ""));
	cr_assert_not(add("thread", "99999999999999999999"));
}

Test(filter, devices)
{
	cr_assert(takes("device", "mlx5_0"));
	cr_assert_not(takes("device", "mlx5_1"));
	record.device = IBVBUF_TRACE_NO_DEVICE;
	cr_assert_not(takes("device", "mlx5_0"));
}

Test(filter, callers)
{
	cr_assert(takes("caller", "libucm"));
	cr_assert(takes("caller", "+0xabc"));
	cr_assert_not(takes("caller", "libucs"));
}

Test(filter, errnos)
{
	cr_assert(takes("errno", "ENOMEM"));
	cr_assert(takes("errno", "12"));
	cr_assert(takes("errno", "any"));
	cr_assert(takes("failed", NULL));
	cr_assert_not(takes("errno", "EFAULT"));
	cr_assert_not(add("errno", "EWHAT"));
	record.error = -1;
	cr_assert(takes("errno", "-1"));
	record.error = 0;
	cr_assert_not(takes("errno", "any"));
	cr_assert_not(takes("failed", NULL));
}

Test(filter, sizes)
{
	cr_assert(takes("min-size", "65536"));
	cr_assert(takes("min-size", "64K"));
	cr_assert(takes("min-size", "64KiB"));
	cr_assert_not(takes("min-size", "65537"));
	cr_assert(takes("max-size", "64k"));
	cr_assert(takes("max-size", "1G"));
	cr_assert_not(takes("max-size", "65535"));
	cr_assert_not(add("min-size", "64X"));
	cr_assert_not(add("min-size", "64KX"));
	cr_assert_not(add("min-size", "99999999999T"));
	cr_assert_not(add("min-size", "-1"));
}

Test(filter, times)
{
	cr_assert(takes("since", "1"));
	cr_assert(takes("since", "0.9"));
	cr_assert(takes("since", "999ms"));
	cr_assert_not(takes("since", "1.1s"));
	cr_assert(takes("until", "1s"));
	cr_assert(takes("until", "2m"));
	cr_assert_not(takes("until", "999999us"));
	cr_assert_not(add("since", "1 fortnight"));
	cr_assert_not(add("since", "nan"));
	cr_assert_not(add("since", "-1"));
	cr_assert_not(add("since", "."));
	cr_assert_not(add("since", "1e300"));
}

Test(filter, a_call_before_the_file_is_at_its_start)
{
	event.begin = file->header.start_realtime - 5;
	cr_assert(takes("until", "0"));
	cr_assert_not(takes("since", "1ns"));
}

Test(filter, durations)
{
	cr_assert(takes("min-duration", "2us"));
	cr_assert(takes("min-duration", "2000ns"));
	cr_assert_not(takes("min-duration", "3us"));
}

Test(filter, processes_and_ranks)
{
	cr_assert(takes("pid", "4711"));
	cr_assert(filter_takes_file(filter, file));
	cr_assert_not(takes("pid", "1"));
	cr_assert_not(filter_takes_file(filter, file));
	cr_assert(takes("rank", "3"));
	cr_assert_not(takes("rank", "0"));
	cr_assert_not(filter_takes_file(filter, file));
}
