// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the summary says of programs whose faults are known. */
#define _GNU_SOURCE
#include "image.h"
#include "output.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "infiniband/verbs.h"

#define PROGRAM	   UINT64_C(0x10000)
#define LIBRDMACM  UINT64_C(0x20000)
#define LIBIBVERBS UINT64_C(0x30000)
#define DOMAIN	   UINT64_C(0x1000)
#define SECOND	   UINT64_C(1000000000)

static struct image image;
static uint64_t now;

static struct image new_image(uint64_t capacity)
{
	struct image made = image_new(capacity, 0);

	image_add_device(&made, 0, "mlx5_0");
	image_add_module(&made, 0, "/usr/bin/program", PROGRAM, PROGRAM + 0x10000);
	image_add_module(&made, 1, "/usr/lib/librdmacm.so.1", LIBRDMACM, LIBRDMACM + 0x10000);
	image_add_module(&made, 2, "/usr/lib/libibverbs.so.1", LIBIBVERBS, LIBIBVERBS + 0x10000);
	/* no such process: it has ended */
	made.header->process = 0x7fffffff;
	return made;
}

static void begin(void)
{
	image = new_image(4000);
}

static void end(void)
{
	image_remove(&image);
}

TestSuite(summary, .init = begin, .fini = end);

/* A call that ends 1000 nanoseconds after the one before it. */
static struct ibvbuf_trace_record *add(uint16_t call, uint64_t offset)
{
	struct ibvbuf_trace_record *record = image_add(&image, now += 1000);

	record->call = call;
	record->caller = PROGRAM + offset;
	record->pd = DOMAIN;
	record->access = IBV_ACCESS_LOCAL_WRITE;
	return record;
}

static struct ibvbuf_trace_record *add_registration(uint64_t offset, uint32_t key, uint64_t length)
{
	struct ibvbuf_trace_record *record = add(IBVBUF_TRACE_REG_MR, offset);

	record->object = (uint64_t)key * 64;
	record->lkey = key;
	record->address = UINT64_C(0x100000000) + (uint64_t)key * 0x1000000;
	record->length = length;
	return record;
}

static struct ibvbuf_trace_record *add_deregistration(uint32_t key)
{
	struct ibvbuf_trace_record *record = add(IBVBUF_TRACE_DEREG_MR, 0x300);

	record->object = (uint64_t)key * 64;
	record->lkey = key;
	return record;
}

static struct ibvbuf_trace_record *add_failure(uint16_t call, uint64_t offset, int error)
{
	struct ibvbuf_trace_record *record = add(call, offset);

	record->address = 0x555000;
	record->length = 4096;
	record->error = error;
	return record;
}

static const char *summary(void)
{
	return output_of(&command_summary, image.path, NULL);
}

/* Without what only arranges it: spaces and the ends of lines, one for many. */
static void squeeze(const char *text, char *squeezed)
{
	size_t length = 0;

	for (; *text; text++) {
		if ((*text != ' ' && *text != '\n') || !length || squeezed[length - 1] != ' ')
			squeezed[length++] = *text == '\n' ? ' ' : *text;
	}
	squeezed[length] = '\0';
}

static void says(const char *text, const char *wanted)
{
	static char have[1 << 20], want[1024];

	squeeze(text, have);
	squeeze(wanted, want);
	cr_assert(strstr(have, want), "no \"%s\" in:\n%s", want, text);
}

static void does_not_say(const char *text, const char *unwanted)
{
	cr_assert_not(strstr(text, unwanted), "\"%s\" in:\n%s", unwanted, text);
}

Test(summary, names_both_call_sites_that_leak_three_of_a_thousand_mrs)
{
	const char *text;
	uint32_t key;

	for (key = 1; key <= 1000; key++)
		add_registration(key % 2 ? 0x110 : 0x220, key, 4096);
	for (key = 1; key <= 1000; key++) {
		if (key != 17 && key != 501 && key != 800)
			add_deregistration(key);
	}

	text = summary();
	says(text, "3 of 1,000 MRs were never deregistered: 12 KiB (12,288 bytes)\n");
	says(text, " 2 of 500 8 KiB program+0x110\n");
	says(text, " 1 of 500 4 KiB program+0x220\n");
}

