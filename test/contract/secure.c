// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A set-user-ID program obeys nothing from the environment. The program is a copy, on a file system
 * of its own that no other process sees, with an /etc/ld.so.preload that no other process sees.
 */
#define _GNU_SOURCE
#include "configuration.h"

#include "ibvbuf/trace.h"

#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where secure_program looks for its libibverbs: DT_RUNPATH says so. */
#define PLACE  "/mnt"
#define NOBODY 65534

static void copy(const char *from, const char *name)
{
	char command[8192];

	snprintf(command, sizeof(command), "cp -L '%s' '" PLACE "/%s'", from, name);
	cr_assert_eq(system(command), 0, "%s", command);
}

static void prepare(mode_t mode)
{
	static const char preload[] = PLACE "/libibvbuf-preload.so\n";
	static const char trace[] = "trace = " PLACE "/writable/rank-%r\n";
	char path[4096];

	cr_assert_eq(mount("contract", PLACE, "tmpfs", 0, "mode=755"), 0);
	copy(getenv("CONTRACT_SECURE_PROGRAM"), "program");
	copy(getenv("LD_PRELOAD"), "libibvbuf-preload.so");
	snprintf(path, sizeof(path), "%s/libibverbs.so.1", getenv("LD_LIBRARY_PATH"));
	copy(path, "libibverbs.so.1");
	cr_assert_eq(chmod(PLACE "/program", mode), 0);
	cr_assert_eq(mkdir(PLACE "/writable", 0777), 0);
	cr_assert_eq(chmod(PLACE "/writable", 0777), 0);
	unsetenv("LD_PRELOAD");
	unsetenv("LD_LIBRARY_PATH");
	if (!strcmp(SYSCONFDIR, "/etc"))
		scratch_file("ibvbuf-preload.conf", trace, sizeof(trace) - 1);
	scratch_file("ld.so.preload", preload, sizeof(preload) - 1);
	cr_assert_eq(mount(scratch_path(""), "/etc", "none", MS_BIND, NULL), 0);
}

/* Start the program as nobody, with all there is to obey; what it says. */
static int run_as_nobody(void *unused)
{
	(void)unused;
	if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || setgroups(0, NULL) || setgid(NOBODY) ||
	    setuid(NOBODY))
		return 100;
	execl(PLACE "/program", PLACE "/program", NULL);
	return 101;
}

static const char *run_program(mode_t mode)
{
	int status;

	if (!make_private_mounts())
		cr_skip_test("a private mount namespace needs root");
	prepare(mode);
	setenv("IBVBUF_DIAGNOSTICS", "verbose", 1);
	setenv("IBVBUF_DIAGNOSTICS_FILE", PLACE "/writable/said", 1);
	setenv("IBVBUF_CONF", PLACE "/there is no such file", 1);
	unsetenv("IBVBUF_TRACE");
	setenv("PMI_RANK", "7", 1);
	capture_errors();
	status = in_child(run_as_nobody, NULL);
	cr_assert_eq(status, 0, "ended with %d: %s", status, captured_errors());
	return captured_errors();
}

/* As the file itself has it, too. */
static void assert_rank(const char *name, int rank, const char *variable)
{
	struct ibvbuf_trace_header header;
	const char *content;

	if (strcmp(SYSCONFDIR, "/etc"))
		return;
	content = read_file(name);
	cr_assert_not_null(content, "no %s", name);
	memcpy(&header, content, sizeof(header));
	cr_assert_eq(header.rank, rank);
	cr_assert_str_eq(header.rank_variable, variable);
}

/* So it is without the bit: otherwise the next test would not tell anything. */
Test(supplied_secure, an_ordinary_program_obeys_the_environment)
{
	cr_assert_str_eq(run_program(0755), "AT_SECURE 0\n");
	cr_assert_eq(occurrences(read_file(PLACE "/writable/said"), "freed before"), 1);
	cr_assert_eq(occurrences(read_file(PLACE "/writable/said"), "supplied:"), 1);
	cr_assert_eq(occurrences(read_file(PLACE "/writable/said"), "no such file"), 1);
	assert_rank(PLACE "/writable/rank-7", 7, "PMI_RANK");
}

Test(supplied_secure, a_set_user_id_program_does_not)
{
	const char *said = run_program(04755);

	cr_assert_eq(occurrences(said, "AT_SECURE 1\n"), 1);
	cr_assert_eq(occurrences(said, "freed before"), 1);
	cr_assert_eq(occurrences(said, "\n"), 2);
	cr_assert_null(read_file(PLACE "/writable/said"));
	assert_rank(PLACE "/writable/rank--", -1, "");
}
