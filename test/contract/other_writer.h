/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef CONTRACT_OTHER_WRITER_H
#define CONTRACT_OTHER_WRITER_H

/* Make it as full as it can be. */
void fill(int fd);

/* From now on, standard error had room when the shim asked, and is full when the shim writes. */
void fill_before_each_write(void);

#endif
