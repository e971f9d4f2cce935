// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What is said of misuse, where it goes, and that the program is not disturbed by it. */
#define _GNU_SOURCE
#include "configuration.h"
#include "other_writer.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static const char *diagnostics_file(const char *name)
{
	const char *path = scratch_path(name);

	setenv("IBVBUF_DIAGNOSTICS_FILE", path, 1);
	return path;
}

/* All six kinds, several times each. */
static void misuse_in_every_way(void)
{
	struct ibv_buf *foreign = (struct ibv_buf *)(uintptr_t)0x1000;
	struct memory memory;
	int i;

	standin_turn(STANDIN_FORK_SUPPORT, true);
	memory = make_buffer(1);

	ibv_free_buf(memory.buf);
	for (i = 0; i < 3; i++) {
		ibv_free_buf(memory.buf);
		ibv_free_buf(foreign);
		cr_assert_null(ibv_reg_buf_mr(memory.pd, memory.buf, memory.address, 1, 0));
		cr_assert_null(ibv_reg_buf_mr(memory.pd, foreign, memory.address, 1, 0));
		cr_assert_eq(ibv_export_buf_dmabuf_fd(memory.buf), -1);
		cr_assert_eq(ibv_export_buf_dmabuf_fd(foreign), -1);
	}
}

/* The buffer of it is freed once, whatever became of what is said. */
static void assert_misuse_disturbs_nothing(void)
{
	misuse_in_every_way();
	cr_assert_eq(CALLS(ibv_dofork_range), 1);
}

Test(supplied_diagnostics, each_kind_is_said_once)
{
	capture_errors();
	misuse_in_every_way();
	cr_assert_eq(occurrences(captured_errors(), "\n"), 6);
	cr_assert_eq(occurrences(captured_errors(), "freed before"), 3);
	cr_assert_eq(occurrences(captured_errors(), "never given out"), 3);
	cr_assert_eq(occurrences(captured_errors(), "ibv_free_buf"), 2);
	cr_assert_eq(occurrences(captured_errors(), "ibv_reg_buf_mr"), 2);
	cr_assert_eq(occurrences(captured_errors(), "ibv_export_buf_dmabuf_fd"), 2);
}

Test(supplied_diagnostics, a_device_that_cannot_be_opened_is_named_once_with_the_reason)
{
	struct ibv_buf *buf;
	struct ibv_pd *pd;

	setenv("IBVBUF_BACKING", "dma_heap:no-such-heap", 1);
	capture_errors();
	pd = make_domain();
	assert_null_with(ENOENT, ibv_alloc_buf(pd, 1, &buf));
	assert_null_with(ENOENT, ibv_alloc_buf(pd, 1, &buf));
	cr_assert_str_eq(captured_errors(),
			 "ibvbuf-preload: no buffer can be made without "
			 "/dev/dma_heap/no-such-heap, which cannot be opened: ENOENT; said once\n");
}

Test(supplied_diagnostics, huge_pages_that_are_not_there_are_said_once)
{
	const char *said = "there are no huge pages for 34359738368 bytes";
	struct ibv_buf *buf;
	struct ibv_pd *pd;

	setenv("IBVBUF_BACKING", "hugetlb", 1);
	capture_errors();
	pd = make_domain();
	assert_null_with(ENOMEM, ibv_alloc_buf(pd, (size_t)1 << 35, &buf));
	assert_null_with(ENOMEM, ibv_alloc_buf(pd, (size_t)1 << 35, &buf));
	cr_assert_eq(occurrences(captured_errors(), said), 1);
	cr_assert_eq(occurrences(captured_errors(), "\n"), 1);
}

Test(supplied_diagnostics, off_says_nothing)
{
	setenv("IBVBUF_DIAGNOSTICS", "off", 1);
	capture_errors();
	misuse_in_every_way();
	cr_assert_str_eq(captured_errors(), "");
}

