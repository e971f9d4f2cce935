/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The dynamic symbols of an ELF file, and the versions that it defines and needs. */
#ifndef IBVBUF_LAUNCHER_ELF_SYMBOLS_H
#define IBVBUF_LAUNCHER_ELF_SYMBOLS_H

#include "elf_file.h"

/**
 * struct elf_version - a version node
 * @name: its name
 * @file: the library it is needed of; NULL if it is defined here
 * @index: what symbols refer to it by
 * @weak: nobody minds if it is missing
 */
struct elf_version {
	const char *name;
	const char *file;
	uint16_t index;
	bool weak;
};

/**
 * struct elf_symbol - a dynamic symbol
 * @name: its name
 * @version: its version, or NULL
 * @defined: defined here, and not only referred to
 * @weak: a weak one
 */
struct elf_symbol {
	const char *name;
	const struct elf_version *version;
	bool defined;
	bool weak;
};

struct elf_symbols {
	const struct elf_file *elf;
	uint64_t table;
	size_t count;
	uint64_t version_indices;
	struct elf_version *versions;
	size_t version_count;
};

void elf_symbols_read(struct elf_symbols *symbols, const struct elf_file *elf);
/* False past the last, or if it is not wholly there; those that are not global are skipped. */
bool elf_symbol(const struct elf_symbols *symbols, size_t index, struct elf_symbol *symbol);

bool elf_has_versions(const struct elf_symbols *symbols);
bool elf_defines_version(const struct elf_symbols *symbols, const char *version);
/* A function or object of that name and version; of any version if NULL. */
bool elf_defines(const struct elf_symbols *symbols, const char *name, const char *version);
/* Whether the address of the symbol is needed when the file is loaded, and not at the first call.
 */
bool elf_needs_address_at_start(const struct elf_symbols *symbols, size_t index);

#endif