Test(summary, says_when_nothing_is_wrong)
{
	const char *text;

	add_registration(0x110, 1, 4096);
	add_deregistration(1);

	text = summary();
	says(text, "Nothing is wrong");
	does_not_say(text, "never");
	does_not_say(text, "Not known");
}

Test(summary, tells_what_it_is_of)
{
	image.header->rank = 3;
	add_registration(0x110, 1, 4096);

	says(summary(), "program, process 2147483647 on node1, rank 3; mlx5_0\n");
}

Test(summary, tells_the_most_that_lived_and_what_is_left)
{
	const char *text;

	add_registration(0x110, 1, 4096);
	now = 2 * SECOND - 1000;
	add_registration(0x110, 2, 8192);
	add_deregistration(1);
	now = 3 * SECOND - 1000;
	add_registration(0x110, 3, 1024);
	add_registration(0x110, 4, 1024);

	text = summary();
	says(text, "At most 12 KiB at once (after 2 s), and 3 MRs (after 3 s); at the end 10 KiB "
		   "in 3 MRs.");
	says(text, "5 calls, 50 ns in them; none failed. 14 KiB registered in total.");
}

Test(summary, explains_failures_and_names_their_sites)
{
	const char *text;

	add_registration(0x110, 1, 65536);
	add_failure(IBVBUF_TRACE_REG_MR, 0x120, ENOMEM);
	add_failure(IBVBUF_TRACE_REG_MR, 0x120, ENOMEM);
	add_failure(IBVBUF_TRACE_REG_MR, 0x130, ENOMEM);

	text = summary();
	says(text, "3 x ibv_reg_mr: ENOMEM\n");
	says(text, "RLIMIT_MEMLOCK");
	says(text, "> Raise the limit: `ulimit -l unlimited`");
	says(text, "The first after 2 us: 4 KiB at 0x555000, access LOCAL_WRITE; at least 64 KiB "
		   "was registered in 1 MR.");
	says(text, " 2 ibv_reg_mr program+0x120\n");
	says(text, " 1 ibv_reg_mr program+0x130\n");
}

Test(summary, puts_the_most_frequent_failure_first)
{
	const char *text;

	add_failure(IBVBUF_TRACE_REG_MR, 0x120, ENOMEM);
	add_failure(IBVBUF_TRACE_REG_MR, 0x130, EFAULT);
	add_failure(IBVBUF_TRACE_REG_MR_IOVA2, 0x140, EFAULT);

	text = summary();
	says(text, "2 x several calls: EFAULT\n");
	cr_assert_lt(strstr(text, "EFAULT"), strstr(text, "ENOMEM"));
}

Test(summary, does_not_take_probes_for_failures)
{
	const char *text;

	add_failure(IBVBUF_TRACE_REG_DMABUF_MR, 0x120, EBADF);
	add_failure(IBVBUF_TRACE_REG_DMABUF_MR, 0x120, EBADF);
	add_failure(IBVBUF_TRACE_REG_DMABUF_MR, 0x120, EOPNOTSUPP);

	text = summary();
	says(text, "none failed");
	says(text, "2 of ibv_reg_dmabuf_mr, with descriptor -1, asked");
	says(text, "EBADF, so they can.");
	says(text, "so they cannot.");
	says(text, "Nothing is wrong");
}

Test(summary, tells_of_memory_that_was_freed_under_an_mr)
{
	struct ibvbuf_trace_record *record;
	const char *text;

	record = add(IBVBUF_TRACE_ALLOC_BUF, 0x400);
	record->buffer = 0xb00;
	record->address = UINT64_C(0x100000000) + 0x1000000;
	record->length = 8192;
	record->backing = IBVBUF_TRACE_BACKING_ANONYMOUS;
	add_registration(0x110, 1, 4096);
	add(IBVBUF_TRACE_FREE_BUF, 0x500)->buffer = 0xb00;
	add_deregistration(1);

	text = summary();
	says(text, "1 MR (4 KiB) lived when its memory was freed\n");
	says(text, " 1 4 KiB freed by program+0x500\n registered by program+0x110\n");
	says(text, "Call ibv_dereg_mr before ibv_free_buf.");
}

