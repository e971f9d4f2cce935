/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The functions of a program or library, by their addresses. */
#ifndef IBVBUF_TRACE_MODULE_SYMBOLS_H
#define IBVBUF_TRACE_MODULE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module_symbols;

/*
 * NULL if there is no such file, or another one by its build-id; one without a build-id is not
 * known to be the same, so that nothing is said of it either. The names are those of .symtab or,
 * where that was stripped, of .dynsym.
 */
struct module_symbols *module_symbols_open(const char *path, const uint8_t *build_id,
					   size_t build_id_length);
void module_symbols_free(struct module_symbols *symbols);

/* The function that the address of the file is in; false if it is in none. */
bool module_symbols_find(const struct module_symbols *symbols, uint64_t address, const char **name,
			 uint64_t *offset);

#endif
