// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "image.h"
#include "../../trace/call_site.h"

#include <criterion/criterion.h>

#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct image image;
static struct trace_file *file;
static struct call_sites *sites;

static void begin(void)
{
	image = image_new(1, 0);
	sites = call_sites_new();
}

static void end(void)
{
	call_sites_free(sites);
	if (file)
		trace_file_close(file);
	image_remove(&image);
}

TestSuite(site, .init = begin, .fini = end);

static void open_image(void)
{
	char *problem;

	file = trace_file_open(image.path, &problem);
	cr_assert_not_null(file);
}

/* At a time after the start. */
static const struct call_site *find(uint64_t address, uint64_t time)
{
	return call_site_find(sites, file, address, image.header->start_monotonic + time);
}

Test(site, an_address_is_a_module_and_an_offset)
{
	const struct call_site *site;

	image_add_module(&image, 0, "/usr/bin/program", 0x10000, 0x20000);
	image_add_module(&image, 1, "/usr/lib/libucm.so.0", 0x20000, 0x30000);
	open_image();
	site = find(0x20123, 5);
	cr_assert_str_eq(site->module, "/usr/lib/libucm.so.0");
	cr_assert_str_eq(site->name, "libucm.so.0");
	cr_assert_eq(site->offset, 0x123);
	cr_assert_str_eq(site->text, "libucm.so.0+0x123");
	cr_assert_null(site->library);
}

Test(site, the_offset_is_what_addr2line_takes)
{
	image_add_module(&image, 0, "/usr/bin/static", 0x400000, 0x500000);
	image.modules[0].bias = 0;
	open_image();
	cr_assert_eq(find(0x400123, 5)->offset, 0x400123);
}

Test(site, an_address_of_no_module_is_told_as_it_is)
{
	open_image();
	cr_assert_str_eq(find(0x20123, 5)->text, "0x20123");
	cr_assert_str_eq(find(0x20123, 5)->module, "");
}

Test(site, the_end_of_a_module_is_not_in_it)
{
	image_add_module(&image, 0, "/usr/bin/program", 0x10000, 0x20000);
	open_image();
	cr_assert_str_eq(find(0x1ffff, 5)->name, "program");
	cr_assert_str_eq(find(0x20000, 5)->name, "");
}

Test(site, the_same_place_is_the_same_site)
{
	image_add_module(&image, 0, "/usr/bin/program", 0x10000, 0x20000);
	open_image();
	cr_assert_eq(find(0x10123, 5), find(0x10123, 6));
	cr_assert_neq(find(0x10123, 5), find(0x10124, 5));
}

Test(site, the_same_place_in_another_process_is_the_same_site)
{
	struct image other = image_new(1, 0);
	struct trace_file *other_file;
	char *problem;

	image_add_module(&image, 0, "/usr/bin/program", 0x10000, 0x20000);
	image_add_module(&other, 0, "/usr/bin/program", 0x70000, 0x80000);
	open_image();
	other_file = trace_file_open(other.path, &problem);
	other_file->index = 1;
	cr_assert_eq(find(0x10123, 5),
		     call_site_find(sites, other_file, 0x70123, other.header->start_monotonic));
	trace_file_close(other_file);
	image_remove(&other);
}

Test(site, of_two_builds_it_is_not_the_same)
{
	image_add_module(&image, 0, "/usr/lib/liba.so", 0x10000, 0x20000);
	image_add_module(&image, 1, "/usr/lib/liba.so", 0x20000, 0x30000);
	image.modules[0].build_id_length = image.modules[1].build_id_length = 1;
	image.modules[0].build_id[0] = 1;
	open_image();
	cr_assert_neq(find(0x10123, 5), find(0x20123, 5));
}

Test(site, a_module_that_was_loaded_later_counts_from_then_on)
{
	image_add_module(&image, 0, "/usr/lib/first.so", 0x10000, 0x20000);
	image_add_module(&image, 1, "/usr/lib/second.so", 0x10000, 0x20000);
	image.modules[1].since += 100;
	open_image();
	cr_assert_str_eq(find(0x10123, 99)->name, "first.so");
	cr_assert_str_eq(find(0x10123, 100)->name, "second.so");
	cr_assert_str_eq(find(0x10123, 50)->name, "first.so");
}

Test(site, a_module_that_is_entered_by_the_call_itself_counts)
{
	image_add_module(&image, 0, "/usr/lib/first.so", 0x10000, 0x20000);
	image.modules[0].since += 100;
	open_image();
	cr_assert_str_eq(find(0x10123, 50)->name, "first.so");
}

Test(site, a_module_that_is_entered_later_is_found_then)
{
	open_image();
	cr_assert_str_eq(find(0x10123, 5)->name, "");
	image_add_module(&image, 0, "/usr/lib/first.so", 0x10000, 0x20000);
	trace_file_refresh(file);
	cr_assert_str_eq(find(0x10123, 5)->name, "first.so");
}

