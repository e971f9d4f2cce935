/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBVBUF_MAPPING_H
#define IBVBUF_MAPPING_H

/**
 * mapping_duplicate_file - a new descriptor of the file that is mapped at an address
 *
 * Close-on-exec and at least 3; the caller's to close. -1 with ENODATA if no file is mapped there,
 * or this process holds no descriptor of it; else with the errno of reading /proc or of the
 * duplication.
 */
int mapping_duplicate_file(const void *address);

#endif
