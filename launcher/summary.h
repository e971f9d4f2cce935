/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* --summary: this process waits for the program, and tells what it traced. */
#ifndef IBVBUF_LAUNCHER_SUMMARY_H
#define IBVBUF_LAUNCHER_SUMMARY_H

/**
 * summary_fork - the program gets a process of its own
 * @pattern: of its trace files, from the root; NULL for a folder that goes afterwards
 *
 * Returns the pattern in that process, where the program is to be started with it. The other one
 * waits, passes signals on, stops when the program does, prints the summary to standard error, and
 * ends as the program did.
 */
const char *summary_fork(const char *pattern);

#endif
