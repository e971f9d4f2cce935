// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The program is to notice little of having another parent: what is sent to the launcher reaches
 * it, when it stops the launcher stops, and how it ends is how the launcher ends.
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
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define READER "ibvbuf-trace"

/* How this process came to handle signals. */
static sigset_t mask_before;
static struct sigaction child_before;

/* In the folder of this program, where it is built and where it is installed. */
static char *reader_path(void)
{
	char *launcher = path_read_link("/proc/self/exe");
	char *reader;

	if (!launcher)
		fail("/proc/self/exe: %s; --summary needs /proc", strerror(errno));
	reader = print_string("%s/" READER, path_folder(launcher));
	if (access(reader, X_OK))
		fail("'%s': %s; --summary needs it: install ibvbuf-preload again", reader,
		     strerror(errno));
	return reader;
}

/* From here on, signals wait until they are asked for; so SIGPIPE ends nothing when nobody reads
 * what is told, and the private folder goes. */
static void hold_signals(void)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};
	sigset_t every;

	sigfillset(&every);
	sigprocmask(SIG_SETMASK, &every, &mask_before);
	/* Where it is ignored, nobody learns how a child ended. */
	sigaction(SIGCHLD, &usual, &child_before);
}

static void release_signals(void)
{
	sigaction(SIGCHLD, &child_before, NULL);
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

/* What came for a program that has ended. */
static void forget_signals(void)
{
	const struct timespec no_time = {0};
	sigset_t every;

	sigfillset(&every);
	while (sigtimedwait(&every, NULL, &no_time) > 0)
		;
}

/* The terminal sends these to a whole group of processes, of which the program is, too. Others that
 * come from the kernel are for the launcher alone: timers from before it was started, and SIGHUP
 * for the leader of a session. */
static bool came_to_both(const siginfo_t *info)
{
	if (info->si_code != SI_KERNEL)
		return false;
	switch (info->si_signo) {
	case SIGINT:
	case SIGQUIT:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGWINCH:
		return true;
	default:
		return false;
	}
}

/* How it ended, as waitpid() tells. */
static int wait_for(pid_t process)
{
	sigset_t every;
	siginfo_t info;
	int status;

	sigfillset(&every);
	for (;;) {
		if (waitpid(process, &status, WNOHANG | WUNTRACED) == process) {
			if (!WIFSTOPPED(status))
				return status;
			/* For a shell to see. What continues this process is a SIGCONT, which
			 * waits to be passed on. */
			kill(getpid(), SIGSTOP);
		} else if (sigwaitinfo(&every, &info) > 0 && info.si_signo != SIGCHLD &&
			   !came_to_both(&info)) {
			kill(process, info.si_signo);
		}
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
	forget_signals();
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
		wait_for(process);
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

/* What ends the launcher and cannot be passed on ends the program as well: SIGKILL. */
static void end_with(pid_t launcher)
{
	pid_t parent;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* It may have ended before that; but 0 is a parent outside of a new PID namespace. */
	parent = getppid();
	if (parent && parent != launcher)
		raise(SIGKILL);
}

const char *summary_fork(const char *pattern)
{
	char *reader = reader_path();
	bool is_private = !pattern;
	struct string_list files;
	const pid_t launcher = getpid();
	uint64_t start;
	pid_t process;
	int status;

	hold_signals();
	if (is_private)
		pattern = trace_files_private();
	start = trace_files_now();
	process = fork();
	if (!process) {
		end_with(launcher);
		release_signals();
		return pattern;
	}
	if (process < 0) {
		complain("no process can be made: %s", strerror(errno));
		if (is_private)
			trace_files_remove(pattern);
		exit(EXIT_LAUNCHER);
	}
	status = wait_for(process);
	files = trace_files_find(pattern, start);
	if (files.count)
		print_summary(reader, &files);
	else
		complain("nothing was traced: no call that is recorded was made");
	if (is_private)
		trace_files_remove(pattern);
	end_as(status);
}