Test(supplied_diagnostics, off_says_nothing_of_mistakes_in_the_file_either)
{
	configure("colour = blue\ndiagnostics = off\n");
	cr_assert_str_eq(said_of_misuse(), "");
}

Test(supplied_diagnostics, right_use_says_nothing)
{
	struct memory memory;

	capture_errors();
	memory = make_buffer(100);
	cr_assert(is_registrable(&memory));
	cr_assert_eq(ibv_export_buf_dmabuf_fd(memory.buf), -1);
	ibv_free_buf(memory.buf);
	ibv_free_buf(NULL);
	ibv_dealloc_pd(memory.pd);
	cr_assert_str_eq(captured_errors(), "");
}

Test(supplied_diagnostics, the_handle_is_said)
{
	struct memory memory = make_buffer(1);
	char handle[32];

	capture_errors();
	ibv_free_buf(memory.buf);
	ibv_free_buf(memory.buf);
	snprintf(handle, sizeof(handle), " %#llx ", (unsigned long long)WORD(memory.buf));
	cr_assert_eq(occurrences(captured_errors(), handle), 1, "no %s in %s", handle,
		     captured_errors());
}

/* Not inlined, so that it has a name; something after the call, so that it is what is returned to.
 */
__attribute__((noinline)) static int the_guilty_function(struct ibv_buf *buf)
{
	ibv_free_buf(buf);
	return errno;
}

Test(supplied_diagnostics, the_caller_is_said_as_addr2line_wants_it)
{
	char module[4096], path[4096], command[8192], function[256] = "";
	const char *said, *place;
	unsigned long offset;
	FILE *tool;

	capture_errors();
	cr_assert_geq(the_guilty_function((struct ibv_buf *)(uintptr_t)0x1000), 0);
	said = captured_errors();
	place = strstr(said, "called from ");
	cr_assert_not_null(place);
	cr_assert_eq(sscanf(place, "called from %4095[^+]+0x%lx;", module, &offset), 2);

	cr_assert_not_null(realpath(module, path));
	/* The address is the one to return to; the call is before it. */
	unsetenv("LD_PRELOAD");
	snprintf(command, sizeof(command), "addr2line -f -e '%s' %#lx", path, offset - 1);
	tool = popen(command, "r");
	cr_assert_not_null(tool);
	cr_assert_not_null(fgets(function, sizeof(function), tool));
	pclose(tool);
	cr_assert_eq(strncmp(function, "the_guilty_function", 19), 0, "%s says %s", command,
		     function);
}

Test(supplied_diagnostics, without_proc_the_callers_address_is_said)
{
	if (!make_private_mounts())
		cr_skip_test("not root");
	cr_assert_eq(mount("none", "/proc", "tmpfs", 0, NULL), 0);
	capture_errors();
	cr_assert_geq(the_guilty_function((struct ibv_buf *)(uintptr_t)0x1000), 0);
	cr_assert_eq(occurrences(captured_errors(), "(called from 0x"), 1);
}

Test(supplied_diagnostics, go_to_the_file_that_was_named)
{
	const char *path = strdup(diagnostics_file("said"));

	cr_assert_str_eq(said_of_misuse(), "");
	cr_assert_eq(occurrences(read_file(path), "freed before"), 1);
	free((char *)(uintptr_t)path);
}

Test(supplied_diagnostics, the_file_is_the_owners_alone)
{
	struct stat status;

	umask(0);
	diagnostics_file("said");
	free_twice();
	cr_assert_eq(stat(scratch_path("said"), &status), 0);
	cr_assert_eq(status.st_mode & 07777, 0600);
}

Test(supplied_diagnostics, what_is_in_the_file_stays)
{
	setenv("IBVBUF_DIAGNOSTICS_FILE", scratch_file("said", "before\n", 7), 1);
	capture_errors();
	misuse_in_every_way();
	cr_assert_eq(strncmp(read_file(scratch_path("said")), "before\nibvbuf-preload: ", 23), 0);
	cr_assert_eq(occurrences(read_file(scratch_path("said")), "\n"), 7);
}

