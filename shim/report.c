// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* By syscall(), as in raw_file.c: nothing here is a cancellation point. */
#define _GNU_SOURCE
#include "report.h"
#include "config.h"
#include "originals.h"
#include "quiet.h"
#include "raw_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#ifndef IBVBUF_VERSION
#error "IBVBUF_VERSION comes from the Makefile"
#endif

/* Major numbers of the ends of pseudoterminals that are terminals. */
#define PSEUDOTERMINALS	     136
#define PSEUDOTERMINALS_LAST 143

/* "before VALUE after", for what is said at a level of diagnostics, and whether once. */
static const struct {
	enum diagnostics level;
	bool is_repeated;
	const char *before;
	const char *after;
} problems[PROBLEM_COUNT] = {
	[PROBLEM_FREE_OF_FREED] = {DIAGNOSTICS_MISUSE, false, "ibv_free_buf: buffer handle ",
				   " was freed before; ignored"},
	[PROBLEM_FREE_OF_FOREIGN] = {DIAGNOSTICS_MISUSE, false, "ibv_free_buf: buffer handle ",
				     " was never given out; ignored"},
	[PROBLEM_REGISTER_OF_FREED] = {DIAGNOSTICS_MISUSE, false,
				       "ibv_reg_mr_ex or ibv_reg_buf_mr: buffer handle ",
				       " was freed before; EINVAL"},
	[PROBLEM_REGISTER_OF_FOREIGN] = {DIAGNOSTICS_MISUSE, false,
					 "ibv_reg_mr_ex or ibv_reg_buf_mr: buffer handle ",
					 " was never given out; EINVAL"},
	[PROBLEM_EXPORT_OF_FREED] = {DIAGNOSTICS_MISUSE, false,
				     "ibv_export_buf_dmabuf_fd: buffer handle ",
				     " was freed before; EINVAL"},
	[PROBLEM_EXPORT_OF_FOREIGN] = {DIAGNOSTICS_MISUSE, false,
				       "ibv_export_buf_dmabuf_fd: buffer handle ",
				       " was never given out; EINVAL"},
	[PROBLEM_DEALLOC_WITH_BUFFERS] = {DIAGNOSTICS_MISUSE, false, "the protection domain at ",
					  " is deallocated while buffers of it live"},
	[PROBLEM_PROTECTED_MEMORY] = {DIAGNOSTICS_MISUSE, true, "registration of the memory at ",
				      ", which is protected in a confidential guest; EOPNOTSUPP"},
	[PROBLEM_UDMABUF_LIMIT] = {DIAGNOSTICS_MISUSE, false, "a udmabuf buffer of ",
				   " bytes is over the limit of the kernel; to raise it, write a "
				   "number of MiB to /sys/module/udmabuf/parameters/size_limit_mb"},
	[PROBLEM_NO_HUGE_PAGES] = {DIAGNOSTICS_MISUSE, false, "there are no huge pages for ",
				   " bytes; what is set aside of each size is in "
				   "/sys/kernel/mm/hugepages"},
	[PROBLEM_NO_DEVICE] = {DIAGNOSTICS_MISUSE, false, "no buffer can be made without ", NULL},
	[PROBLEM_PROVIDER_LEFT_ALONE] =
		{DIAGNOSTICS_VERBOSE, false,
		 "the ionic provider tells its devices by an operation that "
		 "would be exchanged for the opt-in to unprotected memory; "
		 "they are left alone",
		 NULL},
};

/* Whether a line can be written now; a pipe whose reader sleeps is not waited for. */
static bool is_writable(int fd)
{
	struct pollfd state = {.fd = fd, .events = POLLOUT};

	static const struct timespec now;

	return syscall(SYS_ppoll, &state, 1, &now, NULL, 0) == 1 && (state.revents & POLLOUT);
}

static bool is_socket(int fd)
{
	struct stat status;

	return !fstat(fd, &status) && S_ISSOCK(status.st_mode);
}

/* Of terminals, the kind that a program reads, and may stop reading. */
static bool is_pipe_or_pseudoterminal(const struct stat *status)
{
	return S_ISFIFO(status->st_mode) ||
	       (S_ISCHR(status->st_mode) && major(status->st_rdev) >= PSEUDOTERMINALS &&
		major(status->st_rdev) <= PSEUDOTERMINALS_LAST);
}

/*
 * Standard error, for writing without waiting: another writer may fill a pipe after there was room
 * in it, and a terminal may have room for less than a line. O_NONBLOCK belongs to what the program
 * shares with others, so the same is opened once more. Where it cannot be, it is the program's own.
 */