Test(site, calls_of_rdma_core_itself_are_marked)
{
	static const char *const libraries[][2] = {
		{"/usr/lib/librdmacm.so.1", "librdmacm"},
		{"/usr/lib/librdmacm.so.1.3.44.0", "librdmacm"},
		{"/usr/lib/libmlx5.so.1", "libmlx5"},
		{"/usr/lib/libibverbs/libmlx5-rdmav34.so", "libmlx5"},
		{"/usr/lib/libibverbs/librxe-rdmav57.so", "librxe"},
		{"/usr/lib/libibverbs.so.1", "libibverbs"},
		{"/usr/lib/libibverbs-real.so.1", "libibverbs"},
		{"/usr/lib/libucm.so.0", NULL},
		{"/usr/lib/libmlx5_helper.so", NULL},
	};
	unsigned int i;

	for (i = 0; i < 9; i++)
		image_add_module(&image, i, libraries[i][0], (i + 1) * 0x10000, (i + 2) * 0x10000);
	open_image();
	for (i = 0; i < 9; i++) {
		const struct call_site *site = find((i + 1) * 0x10000 + 0x10, 5);

		if (libraries[i][1])
			cr_assert_str_eq(site->library, libraries[i][1]);
		else
			cr_assert_null(site->library);
	}
	cr_assert_str_eq(find(0x10010, 5)->text, "[librdmacm] librdmacm.so.1+0x10");
}

Test(site, after_too_many_all_others_are_one)
{
	const struct call_site *first;
	uint64_t i;

	open_image();
	first = find(1, 5);
	for (i = 2; i <= CALL_SITES_MOST; i++)
		cr_assert_str_neq(find(i, 5)->text, "elsewhere");
	cr_assert_str_eq(find(i, 5)->text, "elsewhere");
	cr_assert_eq(find(i + 1, 5), find(i, 5));
	cr_assert_eq(find(1, 5), first);
}

Test(site, a_terminal_is_given_no_orders)
{
	image_add_module(&image, 0, "/tmp/\033[2Jx\n", 0x10000, 0x20000);
	open_image();
	cr_assert_str_eq(find(0x10010, 5)->text, "?[2Jx?+0x10");
}

/* This program as a module, with its build-id. */
static int add_self(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct ibvbuf_trace_module *module = &image.modules[0];
	const ElfW(Nhdr) * note;
	unsigned int i;

	(void)size;
	(void)unused;
	image_add_module(&image, 0, "", info->dlpi_addr, UINT64_MAX);
	if (readlink("/proc/self/exe", module->path, sizeof(module->path) - 1) < 0)
		abort();
	for (i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_NOTE)
			continue;
		note = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
		if (note->n_type != NT_GNU_BUILD_ID)
			continue;
		module->build_id_length = 20;
		memcpy(module->build_id, (const char *)(note + 1) + note->n_namesz, 20);
	}
	return 1;
}

static const struct call_site *own_site(void)
{
	return find((uintptr_t)add_self + 5, 5);
}

Test(site, a_function_is_found_in_the_file_that_ran)
{
	dl_iterate_phdr(add_self, NULL);
	cr_assert_eq(image.modules[0].build_id_length, 20);
	open_image();
	cr_assert_str_eq(call_site_function(sites, own_site()), "add_self+0x5");
	cr_assert_not_null(strstr(call_site_text(sites, own_site()), " (add_self+0x5)"));
}

Test(site, the_call_is_before_the_address_that_it_returns_to)
{
	dl_iterate_phdr(add_self, NULL);
	open_image();
	/* the first byte of a function is where a call at the end of the one before returns to */
	cr_assert_null(strstr(call_site_text(sites, find((uintptr_t)add_self, 5)), "add_self"));
}

Test(site, another_build_of_the_file_says_nothing)
{
	dl_iterate_phdr(add_self, NULL);
	image.modules[0].build_id[0] ^= 1;
	open_image();
	cr_assert_null(call_site_function(sites, own_site()));
	cr_assert_eq(call_site_text(sites, own_site()), own_site()->text);
}

Test(site, a_file_without_build_id_says_nothing)
{
	dl_iterate_phdr(add_self, NULL);
	image.modules[0].build_id_length = 0;
	open_image();
	cr_assert_null(call_site_function(sites, own_site()));
}

Test(site, a_missing_file_says_nothing)
{
	image_add_module(&image, 0, "/nonexistent", 0x10000, 0x20000);
	image.modules[0].build_id_length = 20;
	open_image();
	cr_assert_null(call_site_function(sites, find(0x10010, 5)));
}