Test(supplied_diagnostics, the_file_is_not_kept_open)
{
	int next = dup(1);

	close(next);
	diagnostics_file("said");
	misuse_in_every_way();
	cr_assert_eq(dup(1), next);
}

Test(supplied_diagnostics, of_the_configuration_go_to_that_file_too)
{
	diagnostics_file("said");
	configure("colour = blue\n");
	cr_assert_str_eq(said_of_misuse(), "");
	cr_assert_eq(occurrences(read_file(scratch_path("said")), "colour"), 1);
	cr_assert_eq(occurrences(read_file(scratch_path("said")), "\n"), 2);
}

Test(supplied_diagnostics, a_file_that_cannot_be_written_disturbs_nobody)
{
	diagnostics_file("no such directory/said");
	assert_misuse_disturbs_nothing();
}

Test(supplied_diagnostics, a_full_device_disturbs_nobody)
{
	setenv("IBVBUF_DIAGNOSTICS_FILE", "/dev/full", 1);
	assert_misuse_disturbs_nothing();
}

Test(supplied_diagnostics, a_directory_disturbs_nobody)
{
	diagnostics_file("");
	assert_misuse_disturbs_nothing();
}

Test(supplied_diagnostics, a_fifo_without_a_reader_disturbs_nobody, .timeout = 10)
{
	cr_assert_eq(mkfifo(diagnostics_file("said"), 0600), 0);
	assert_misuse_disturbs_nothing();
}

Test(supplied_diagnostics, a_closed_standard_error_disturbs_nobody)
{
	close(STDERR_FILENO);
	assert_misuse_disturbs_nothing();
	cr_assert_eq(dup(STDOUT_FILENO), STDERR_FILENO, "something took its place");
}

static void make_pipe(int ends[2])
{
	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	cr_assert_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
}

static void make_socket(int ends[2])
{
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	cr_assert_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
}

Test(supplied_diagnostics, a_full_pipe_is_not_waited_for, .timeout = 10)
{
	int ends[2];

	make_pipe(ends);
	fill(STDERR_FILENO);
	assert_misuse_disturbs_nothing();
}

/* The room that there is takes some messages, and not all. */
Test(supplied_diagnostics, a_pipe_that_is_nearly_full_is_not_waited_for, .timeout = 10)
{
	char page[4096];
	int ends[2];

	make_pipe(ends);
	fill(STDERR_FILENO);
	cr_assert_eq(read(ends[0], page, sizeof(page)), (ssize_t)sizeof(page));
	configure("colour = blue\nhello\n");
	assert_misuse_disturbs_nothing();
}

Test(supplied_diagnostics, a_full_socket_is_not_waited_for, .timeout = 10)
{
	int ends[2];

	make_socket(ends);
	fill(STDERR_FILENO);
	assert_misuse_disturbs_nothing();
}

Test(supplied_diagnostics, a_pipe_that_another_fills_meanwhile_is_not_waited_for, .timeout = 10)
{
	int ends[2];

	make_pipe(ends);
	fill_before_each_write();
	assert_misuse_disturbs_nothing();
}

Test(supplied_diagnostics, a_socket_that_another_fills_meanwhile_is_not_waited_for, .timeout = 10)
{
	int ends[2];

	make_socket(ends);
	fill_before_each_write();
	assert_misuse_disturbs_nothing();
}

static int make_terminal_of(int *theirs)
{
	int ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (ours < 0)
		cr_skip_test("there are no pseudoterminals here");
	cr_assert_eq(grantpt(ours), 0);
	cr_assert_eq(unlockpt(ours), 0);
	*theirs = open(ptsname(ours), O_RDWR | O_NOCTTY | O_CLOEXEC);
	cr_assert_geq(*theirs, 0);
	return ours;
}

static int make_terminal(void)
{
	int theirs, ours = make_terminal_of(&theirs);

	cr_assert_eq(dup2(theirs, STDERR_FILENO), STDERR_FILENO);
	return ours;
}

