/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The dynamic linker's own list of libraries, /etc/ld.so.cache. */
#ifndef IBVBUF_LAUNCHER_LOADER_CACHE_H
#define IBVBUF_LAUNCHER_LOADER_CACHE_H

#include <stdbool.h>

#include "string_list.h"

/**
 * loader_cache_find - the paths that the cache has for a library
 * @name: its SONAME
 *
 * Of every kind of ELF file, in the order in which the dynamic linker prefers them on this
 * processor. None if there is no cache, or it is not to be understood.
 */
struct string_list loader_cache_find(const char *name);

/* The names of the folders for this processor's better features, best first; ends with NULL. */
extern const char *const hwcap_names[];
bool hwcap_is_supported(const char *name);

#endif
