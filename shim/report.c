// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "report.h"
#include "config.h"
#include "originals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#ifndef IBVBUF_VERSION
#error "IBVBUF_VERSION comes from the Makefile"
#endif

static const struct {
	const char *call;
	const char *fault;
} misuses[MISUSE_COUNT] = {
	[MISUSE_FREE_OF_FREED] = {"ibv_free_buf", "was freed before; ignored"},
	[MISUSE_FREE_OF_FOREIGN] = {"ibv_free_buf", "was never given out; ignored"},
	[MISUSE_REGISTER_OF_FREED] = {"ibv_reg_mr_ex or ibv_reg_buf_mr",
				      "was freed before; EINVAL"},
	[MISUSE_REGISTER_OF_FOREIGN] = {"ibv_reg_mr_ex or ibv_reg_buf_mr",
					"was never given out; EINVAL"},
	[MISUSE_EXPORT_OF_FREED] = {"ibv_export_buf_dmabuf_fd", "was freed before; EINVAL"},
	[MISUSE_EXPORT_OF_FOREIGN] = {"ibv_export_buf_dmabuf_fd", "was never given out; EINVAL"},
};

/* Whether a line can be written now; a pipe whose reader sleeps is not waited for. */
static bool is_writable(int fd)
{
	struct pollfd state = {.fd = fd, .events = POLLOUT};

	return poll(&state, 1, 0) == 1 && (state.revents & POLLOUT);
}

/*
 * Write, and keep from the program the signals that only this write raised: a pipe without a
 * reader, a file at the limit of its size.
 */
static void write_quietly(int fd, const struct text *text)
{
	static const struct timespec now;
	sigset_t raised, pending, before;

	sigemptyset(&raised);
	sigaddset(&raised, SIGPIPE);
	sigaddset(&raised, SIGXFSZ);
	if (pthread_sigmask(SIG_BLOCK, &raised, &before))
		return;
	/* One that waits already is the program's own. */
	sigpending(&pending);
	if (sigismember(&pending, SIGPIPE))
		sigdelset(&raised, SIGPIPE);
	if (sigismember(&pending, SIGXFSZ))
		sigdelset(&raised, SIGXFSZ);

	while (write(fd, text->bytes, text->length) < 0 && errno == EINTR)
		;
	while (sigtimedwait(&raised, NULL, &now) < 0 && errno == EINTR)
		;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void report_text(const struct text *text)
{
	const char *path = config_get()->diagnostics_file;
	int saved_errno = errno;
	int fd = STDERR_FILENO;

	/* Opened for each line: no descriptor of ours is in the program's way. */
	if (*path)
		fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
			  0600);
	if (fd >= 0 && is_writable(fd))
		write_quietly(fd, text);
	if (fd >= 0 && *path)
		close(fd);
	errno = saved_errno;
}

void report_misuse(enum misuse misuse, const void *handle, const void *caller)
{
	static bool said[MISUSE_COUNT];
	struct text text = {.length = 0};

	if (config_get()->diagnostics == DIAGNOSTICS_OFF)
		return;
	if (__atomic_exchange_n(&said[misuse], true, __ATOMIC_RELAXED))
		return;

	text_string(&text, "ibvbuf-preload: ");
	text_string(&text, misuses[misuse].call);
	text_string(&text, ": buffer handle ");
	text_hexadecimal(&text, (uintptr_t)handle);
	text_string(&text, " ");
	text_string(&text, misuses[misuse].fault);
	text_string(&text, " (called from ");
	text_code_address(&text, caller);
	text_string(&text, "; said once)\n");
	report_text(&text);
}

void report_calls(void)
{
	static const struct {
		const char *name;
		enum original_id id;
	} calls[] = {
#define EXPORTED(name, node, release, result, parameters) {#name, ORIGINAL_##name},
#define CALLED(name, node, release, result, parameters)
#include "verbs_calls.def"
#undef EXPORTED
#undef CALLED
	};
	struct text text = {.length = 0};
	const char *library;
	bool native;
	size_t i;

	if (config_get()->diagnostics != DIAGNOSTICS_VERBOSE)
		return;
	library = original_library_path();
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
	text_string(&text, "\n");
	report_text(&text);
}