Test(supplied_diagnostics, a_terminal_that_another_fills_meanwhile_is_not_waited_for, .timeout = 10)
{
	make_terminal();
	fill_before_each_write();
	assert_misuse_disturbs_nothing();
}

/* That what is said of misuse in every way arrives there. */
static void assert_all_arrives(int fd)
{
	char text[8192] = "";
	size_t length = 0;

	misuse_in_every_way();
	while (occurrences(text, "; said once") < 6) {
		ssize_t got = read(fd, text + length, sizeof(text) - 1 - length);

		cr_assert_gt(got, 0, "%s", text);
		length += (size_t)got;
		text[length] = '\0';
	}
}

Test(supplied_diagnostics, go_to_a_pipe, .timeout = 10)
{
	int ends[2];

	make_pipe(ends);
	assert_all_arrives(ends[0]);
}

Test(supplied_diagnostics, go_to_a_socket, .timeout = 10)
{
	int ends[2];

	make_socket(ends);
	assert_all_arrives(ends[0]);
}

Test(supplied_diagnostics, go_to_a_terminal, .timeout = 10)
{
	assert_all_arrives(make_terminal());
}

/* To open that end once more would make another terminal. */
Test(supplied_diagnostics, go_to_the_other_end_of_a_terminal, .timeout = 10)
{
	struct termios raw;
	int theirs, ours = make_terminal_of(&theirs);

	cr_assert_eq(tcgetattr(theirs, &raw), 0);
	cfmakeraw(&raw);
	cr_assert_eq(tcsetattr(theirs, TCSANOW, &raw), 0);
	cr_assert_eq(dup2(ours, STDERR_FILENO), STDERR_FILENO);
	assert_all_arrives(theirs);
}

/* Of a session that the terminal belongs to, but not in its foreground. */
static void misuse_in_the_background(int theirs)
{
	struct termios modes;
	pid_t child;
	int status;

	cr_assert_geq(setsid(), 0);
	cr_assert_eq(ioctl(theirs, TIOCSCTTY, 0), 0);
	cr_assert_eq(tcgetattr(theirs, &modes), 0);
	modes.c_lflag |= TOSTOP;
	cr_assert_eq(tcsetattr(theirs, TCSANOW, &modes), 0);
	child = fork();
	if (!child) {
		setpgid(0, 0);
		misuse_in_every_way();
		_exit(0);
	}
	if (waitpid(child, &status, WUNTRACED) != child || status)
		kill(child, SIGKILL);
	_exit(status ? 1 : 0);
}

Test(supplied_diagnostics, a_terminal_does_not_stop_a_program_in_the_background, .timeout = 10)
{
	int theirs, status;
	pid_t child;

	make_terminal_of(&theirs);
	cr_assert_eq(dup2(theirs, STDERR_FILENO), STDERR_FILENO);
	child = fork();
	if (!child)
		misuse_in_the_background(theirs);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
}

Test(supplied_diagnostics, go_to_a_pipe_without_proc, .timeout = 10)
{
	int ends[2];

	if (!make_private_mounts())
		cr_skip_test("not root");
	cr_assert_eq(mount("none", "/proc", "tmpfs", 0, NULL), 0);
	make_pipe(ends);
	assert_all_arrives(ends[0]);
}

/* The end that is read from is no standard error to write to, though the kernel would open it so.
 */
Test(supplied_diagnostics, do_not_go_to_what_the_program_opened_for_reading)
{
	int ends[2], flags;
	char byte;

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	cr_assert_eq(dup2(ends[0], STDERR_FILENO), STDERR_FILENO);
	misuse_in_every_way();
	flags = fcntl(ends[0], F_GETFL);
	cr_assert_eq(fcntl(ends[0], F_SETFL, flags | O_NONBLOCK), 0);
	cr_assert_eq(read(ends[0], &byte, 1), -1);
}

