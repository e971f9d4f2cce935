/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Where this project's own libraries are: beside the launcher, or where IBVBUF_LIBDIR says. */
#ifndef IBVBUF_LAUNCHER_SHIM_FILES_H
#define IBVBUF_LAUNCHER_SHIM_FILES_H

/* The folder, whether or not the files are in it. Ends the process if it cannot be told. */
const char *shim_folder(void);
/* The paths of the two libraries. */
char *shim_drop_in(void);
char *shim_plain(void);

#endif
