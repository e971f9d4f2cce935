/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ibvbuf-run --check: what this machine offers, and how a program must be started on it. */
#ifndef IBVBUF_LAUNCHER_DOCTOR_H
#define IBVBUF_LAUNCHER_DOCTOR_H

#include "options.h"

/**
 * doctor - look, and print what was found
 * @options: the command line; its way is the one that the answer is for
 *
 * The exit status: 0 if the program would run when it is started that way, 1 if it would not. With
 * no program named, 0 if the shim can work here: its libraries and libibverbs are there.
 */
int doctor(const struct options *options);

#endif