Test(supplied_diagnostics, the_standard_error_is_left_as_it_is)
{
	int ends[2], flags, next;

	make_pipe(ends);
	next = dup(1);
	close(next);
	flags = fcntl(STDERR_FILENO, F_GETFL);
	misuse_in_every_way();
	cr_assert_eq(fcntl(STDERR_FILENO, F_GETFL), flags);
	cr_assert_eq(dup(1), next, "a descriptor is left open");
}

static void *fill_by_misuse(void *unused)
{
	(void)unused;
	misuse_in_every_way();
	return NULL;
}

Test(supplied_diagnostics, threads_do_not_wait_for_a_pipe_that_is_nearly_full, .timeout = 10)
{
	pthread_t threads[4];
	char page[4096];
	int ends[2];
	size_t i;

	make_pipe(ends);
	fill(STDERR_FILENO);
	cr_assert_eq(read(ends[0], page, sizeof(page)), (ssize_t)sizeof(page));
	for (i = 0; i < 4; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, fill_by_misuse, NULL), 0);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

Test(supplied_diagnostics, a_pipe_without_a_reader_raises_no_signal)
{
	int ends[2];

	make_pipe(ends);
	close(ends[0]);
	signal(SIGPIPE, count_signal);
	misuse_in_every_way();
	cr_assert_eq(signals, 0);
	/* Its default would have been the end. */
	signal(SIGPIPE, SIG_DFL);
	ibv_export_buf_dmabuf_fd((struct ibv_buf *)(uintptr_t)0x2000);
}

Test(supplied_diagnostics, a_pipe_without_a_reader_does_not_end_the_program)
{
	int ends[2];

	make_pipe(ends);
	close(ends[0]);
	signal(SIGPIPE, SIG_DFL);
	assert_misuse_disturbs_nothing();
}

Test(supplied_diagnostics, a_signal_that_waits_already_stays)
{
	sigset_t blocked, pending;
	int ends[2];

	make_pipe(ends);
	close(ends[0]);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGPIPE);
	cr_assert_eq(sigprocmask(SIG_BLOCK, &blocked, NULL), 0);
	raise(SIGPIPE);
	misuse_in_every_way();
	cr_assert_eq(sigpending(&pending), 0);
	cr_assert(sigismember(&pending, SIGPIPE));
	cr_assert_eq(sigprocmask(SIG_BLOCK, NULL, &blocked), 0);
	cr_assert(sigismember(&blocked, SIGPIPE));
}

/* One that is sent to the whole process meanwhile is not the write's either. */
Test(supplied_diagnostics, a_signal_of_the_process_that_waits_already_stays)
{
	sigset_t blocked, pending;
	int ends[2];

	make_pipe(ends);
	close(ends[0]);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGPIPE);
	cr_assert_eq(sigprocmask(SIG_BLOCK, &blocked, NULL), 0);
	kill(getpid(), SIGPIPE);
	misuse_in_every_way();
	cr_assert_eq(sigpending(&pending), 0);
	cr_assert(sigismember(&pending, SIGPIPE));
}

Test(supplied_diagnostics, the_limit_of_file_sizes_raises_no_signal)
{
	struct rlimit limit = {0, 0};
	struct stat status;

	diagnostics_file("said");
	make_domain();
	signal(SIGXFSZ, SIG_DFL);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_misuse_disturbs_nothing();
	cr_assert_eq(stat(scratch_path("said"), &status), 0);
	cr_assert_eq(status.st_size, 0);
}

/* A handler of the program's may do what misuses a buffer. */
static struct ibv_buf *freed_before;

static void free_in_handler(int number)
{
	(void)number;
	ibv_free_buf(freed_before);
}

Test(supplied_diagnostics, can_come_from_a_signal_handler)
{
	struct memory memory = make_buffer(1);

	capture_errors();
	ibv_free_buf(memory.buf);
	freed_before = memory.buf;
	signal(SIGUSR1, free_in_handler);
	raise(SIGUSR1);
	cr_assert_eq(occurrences(captured_errors(), "freed before"), 1);
}
