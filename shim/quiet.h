/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBVBUF_QUIET_H
#define IBVBUF_QUIET_H

#include <signal.h>
#include <stdbool.h>

/**
 * struct quiet - a stretch in which writing raises no signal in the program
 * @before: the thread's mask
 * @raised: the signals that are kept from the program
 * @is_on: whether the mask could be changed
 */
struct quiet {
	sigset_t before;
	sigset_t raised;
	bool is_on;
};

/**
 * quiet_begin - keep SIGPIPE, SIGXFSZ and SIGTTOU from the calling thread
 *
 * For a pipe without a reader, a file at the limit of its size, and a terminal that stops who
 * writes to it in the background. False if it cannot be done; then nothing should be written. Safe
 * in a signal handler.
 */
bool quiet_begin(struct quiet *quiet);

/* Takes what was raised since away, and nothing that had been there before. Preserves errno. */
void quiet_end(struct quiet *quiet);

#endif
