/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the dynamic linker would do with a program: which files it would load, and whether it would
 * then let the program start. Nothing is loaded to find out.
 */
#ifndef IBVBUF_LAUNCHER_LOADER_MODEL_H
#define IBVBUF_LAUNCHER_LOADER_MODEL_H

#include "elf_symbols.h"
#include "string_list.h"

/**
 * struct loaded - a file that would be loaded
 * @path: where it was found
 * @names: what it was asked for by, and its SONAME
 * @elf, @symbols: its contents
 * @loader: the object that needs it; NULL for the program and what is preloaded
 * @at_run_time: not at the start, but when libibverbs is opened
 */
struct loaded {
	char *path;
	struct string_list names;
	struct elf_file elf;
	struct elf_symbols symbols;
	const struct loaded *loader;
	bool at_run_time;
};

/**
 * struct loader_model - the answer
 * @objects: in the order in which they are searched; the program is the first
 * @verbs: what "libibverbs.so.1" is to the program; NULL if it never asks
 * @opener: the object that opens it at run time, if none needs it
 * @failure: why the program does not start, in the loader's words; or NULL
 * @late_failure: what ends it when it comes to call that; or NULL
 */
struct loader_model {
	struct loaded **objects;
	size_t count;
	const struct loaded *verbs;
	const struct loaded *opener;
	char *failure;
	char *late_failure;
	const struct elf_kind *kind;
	const char *library_path;
};

/* `library_path` and `preload` are LD_LIBRARY_PATH and LD_PRELOAD, or NULL. */
void loader_model_run(struct loader_model *model, const struct elf_file *program,
		      const char *library_path, const char *preload);

#endif
