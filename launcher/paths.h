/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBVBUF_LAUNCHER_PATHS_H
#define IBVBUF_LAUNCHER_PATHS_H

/* The same file by a path from the root; symbolic links stay, since $ORIGIN does not follow them.
 */
char *path_absolute(const char *path);
/* The folder that it is in, by its text. */
char *path_folder(const char *path);
/* What a symbolic link says; NULL if it is none. */
char *path_read_link(const char *path);

#endif
