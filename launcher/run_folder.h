/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Folders of symbolic links, which put the drop-in and the library behind it side by side without
 * touching either. They are kept, and used again by the next start with the same files.
 */
#ifndef IBVBUF_LAUNCHER_RUN_FOLDER_H
#define IBVBUF_LAUNCHER_RUN_FOLDER_H

#include <stddef.h>

/**
 * struct run_link - a symbolic link to be in the folder
 * @name: of the link
 * @target: an absolute path
 */
struct run_link {
	const char *name;
	const char *target;
};

/**
 * run_folder_make - a folder with just these links
 * @links: the links
 * @count: their number
 * @forbidden: characters that its path must not have
 * @problem: why there is none
 *
 * It is in a place that nobody but the user (and root) can write, or change the way to: the user's
 * runtime folder, cache, or a folder of the user's own in /tmp. Any number of processes may ask for
 * the same folder at a time. Its path, or NULL.
 */
char *run_folder_make(const struct run_link *links, size_t count, const char *forbidden,
		      char **problem);

#endif
