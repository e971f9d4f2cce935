// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The program is to notice little of having another parent: what is sent to the launcher reaches
 * it, and how it ends is how the launcher ends. What the terminal sends comes to both by itself.
 */
#define _GNU_SOURCE
#include "summary.h"
#include "message.h"
#include "paths.h"
#include "trace_files.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define READER "ibvbuf-trace"

/* What is passed on. */
static const int passed[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGWINCH,
};

/* How this process came to handle signals. */
static sigset_t mask_before;
static struct sigaction child_before;

/* In the folder of this program, where it is built and where it is installed. */
static char *reader_path(void)
{
	char *launcher = path_read_link("/proc/self/exe");
	char *reader = print_string("%s/" READER, launcher ? path_folder(launcher) : "");

	if (access(reader, X_OK))
		fail("'%s': %s; --summary needs it: install ibvbuf-preload again", reader,
		     strerror(errno));
	return reader;
}

/* From here on, signals wait until they are asked for. */
static sigset_t hold_signals(void)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};
	sigset_t awaited;
	size_t i;

	sigemptyset(&awaited);
	for (i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		sigaddset(&awaited, passed[i]);
	sigaddset(&awaited, SIGCHLD);
	sigprocmask(SIG_BLOCK, &awaited, &mask_before);
	/* Where it is ignored, nobody learns how a child ended. */
	sigaction(SIGCHLD, &usual, &child_before);
	return awaited;
}

static void release_signals(void)
{
	sigaction(SIGCHLD, &child_before, NULL);
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

/* How it ended, as waitpid() tells. */
static int wait_for(pid_t process, const sigset_t *awaited)
{
	siginfo_t info;
	int status;

	for (;;) {
		if (waitpid(process, &status, WNOHANG) == process)
			return status;
		if (sigwaitinfo(awaited, &info) <= 0 || info.si_signo == SIGCHLD)
			continue;
		/* The terminal's signals come from the kernel. */
		if (info.si_code != SI_KERNEL)
			kill(process, info.si_signo);
	}
}

/* On standard error: what the program wrote to its standard output stays as it is. */
static void print_summary(char *reader, const struct string_list *files)
{
	char **arguments = grow(NULL, files->count + 3, sizeof(*arguments));
	pid_t process;

	arguments[0] = reader;
	arguments[1] = print_string("summary");
	memcpy(arguments + 2, files->items, files->count * sizeof(*arguments));
	arguments[files->count + 2] = NULL;
	process = fork();
	if (!process) {
		release_signals();
		/* Where it is closed, the summary is not for the program's output either. */
		if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
			_exit(EXIT_LAUNCHER);
		execv(reader, arguments);
		complain("'%s': %s", reader, strerror(errno));
		_exit(EXIT_LAUNCHER);
	}
	if (process < 0)
		complain("the summary cannot be made: %s", strerror(errno));
	else
		waitpid(process, NULL, 0);
}

/* As the program did; its core is the one that is of interest. */
static void __attribute__((noreturn)) end_as(int status)
{
	const struct rlimit no_core = {0, 0};
	sigset_t deadly;

	if (WIFEXITED(status))
		exit(WEXITSTATUS(status));
	setrlimit(RLIMIT_CORE, &no_core);
	signal(WTERMSIG(status), SIG_DFL);
	sigemptyset(&deadly);
	sigaddset(&deadly, WTERMSIG(status));
	kill(getpid(), WTERMSIG(status));
	sigprocmask(SIG_UNBLOCK, &deadly, NULL);
	exit(128 + WTERMSIG(status));
}

const char *summary_fork(const char *pattern)
{
	char *reader = reader_path();
	bool is_private = !pattern;
	struct string_list files;
	uint64_t start;
	sigset_t awaited;
	pid_t process;
	int status;

	if (is_private)
		pattern = trace_files_private();
	start = trace_files_now();
	awaited = hold_signals();
	process = fork();
	if (!process) {
		release_signals();
		return pattern;
	}
	if (process < 0) {
		complain("no process can be made: %s", strerror(errno));
		if (is_private)
			trace_files_remove(pattern);
		exit(EXIT_LAUNCHER);
	}
	status = wait_for(process, &awaited);
	files = trace_files_find(pattern, start);
	if (files.count)
		print_summary(reader, &files);
	else
		complain("nothing was traced: no call that is recorded was made");
	if (is_private)
		trace_files_remove(pattern);
	end_as(status);
}