static int open_error(void)
{
	int flags = fcntl(STDERR_FILENO, F_GETFL);
	struct stat shared, opened;
	int fd;

	/* What is open for reading alone the kernel would open for writing, too. */
	if (flags == -1 || (flags & O_ACCMODE) == O_RDONLY || (flags & O_NONBLOCK) ||
	    fstat(STDERR_FILENO, &shared) || !is_pipe_or_pseudoterminal(&shared))
		return STDERR_FILENO;
	fd = raw_open("/proc/self/fd/2", O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0)
		return STDERR_FILENO;
	/* By now another thread may have put something else there. */
	if (!fstat(fd, &opened) && opened.st_dev == shared.st_dev && opened.st_ino == shared.st_ino)
		return fd;
	raw_close(fd);
	return STDERR_FILENO;
}

static void write_quietly(int fd, const struct text *text)
{
	bool to_socket = is_socket(fd);
	struct quiet quiet;
	long written;

	if (!quiet_begin(&quiet))
		return;
	do
		written = to_socket ? syscall(SYS_sendto, fd, text->bytes, text->length,
					      MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0)
				    : syscall(SYS_write, fd, text->bytes, text->length);
	while (written < 0 && errno == EINTR);
	quiet_end(&quiet);
}

void report_text(const struct text *text)
{
	const char *path = config_get()->diagnostics_file;
	int saved_errno = errno;
	int fd = -1;

	/* Opened for each line: no descriptor of ours is in the program's way. */
	if (*path)
		fd = raw_open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY, 0600);
	/* Better there than not at all, if the file cannot be had. */
	if (fd < 0)
		fd = open_error();
	if (is_writable(fd))
		write_quietly(fd, text);
	if (fd != STDERR_FILENO)
		raw_close(fd);
	errno = saved_errno;
}

/* Whether to say it, now and at this level. */
static bool is_said(enum problem problem)
{
	static bool said[PROBLEM_COUNT];

	if (config_get()->diagnostics < problems[problem].level)
		return false;
	return problems[problem].is_repeated ||
	       !__atomic_exchange_n(&said[problem], true, __ATOMIC_RELAXED);
}

static void begin(struct text *text, enum problem problem)
{
	text->length = 0;
	text_string(text, "ibvbuf-preload: ");
	text_string(text, problems[problem].before);
}

static void end(struct text *text, enum problem problem)
{
	if (!problems[problem].is_repeated)
		text_string(text, "; said once");
	text_end_line(text);
	report_text(text);
}

void report_no_device(const char *path, int error)
{
	struct text text;

	if (!is_said(PROBLEM_NO_DEVICE))
		return;
	begin(&text, PROBLEM_NO_DEVICE);
	text_string(&text, path);
	text_string(&text, ", which cannot be opened: ");
	text_string(&text, text_error_name(error));
	end(&text, PROBLEM_NO_DEVICE);
}

/* Whether the value is a number of bytes; else it is an address or a handle. */
static bool is_about_bytes(enum problem problem)
{
	return problem == PROBLEM_UDMABUF_LIMIT || problem == PROBLEM_NO_HUGE_PAGES;
}

void report_problem(enum problem problem, uint64_t value, const void *caller)
{
	struct text text;

	if (!is_said(problem))
		return;
	begin(&text, problem);
	if (problems[problem].after) {
		if (is_about_bytes(problem))
			text_decimal(&text, value);
		else
			text_hexadecimal(&text, value);
		text_string(&text, problems[problem].after);
	}
	if (caller) {
		text_string(&text, " (called from ");
		text_code_address(&text, caller);
		text_string(&text, ")");
	}
	end(&text, problem);
}

static void report_calls(void)
{
	static const struct {
		const char *name;
		enum original_id id;
	} calls[] = {
#define EXPORTED(name, node, release, result, parameters) {#name, ORIGINAL_##name},
#define OBSERVED(name, node, release, result, parameters)
#define CALLED(name, node, release, result, parameters)
#include "verbs_calls.def"
#undef EXPORTED
#undef OBSERVED
#undef CALLED
	};
	const char *library = original_library_path();
	struct text text = {.length = 0};
	bool native;
	size_t i;

	text_string(&text, "ibvbuf-preload " IBVBUF_VERSION ": ");
	text_string(&text, library ? library : "no libibverbs is loaded");
	for (native = false;; native = true) {
		text_string(&text, native ? "; native:" : ": supplied:");
		for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
			if ((original_address(calls[i].id) != NULL) == native) {
				text_string(&text, " ");
				text_string(&text, calls[i].name);
			}
		}
		if (native)
			break;
	}
	text_end_line(&text);
	report_text(&text);
}

void report_start(void)
{
	static const char rehearsal[] =
		"ibvbuf-preload: rehearsal of a confidential guest: every device reports "
		"CC_DMA_BOUNCE, and refuses memory that is not shared";
	struct text text = {.length = 0};

	if (config_get()->cc_rehearsal && config_get()->diagnostics != DIAGNOSTICS_OFF) {
		text_string(&text, rehearsal);
		text_end_line(&text);
		report_text(&text);
	}
	if (config_get()->diagnostics == DIAGNOSTICS_VERBOSE)
		report_calls();
}
