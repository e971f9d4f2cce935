/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBVBUF_LAUNCHER_EXEC_PROBE_H
#define IBVBUF_LAUNCHER_EXEC_PROBE_H

/**
 * exec_probe - whether the kernel would execute a file
 * @path: a program
 *
 * 0, or the errno that execve(2) fails with; ENOEXEC also for a file that the kernel begins to load
 * and cannot. No instruction of the program is run. 0 as well where it cannot be tried.
 */
int exec_probe(const char *path);

#endif
