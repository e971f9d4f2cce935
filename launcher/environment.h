/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the dynamic linker is told, for each way to start a program. */
#ifndef IBVBUF_LAUNCHER_ENVIRONMENT_H
#define IBVBUF_LAUNCHER_ENVIRONMENT_H

#include <stdbool.h>

#include "elf_file.h"

/* WAY_ALONE is without this project; the doctor compares. */
enum way { WAY_ALONE, WAY_PLAIN, WAY_DROP_IN, WAY_PRELOAD, WAY_COUNT };

/**
 * struct environment - the variables
 * @library_path: LD_LIBRARY_PATH; NULL for none
 * @preload: LD_PRELOAD; NULL for none
 * @real: the library behind the drop-in; NULL if the way has none
 * @run_folder: where the links are; NULL if none were needed
 */
struct environment {
	char *library_path;
	char *preload;
	char *real;
	char *run_folder;
};

/**
 * environment_prepare - work out the variables, and make what they name
 * @environment: the result
 * @way: how the program is to be started
 * @real: the library that the user named, or NULL
 * @program: the program, or NULL if it is not known or no ELF file
 * @problem: why it cannot be done
 */
bool environment_prepare(struct environment *environment, enum way way, const char *real,
			 const struct elf_file *program, char **problem);

#endif