Test(summary, tells_that_a_dmabufs_memory_stays)
{
	struct ibvbuf_trace_record *record;
	const char *text;

	record = add(IBVBUF_TRACE_ALLOC_BUF, 0x400);
	record->buffer = 0xb00;
	record->address = 0x7000000;
	record->length = 8192;
	record->backing = IBVBUF_TRACE_BACKING_UDMABUF;
	record = add_registration(0x110, 1, 4096);
	record->call = IBVBUF_TRACE_REG_BUF_MR;
	record->buffer = 0xb00;
	add(IBVBUF_TRACE_FREE_BUF, 0x500)->buffer = 0xb00;

	text = summary();
	says(text, "Memory of a DMA-buf (1 MR) stays as long as its MR.");
	does_not_say(text, "old pages");
}

Test(summary, tells_of_repeated_registrations)
{
	const char *text;

	add_registration(0x110, 1, 4096);
	add_registration(0x120, 2, 4096)->address = UINT64_C(0x100000000) + 0x1000000;

	text = summary();
	says(text, "1 registration repeated one that lived, of the same range and domain: 4 KiB "
		   "twice, 10 ns");
	says(text, " 1 4 KiB program+0x120\n what was registered by program+0x110\n");
}

Test(summary, tells_of_overlapping_registrations)
{
	const char *text;

	add_registration(0x110, 1, 8192);
	add_registration(0x120, 2, 8192)->address = UINT64_C(0x100000000) + 0x1001000;

	text = summary();
	says(text,
	     "1 registration shared bytes with MRs of the same domain that lived: 4 KiB twice.");
	says(text, " 1 4 KiB program+0x120\n with what was registered by program+0x110\n");
}

Test(summary, tells_what_a_registration_cache_would_save)
{
	const char *text;
	unsigned int i;

	for (i = 0; i < 11; i++) {
		add_registration(0x110, 1, 4096)->duration = 700;
		add_deregistration(1)->duration = 300;
	}

	text = summary();
	says(text, "10 registrations were of a range that had been registered before and "
		   "deregistered: 10 us in");
	says(text, " 10 40 KiB program+0x110\n");
}

Test(summary, has_a_table_of_calls)
{
	unsigned int i;

	for (i = 1; i <= 100; i++)
		add_registration(0x110, i, 1024)->duration = i == 100 ? 5000 : i / 2 + 1;
	add_failure(IBVBUF_TRACE_REG_MR, 0x110, EFAULT);

	says(summary(), " ibv_reg_mr 101 1 100 KiB 26 ns 50 ns 5 us 7.56 us\n");
}

Test(summary, lists_the_largest_call_sites_first)
{
	const char *text;
	unsigned int i;

	for (i = 1; i <= 6; i++)
		add_registration(0x1000 * i, i, 1024 * i);
	add_deregistration(6)->duration = 9000;

	text = output_of(&command_summary, "--top=2", image.path, NULL);
	says(text, "by the call site\n 6 KiB 6 KiB 1 10 ns program+0x6000\n 5 KiB 5 KiB 1 10 ns "
		   "program+0x5000\n");
	/* the slowest is worth a line, too */
	says(text, " - - 1 9 us program+0x300\n");
	says(text, " and 4 others\n");
}

Test(summary, counts_what_libraries_do_themselves)
{
	add(IBVBUF_TRACE_ALLOC_PD, 0)->caller = LIBRDMACM + 0x40;
	add(IBVBUF_TRACE_ALLOC_PD, 0)->caller = LIBRDMACM + 0x80;

	says(summary(), "2 calls were made by librdmacm itself, not by the application.");
}

