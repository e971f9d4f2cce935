// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a kernel executes is not written anywhere: it may lack the 32-bit calls, or a file may end
 * before its last segment. So it is asked. A traced process stops when its new program is loaded
 * and before anything of it runs; there it is killed.
 */
#define _GNU_SOURCE
#include "exec_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static void execute(const char *path, int report)
{
	char *arguments[] = {(char *)(size_t)path, NULL};
	sigset_t trap;
	int error = 0;

	/* What stops it is a SIGTRAP, which would wait where whoever started us had it blocked. */
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	sigprocmask(SIG_UNBLOCK, &trap, NULL);
	if (!ptrace(PTRACE_TRACEME, 0, NULL, NULL)) {
		execve(path, arguments, environ);
		error = errno;
	}
	if (write(report, &error, sizeof(error)) < 0)
		_exit(1);
	_exit(0);
}

int exec_probe(const char *path)
{
	int ends[2], error = 0, status = 0;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return 0;
	child = fork();
	if (child == 0)
		execute(path, ends[1]);
	close(ends[1]);
	if (child > 0) {
		/* Nothing comes where the program was loaded, or died of it. */
		if (read(ends[0], &error, sizeof(error)) != sizeof(error))
			error = 0;
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
		if (WIFSIGNALED(status))
			error = ENOEXEC;
		while (!WIFEXITED(status) && !WIFSIGNALED(status)) {
			kill(child, SIGKILL);
			if (waitpid(child, &status, 0) < 0 && errno != EINTR)
				break;
		}
	}
	close(ends[0]);
	return error;
}
