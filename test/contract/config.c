// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the configuration files and the variables do, and what is said of the mistakes in them. That
 * a message comes at all tells the value of "diagnostics", which is "misuse" by default.
 */
#define _GNU_SOURCE
#include "configuration.h"

#include <ctype.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

Test(supplied_config, by_default_misuse_is_said)
{
	cr_assert_eq(occurrences(said_of_misuse(), "freed before"), 1);
	cr_assert_eq(occurrences(captured_errors(), "\n"), 1);
}

Test(supplied_config, the_named_file_is_read)
{
	configure("diagnostics = off\n");
	cr_assert_str_eq(said_of_misuse(), "");
}

Test(supplied_config, comments_and_blank_lines_and_blanks_mean_nothing)
{
	configure("# diagnostics = verbose\n\n \t \n\tdiagnostics\t=  off   # not verbose\n#\n");
	cr_assert_str_eq(said_of_misuse(), "");
}

Test(supplied_config, blanks_around_the_sign_are_not_needed)
{
	configure("diagnostics=off");
	cr_assert_str_eq(said_of_misuse(), "");
}

Test(supplied_config, the_last_line_needs_no_end)
{
	configure("transparent_huge_pages = yes\ndiagnostics = off");
	cr_assert_str_eq(said_of_misuse(), "");
}

Test(supplied_config, lines_may_end_as_elsewhere)
{
	configure("# a comment\r\n\r\ndiagnostics = off\r\n");
	cr_assert_str_eq(said_of_misuse(), "");
}

Test(supplied_config, an_empty_file_changes_nothing)
{
	configure("");
	cr_assert_eq(occurrences(said_of_misuse(), "\n"), 1);
}

Test(supplied_config, what_comes_later_wins)
{
	configure("diagnostics = verbose\ndiagnostics = misuse\ndiagnostics = off\n");
	cr_assert_str_eq(said_of_misuse(), "");
}

Test(supplied_config, verbose_says_what_is_supplied)
{
	configure("diagnostics = verbose\n");
	cr_assert_eq(occurrences(said_of_misuse(), "\n"), 2);
	cr_assert_eq(occurrences(captured_errors(), "libibverbs.so.1: supplied:"), 1);
	cr_assert_eq(occurrences(captured_errors(), "freed before"), 1);
}

Test(supplied_config, a_variable_wins_over_the_file)
{
	configure("diagnostics = verbose\n");
	setenv("IBVBUF_DIAGNOSTICS", "off", 1);
	cr_assert_str_eq(said_of_misuse(), "");
}

Test(supplied_config, a_variable_is_enough)
{
	setenv("IBVBUF_DIAGNOSTICS", "off", 1);
	cr_assert_str_eq(said_of_misuse(), "");
}

/* One in which toupper('i') is not 'I', made here: which of them are installed is not known. */
static bool use_turkish_locale(void)
{
	char command[8192];

	setenv("LOCPATH", scratch_path("locales"), 1);
	unsetenv("LC_ALL");
	/* What is made is used where there are warnings, too. */
	snprintf(command, sizeof(command),
		 "unset LD_PRELOAD; mkdir '%s' && localedef -c -f UTF-8 -i tr_TR '%s/tr_TR.UTF-8'",
		 getenv("LOCPATH"), getenv("LOCPATH"));
	return !system(command) && setlocale(LC_ALL, "tr_TR.UTF-8") && toupper('i') != 'I';
}

Test(supplied_config, variables_are_called_the_same_in_a_turkish_program)
{
	if (!use_turkish_locale())
		cr_skip_test("no Turkish locale can be made");
	setenv("IBVBUF_DIAGNOSTICS", "off", 1);
	cr_assert_str_eq(said_of_misuse(), "");
}