/* Its deregistration is as little seen as the call of the application was. */
Test(summary, takes_what_libibverbs_registered_by_itself_for_no_leak)
{
	const char *text;

	add_registration(0x110, 1, 4096)->caller = LIBIBVERBS + 0x40;
	add_registration(0x110, 2, 4096)->caller = LIBIBVERBS + 0x40;
	add_registration(0x110, 3, 4096);
	add_deregistration(3);

	text = summary();
	does_not_say(text, "never deregistered");
	says(text, "Nothing is wrong");
	says(text, "Not known\n 2 registrations were made by libibverbs");
	says(text, "ibvbuf-run without --plain");
	says(text, "At most 4 KiB at once");
	text = output_of(&command_summary, "--json", image.path, NULL);
	says(text, "\"passed_by\": 2");
}

Test(summary, knows_what_libibverbs_deregistered_by_itself)
{
	add_registration(0x110, 1, 4096)->caller = LIBIBVERBS + 0x40;
	add_deregistration(1)->caller = LIBIBVERBS + 0x80;

	does_not_say(summary(), "1 deregistration");
}

Test(summary, keeps_the_failures_of_libibverbs)
{
	add_failure(IBVBUF_TRACE_REG_MR_IOVA2, 0, EFAULT)->caller = LIBIBVERBS + 0x40;

	says(summary(), "1 x ibv_reg_mr_iova2: EFAULT");
	does_not_say(summary(), "were made by libibverbs");
}

Test(summary, tells_what_else_was_never_released)
{
	const char *text;

	add(IBVBUF_TRACE_ALLOC_PD, 0x10)->object = DOMAIN;
	add(IBVBUF_TRACE_ALLOC_MW, 0x20)->object = 0x3000;
	add(IBVBUF_TRACE_IMPORT_MR, 0x30)->object = 0x4000;
	add(IBVBUF_TRACE_ALLOC_BUF, 0x40)->buffer = 0x5000;

	text = summary();
	says(text, "1 of 1 protection domain was never deallocated\n 1 of 1 program+0x10\n");
	says(text, "1 of 1 memory window was never deallocated\n 1 of 1 program+0x20\n");
	says(text, "1 of 1 imported MR was never unimported\n 1 of 1 program+0x30\n");
	says(text, "1 of 1 buffer was never freed\n 1 of 1 program+0x40\n");
}

Test(summary, says_that_the_binding_of_windows_is_not_seen)
{
	add(IBVBUF_TRACE_ALLOC_MW, 0x20)->object = 0x3000;

	says(summary(), "that they are bound");
}

Test(summary, tells_what_was_overwritten)
{
	struct image small = new_image(4), whole = image;
	const char *text;
	uint32_t key;

	image = small;
	for (key = 1; key <= 6; key++)
		add_registration(0x110, key, 4096);
	add_deregistration(1);

	text = summary();
	image_remove(&small);
	image = whole;
	says(text, "3 records were overwritten by newer ones (trace_limit)");
	says(text, "1 deregistration is of an MR that was registered before the first record");
}

Test(summary, tells_what_was_dropped_and_why)
{
	const char *text;

	add_registration(0x110, 1, 4096);
	image.header->dropped_no_space = 1;
	image.header->dropped_full = 2000;
	image.header->dropped_busy = 3;
	image.header->unlisted = 4;

	text = summary();
	says(text, "1 record was dropped because no space could be had");
	says(text, "may not be opened any more");
	says(text, "2,000 records were dropped because the file was full");
	says(text, "3 records were dropped because the slot was still being written");
	says(text, "4 devices or modules found no room");
	says(text, "1 of 1 MR was never deregistered: 4 KiB (4,096 bytes), as far as is known\n");
}

Test(summary, tells_of_a_record_that_was_being_written)
{
	add_registration(0x110, 1, 4096);
	add_registration(0x110, 2, 4096)->state = 3;

	says(summary(), "1 record was being written");
}

