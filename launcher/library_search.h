/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Where the dynamic linker looks for a library, and the libibverbs that it would find. */
#ifndef IBVBUF_LAUNCHER_LIBRARY_SEARCH_H
#define IBVBUF_LAUNCHER_LIBRARY_SEARCH_H

#include "elf_file.h"

#define VERBS_SONAME "libibverbs.so.1"
/* What the drop-in calls the library behind it. */
#define REAL_SONAME "libibverbs-real.so.1"

/**
 * struct search - what to look for
 * @name: a file's name, without a slash
 * @kind: what it must be
 * @origin: what $ORIGIN stands for, or NULL
 * @accept: called with each file of that name and kind: what to take for it, or NULL to go on
 */
struct search {
	const char *name;
	const struct elf_kind *kind;
	const char *origin;
	char *(*accept)(const char *path);
};

/* Each answers with what accept() did, or NULL. `list` is one as in LD_LIBRARY_PATH or RUNPATH. */
char *search_list(const struct search *search, const char *list);
char *search_cache(const struct search *search);
char *search_default_folders(const struct search *search);

/* The object made by this project, known by what it needs. */
bool is_drop_in(const struct elf_file *elf);

/**
 * find_real_library - the libibverbs that a program would load by itself
 * @program: the program, or NULL
 * @library_path: LD_LIBRARY_PATH, or NULL
 *
 * Never the drop-in: for one that is found, what lies behind it. An absolute path, or NULL.
 */
char *find_real_library(const struct elf_file *program, const char *library_path);

/* A file or a folder that the user named. Ends the process if it will not do. */
char *check_real_library(const char *path);

#endif
