/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The file that is executed in the end, when a program is named. */
#ifndef IBVBUF_LAUNCHER_PROGRAM_H
#define IBVBUF_LAUNCHER_PROGRAM_H

#include "elf_file.h"
#include "string_list.h"

/**
 * struct program - a program
 * @error: 0; ENOENT, EACCES, …: why it cannot be executed; ENOEXEC if the file is no program
 * @scripts: the scripts on the way to it, the one that was named first
 * @path: the file; what was looked for if it was not found
 * @elf: its contents, if @error is 0
 */
struct program {
	int error;
	struct string_list scripts;
	char *path;
	struct elf_file elf;
};

/* As execvp(3) finds it, which hands a text to /bin/sh; and then through "#!" lines, and what
 * env(1) is told there. */
void program_find(struct program *program, const char *name);

#endif