/* Each mistake is named once, with its place, and the default stays. */
static void assert_complaint(const char *place, const char *about)
{
	const char *said = said_of_misuse();

	cr_assert_eq(occurrences(said, place), 1, "'%s' is not in: %s", place, said);
	cr_assert_eq(occurrences(said, about), 1, "'%s' is not in: %s", about, said);
	cr_assert_eq(occurrences(said, "freed before"), 1);
	cr_assert_eq(occurrences(said, "\n"), 2);
	cr_assert_eq(occurrences(said, "ibvbuf-preload: "), 2);
}

Test(supplied_config, an_unknown_key_is_named)
{
	configure("\n# colours\ncolour = blue\n");
	assert_complaint("/ibvbuf.conf:3: ", "colour");
}

Test(supplied_config, a_value_that_cannot_be_is_named)
{
	configure("diagnostics = loud\n");
	assert_complaint("/ibvbuf.conf:1: ", "loud");
	cr_assert_eq(occurrences(captured_errors(), "off, misuse, verbose"), 1);
}

Test(supplied_config, a_boolean_that_is_none_is_named)
{
	configure("transparent_huge_pages = perhaps\n");
	assert_complaint("/ibvbuf.conf:1: ", "perhaps");
	cr_assert_eq(occurrences(captured_errors(), "yes, no"), 1);
}

Test(supplied_config, a_huge_page_that_is_none_is_named)
{
	configure("backing = hugetlb:1\n");
	assert_complaint("/ibvbuf.conf:1: ", "hugetlb:1");
	cr_assert_eq(occurrences(captured_errors(), "hugetlb:SIZE"), 1);
}

Test(supplied_config, a_huge_page_smaller_than_any_page_is_named)
{
	configure("backing = hugetlb:2K\n");
	assert_complaint("/ibvbuf.conf:1: ", "hugetlb:2K");
}

/* Which there are nowhere. */
Test(supplied_config, a_huge_page_of_any_larger_size_is_for_the_system_to_refuse)
{
	struct ibv_buf *buf = NULL;

	configure("backing = hugetlb:4G\n");
	capture_errors();
	errno = 0;
	cr_assert_null(ibv_alloc_buf(make_domain(), 1, &buf));
	cr_assert_eq(errno, EINVAL);
	cr_assert_eq(occurrences(captured_errors(), "no huge pages"), 1);
}

Test(supplied_config, a_missing_value_is_named)
{
	configure("diagnostics =\n");
	assert_complaint("/ibvbuf.conf:1: ", "diagnostics");
}

Test(supplied_config, a_line_of_another_form_is_named)
{
	configure("\ndiagnostics off\n");
	assert_complaint("/ibvbuf.conf:2: ", "key = value");
}

Test(supplied_config, a_key_of_another_case_is_unknown)
{
	configure("Diagnostics = off\n");
	assert_complaint("/ibvbuf.conf:1: ", "Diagnostics");
}

Test(supplied_config, the_beginning_of_a_key_is_unknown)
{
	configure("diagnostic = off\n");
	assert_complaint("/ibvbuf.conf:1: ", "unknown");
}

Test(supplied_config, a_path_that_is_too_long_is_named)
{
	static char text[6000] = "diagnostics_file = /";

	memset(text + strlen(text), 'a', 5000);
	strcat(text, "\n");
	configure(text);
	cr_assert_eq(occurrences(said_of_misuse(), "/ibvbuf.conf:1: "), 1);
	cr_assert_eq(occurrences(captured_errors(), "freed before"), 1);
}

Test(supplied_config, a_variable_that_cannot_be_is_named)
{
	setenv("IBVBUF_DIAGNOSTICS", "loud", 1);
	assert_complaint("IBVBUF_DIAGNOSTICS: ", "loud");
}