Test(summary, tells_that_a_process_still_runs)
{
	const char *text;

	/* this one has the file mapped */
	image.header->process = (uint32_t)getpid();
	gethostname(image.header->host, sizeof(image.header->host));
	add_registration(0x110, 1, 4096);

	text = summary();
	says(text, "and the process still runs\n");
	says(text, "1 of 1 MR was not yet deregistered");
	does_not_say(text, "Wrong");
}

Test(summary, has_a_line_for_each_process)
{
	struct image other = new_image(10), first = image;
	const char *text;

	image.header->rank = 1;
	add_registration(0x110, 1, 4096);
	add_failure(IBVBUF_TRACE_REG_MR, 0x110, EFAULT);
	image = other;
	image.header->rank = 0;
	image.header->process = 0x7ffffffe;
	strcpy(image.header->host, "node0");
	add_registration(0x110, 1, 8192);
	add_deregistration(1);
	image = first;

	text = output_of(&command_summary, image.path, other.path, NULL);
	image_remove(&other);
	says(text, "2 processes on 2 hosts; mlx5_0\n");
	says(text, " 0 2147483646 node0 2 - 8 KiB 8 KiB - program\n");
	says(text, " 1 2147483647 node1 2 1 4 KiB 4 KiB 1 program\n");
	says(text, " all 4 1 12 KiB 12 KiB 1");
	/* the same place in both is one call site */
	says(text, " 1 of 2 4 KiB program+0x110\n");
	says(text, "in program, process 2147483647 on node1, rank 1");
}

Test(summary, counts_the_records_that_are_asked_for)
{
	const char *text;

	add_registration(0x110, 1, 4096);
	add(IBVBUF_TRACE_ALLOC_BUF, 0x120)->buffer = 0x5000;
	add_deregistration(1);

	text = output_of(&command_summary, "--call=ibv_reg_mr", image.path, NULL);
	says(text, "only the records that were asked for");
	says(text, "1 call, 10 ns in them; none failed.");
	/* its deregistration ends it all the same */
	says(text, "Nothing is wrong");
}

Test(summary, does_not_print_what_a_terminal_would_obey)
{
	strcpy(image.header->program, "/bin/\033[2J");
	image_add_module(&image, 0, "/bin/\033[2J", PROGRAM, PROGRAM + 0x10000);
	add_registration(0x110, 1, 4096);
	add_failure(IBVBUF_TRACE_REG_MR, 0x110, EFAULT);

	cr_assert_null(strchr(summary(), '\033'));
}

/* As many as a file that lies has records would take long. */
Test(summary, counts_no_more_errors_apart_than_there_can_be)
{
	const char *errors, *end;
	unsigned int count = 0;
	int error;

	for (error = 1; error <= 1000; error++)
		add_failure(IBVBUF_TRACE_REG_MR, 0x110, error);

	errors = strstr(output_of(&command_summary, "--json", image.path, NULL), "\"errors\": [");
	cr_assert_not_null(errors);
	end = strchr(errors, ']');
	while ((errors = strstr(errors, "\"count\":")) && errors++ < end)
		count++;
	cr_assert_geq(count, 133);
	cr_assert_lt(count, 1000);
}

Test(summary, tells_that_more_is_shared_than_was_counted)
{
	struct ibvbuf_trace_record *record;
	uint32_t key, i;

	image_remove(&image);
	image = new_image(30000);
	for (key = 1; key <= 10000; key++)
		add_registration(0x110, key, 4096);
	/* more than it has steps for */
	for (i = 0; i < 2000; i++) {
		record = add_registration(0x120, key, UINT64_C(10000) * 0x1000000);
		record->address = UINT64_C(0x100000000);
		add_deregistration(key);
	}

	says(summary(), "2,000 registrations shared bytes with MRs of the same domain that lived: "
			"at least ");
	says(output_of(&command_summary, "--json", image.path, NULL), "\"at_least\": true");
}

Test(summary, of_no_records_is_short)
{
	const char *text = summary();

	says(text, "0 calls");
	does_not_say(text, "wrong");
	does_not_say(text, "Wrong");
}