Test(supplied_config, several_mistakes_are_named_each)
{
	configure("colour = blue\ndiagnostics = loud\nhello\ntransparent_huge_pages = no\n");
	cr_assert_eq(occurrences(said_of_misuse(), "\n"), 4);
	cr_assert_eq(occurrences(captured_errors(), "/ibvbuf.conf:1: "), 1);
	cr_assert_eq(occurrences(captured_errors(), "/ibvbuf.conf:2: "), 1);
	cr_assert_eq(occurrences(captured_errors(), "/ibvbuf.conf:3: "), 1);
	cr_assert_eq(occurrences(captured_errors(), "freed before"), 1);
}

/* However many, what is said is lines of their own, with nothing cut off in the middle. */
Test(supplied_config, many_mistakes_are_whole_lines)
{
	static char text[16 << 10];
	const char *said, *line;
	size_t i;

	for (i = 0; i < 500; i++)
		strcat(text, "colour = a deep shade of blue\n");
	configure(text);
	said = said_of_misuse();
	cr_assert_eq(said[strlen(said) - 1], '\n');
	for (line = said; *line; line = strchr(line, '\n') + 1)
		cr_assert_eq(strncmp(line, "ibvbuf-preload: ", 16), 0, "not a line: %.100s", line);
	cr_assert_eq(occurrences(said, "\n"), occurrences(said, "ibvbuf-preload: "));
	cr_assert_eq(occurrences(said, "freed before"), 1);
}

Test(supplied_config, a_missing_file_is_named)
{
	setenv("IBVBUF_CONF", scratch_path("ibvbuf.conf"), 1);
	assert_complaint("/ibvbuf.conf: ", "ENOENT");
}

Test(supplied_config, an_empty_name_is_no_file)
{
	setenv("IBVBUF_CONF", "", 1);
	cr_assert_eq(occurrences(said_of_misuse(), "\n"), 1);
}

Test(supplied_config, a_directory_is_named)
{
	setenv("IBVBUF_CONF", scratch_path(""), 1);
	assert_complaint("/: ", "cannot be read");
}

Test(supplied_config, a_file_that_may_not_be_read_is_named)
{
	configure("diagnostics = off\n");
	cr_assert_eq(chmod(getenv("IBVBUF_CONF"), 0), 0);
	if (geteuid() == 0)
		cr_assert_eq(seteuid(65534), 0);
	said_of_misuse();
	if (getuid() == 0)
		cr_assert_eq(seteuid(0), 0);
	cr_assert_eq(occurrences(captured_errors(), "/ibvbuf.conf: "), 1);
	cr_assert_eq(occurrences(captured_errors(), "EACCES"), 1);
	cr_assert_eq(occurrences(captured_errors(), "freed before"), 1);
}

Test(supplied_config, a_fifo_is_named_and_not_waited_for, .timeout = 10)
{
	const char *path = scratch_path("ibvbuf.conf");

	cr_assert_eq(mkfifo(path, 0644), 0);
	setenv("IBVBUF_CONF", path, 1);
	assert_complaint("/ibvbuf.conf: ", "cannot be read");
}

Test(supplied_config, a_device_is_named_and_not_read, .timeout = 10)
{
	setenv("IBVBUF_CONF", "/dev/zero", 1);
	assert_complaint("/dev/zero: ", "cannot be read");
}

/* A comment of that length, before and after which something is said. */
static void configure_long(size_t length)
{
	char *text = malloc(length);

	cr_assert_not_null(text);
	memset(text, '#', length);
	memcpy(text, "diagnostics=off\n", 16);
	text[length - 1] = '\n';
	setenv("IBVBUF_CONF", scratch_file("ibvbuf.conf", text, length), 1);
	free(text);
}

Test(supplied_config, a_file_of_nearly_64_kib_is_read)
{
	configure_long((64 << 10) - 1);
	cr_assert_str_eq(said_of_misuse(), "");
}

Test(supplied_config, a_file_of_more_than_64_kib_is_named)
{
	configure_long((64 << 10) + 1);
	assert_complaint("/ibvbuf.conf: ", "EFBIG");
}

Test(supplied_config, no_content_does_harm)
{
	static char garbage[60000];
	uint64_t value = 7;
	size_t i;

	for (i = 0; i < sizeof(garbage); i++) {
		value = value * UINT64_C(2862933555777941757) + UINT64_C(3037000493);
		garbage[i] = (char)(value >> 56);
	}
	setenv("IBVBUF_CONF", scratch_file("ibvbuf.conf", garbage, sizeof(garbage)), 1);
	capture_errors();
	free_twice();
	cr_assert_eq(CALLS(ibv_dofork_range), 1);
}

Test(supplied_config, a_nul_byte_is_no_end)
{
	setenv("IBVBUF_CONF", scratch_file("ibvbuf.conf", "a = b\0c\ndiagnostics = off\n", 26), 1);
	said_of_misuse();
	cr_assert_eq(CALLS(ibv_dofork_range), 1);
}

Test(supplied_config, lines_of_signs_alone_are_no_keys)
{
	configure("=\n==\n = = \n=#\n");
	cr_assert_eq(occurrences(said_of_misuse(), "unknown key"), 4);
}

Test(supplied_config, huge_pages_are_asked_for)
{
	if (access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK))
		cr_skip_test("this kernel has no transparent huge pages");
	cr_assert(has_mapping_flag(make_buffer(4 << 20).address, " hg"));
}

Test(supplied_config, huge_pages_can_be_declined)
{
	configure("transparent_huge_pages = no\n");
	cr_assert(!has_mapping_flag(make_buffer(4 << 20).address, " hg"));
}

Test(supplied_config, small_buffers_ask_for_no_huge_pages)
{
	cr_assert(!has_mapping_flag(make_buffer((2 << 20) - 4096).address, " hg"));
}

Test(supplied_config, it_is_read_once)
{
	configure("diagnostics = off\n");
	ibv_free_buf(NULL);
	configure("diagnostics = verbose\n");
	setenv("IBVBUF_DIAGNOSTICS", "verbose", 1);
	cr_assert_str_eq(said_of_misuse(), "");
}

Test(any_config, verbose_says_which_calls_are_native)
{
	const char *said, *native;
	size_t i;
	static const struct {
		const char *name;
		int since;
	} calls[] = {
		{" ibv_alloc_pd", 1},
		{" ibv_dealloc_pd", 1},
		{" ibv_reg_mr_ex", 59},
		{" ibv_alloc_buf", 64},
		{" ibv_free_buf", 64},
		{" ibv_reg_buf_mr", 64},
		{" ibv_export_buf_dmabuf_fd", 65},
	};

	configure("diagnostics = verbose\n");
	capture_errors();
	ibv_free_buf(NULL);
	said = captured_errors();
	cr_assert_eq(occurrences(said, "\n"), 1);
	native = strstr(said, "native:");
	cr_assert_not_null(native);
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		cr_assert_eq(occurrences(said, calls[i].name), 1, "%s in %s", calls[i].name, said);
		cr_assert_eq(strstr(native, calls[i].name) != NULL,
			     standin_generation() >= calls[i].since, "%s in %s", calls[i].name,
			     said);
	}
}

Test(any_config, the_system_file_is_read_and_the_others_win)
{
	if (!make_system_file("diagnostics = verbose\ncolour = blue\n"))
		cr_skip_test("a private mount namespace needs root");
	configure("diagnostics = misuse\n");
	capture_errors();
	ibv_free_buf(NULL);
	cr_assert_eq(occurrences(captured_errors(), SYSTEM_FILE ":2: "), 1);
	cr_assert_eq(occurrences(captured_errors(), "\n"), 1);
}

Test(any_config, the_system_file_is_enough)
{
	if (!make_system_file("diagnostics = verbose\n"))
		cr_skip_test("a private mount namespace needs root");
	capture_errors();
	ibv_free_buf(NULL);
	cr_assert_eq(occurrences(captured_errors(), "native:"), 1);
}
