// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "elf_symbols.h"
#include "message.h"

#include <string.h>

/* More than any library has; a file that claims more is not believed. */
#define MAX_VERSIONS 4096

static bool is_wide(const struct elf_symbols *symbols)
{
	return symbols->elf->kind.elf_class == ELFCLASS64;
}

static bool copy_at(const struct elf_file *elf, uint64_t offset, void *to, size_t length)
{
	const void *from = elf_at(elf, offset, length);

	if (!from)
		return false;
	memcpy(to, from, length);
	return true;
}

static bool table_offset(const struct elf_file *elf, int64_t tag, uint64_t *offset)
{
	uint64_t address;

	return elf_dynamic_value(elf, tag, &address) && elf_address_to_offset(elf, address, offset);
}

static void add_version(struct elf_symbols *symbols, struct elf_version version)
{
	symbols->versions =
		grow(symbols->versions, symbols->version_count + 1, sizeof(*symbols->versions));
	symbols->versions[symbols->version_count++] = version;
}

/* The structures of versions are the same in both classes. */
static void read_definitions(struct elf_symbols *symbols)
{
	const struct elf_file *elf = symbols->elf;
	uint64_t offset;
	Elf64_Verdaux name;
	Elf64_Verdef definition;

	if (!table_offset(elf, DT_VERDEF, &offset))
		return;
	while (symbols->version_count < MAX_VERSIONS &&
	       copy_at(elf, offset, &definition, sizeof(definition))) {
		const char *string = NULL;

		if (copy_at(elf, offset + definition.vd_aux, &name, sizeof(name)))
			string = elf_string(elf, name.vda_name);
		/* The base definition is the file's own name. */
		if (string && !(definition.vd_flags & VER_FLG_BASE))
			add_version(symbols,
				    (struct elf_version){.name = string,
							 .index = definition.vd_ndx & 0x7fff});
		if (!definition.vd_next)
			break;
		offset += definition.vd_next;
	}
}

static void read_needs(struct elf_symbols *symbols)
{
	const struct elf_file *elf = symbols->elf;
	uint64_t offset, name_offset;
	Elf64_Vernaux name;
	Elf64_Verneed need;
	unsigned int files;

	if (!table_offset(elf, DT_VERNEED, &offset))
		return;
	for (files = 0; files < MAX_VERSIONS && copy_at(elf, offset, &need, sizeof(need));
	     files++) {
		const char *file = elf_string(elf, need.vn_file);

		name_offset = offset + need.vn_aux;
		while (symbols->version_count < MAX_VERSIONS &&
		       copy_at(elf, name_offset, &name, sizeof(name))) {
			const char *string = elf_string(elf, name.vna_name);

			if (file && string)
				add_version(symbols, (struct elf_version){
							     .name = string,
							     .file = file,
							     .index = name.vna_other & 0x7fff,
							     .weak = name.vna_flags & VER_FLG_WEAK,
						     });
			if (!name.vna_next)
				break;
			name_offset += name.vna_next;
		}
		if (!need.vn_next)
			break;
		offset += need.vn_next;
	}
}

/* Of the GNU hash table: one more than the last symbol in it; 0 if it is not to be understood. */
static size_t count_by_gnu_hash(const struct elf_symbols *symbols)
{
	uint32_t header[4], bucket, last = 0, link;
	uint64_t offset, buckets, chains, i;

	if (!table_offset(symbols->elf, DT_GNU_HASH, &offset) ||
	    !copy_at(symbols->elf, offset, header, sizeof(header)))
		return 0;
	buckets = offset + sizeof(header) + (uint64_t)header[2] * (is_wide(symbols) ? 8 : 4);
	chains = buckets + (uint64_t)header[0] * 4;
	for (i = 0; i < header[0]; i++) {
		if (!copy_at(symbols->elf, buckets + i * 4, &bucket, sizeof(bucket)))
			return 0;
		if (bucket > last)
			last = bucket;
	}
	if (last < header[1])
		return header[1];
	do {
		if (!copy_at(symbols->elf, chains + (uint64_t)(last - header[1]) * 4, &link,
			     sizeof(link)))
			return 0;
		last++;
	} while (!(link & 1) && last);
	return last;
}

/* The table of symbols does not say how long it is: others that refer to it do. */
static size_t count_symbols(const struct elf_symbols *symbols)
{
	const size_t symbol_size = is_wide(symbols) ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	size_t most = (symbols->elf->size - symbols->table) / symbol_size;
	Elf64_Shdr section;
	uint64_t offset;
	uint32_t hash[2];
	size_t count, i;

	if (table_offset(symbols->elf, DT_HASH, &offset) &&
	    copy_at(symbols->elf, offset, hash, sizeof(hash)) && hash[1])
		return hash[1] < most ? hash[1] : most;
	for (i = 0; elf_section(symbols->elf, i, &section); i++) {
		if (section.sh_type == SHT_DYNSYM && section.sh_offset == symbols->table)
			return section.sh_size / symbol_size < most ? section.sh_size / symbol_size
								    : most;
	}
	count = count_by_gnu_hash(symbols);
	return count < most ? count : most;
}

void elf_symbols_read(struct elf_symbols *symbols, const struct elf_file *elf)
{
	memset(symbols, 0, sizeof(*symbols));
	symbols->elf = elf;
	read_definitions(symbols);
	read_needs(symbols);
	if (!table_offset(elf, DT_SYMTAB, &symbols->table) || symbols->table >= elf->size)
		return;
	symbols->count = count_symbols(symbols);
	if (!table_offset(elf, DT_VERSYM, &symbols->version_indices))
		symbols->version_indices = 0;
}

static const struct elf_version *symbol_version(const struct elf_symbols *symbols, size_t index)
{
	uint16_t version;
	size_t i;

	if (!symbols->version_indices ||
	    !copy_at(symbols->elf, symbols->version_indices + index * 2, &version, sizeof(version)))
		return NULL;
	version &= 0x7fff;
	if (version <= VER_NDX_GLOBAL)
		return NULL;
	for (i = 0; i < symbols->version_count; i++) {
		if (symbols->versions[i].index == version)
			return &symbols->versions[i];
	}
	return NULL;
}

bool elf_symbol(const struct elf_symbols *symbols, size_t index, struct elf_symbol *symbol)
{
	unsigned char info;
	uint16_t section;
	uint32_t name;

	memset(symbol, 0, sizeof(*symbol));
	if (index >= symbols->count)
		return false;
	if (is_wide(symbols)) {
		Elf64_Sym wide;

		if (!copy_at(symbols->elf, symbols->table + index * sizeof(wide), &wide,
			     sizeof(wide)))
			return false;
		info = wide.st_info;
		section = wide.st_shndx;
		name = wide.st_name;
	} else {
		Elf32_Sym narrow;

		if (!copy_at(symbols->elf, symbols->table + index * sizeof(narrow), &narrow,
			     sizeof(narrow)))
			return false;
		info = narrow.st_info;
		section = narrow.st_shndx;
		name = narrow.st_name;
	}
	symbol->name = elf_string(symbols->elf, name);
	if (!symbol->name || ELF64_ST_BIND(info) == STB_LOCAL) {
		symbol->name = "";
		return true;
	}
	/* The names of version nodes are symbols too, of no section. */
	symbol->defined = section != SHN_UNDEF && section != SHN_ABS;
	symbol->weak = ELF64_ST_BIND(info) == STB_WEAK;
	symbol->version = symbol_version(symbols, index);
	return true;
}

bool elf_has_versions(const struct elf_symbols *symbols)
{
	size_t i;

	for (i = 0; i < symbols->version_count; i++) {
		if (!symbols->versions[i].file)
			return true;
	}
	return false;
}

bool elf_defines_version(const struct elf_symbols *symbols, const char *version)
{
	size_t i;

	for (i = 0; i < symbols->version_count; i++) {
		if (!symbols->versions[i].file && !strcmp(symbols->versions[i].name, version))
			return true;
	}
	return false;
}

bool elf_defines(const struct elf_symbols *symbols, const char *name, const char *version)
{
	struct elf_symbol symbol;
	size_t i;

	for (i = 1; elf_symbol(symbols, i, &symbol); i++) {
		if (!symbol.defined || strcmp(symbol.name, name) != 0)
			continue;
		/* A definition without a version serves every reference. */
		if (!version || !symbol.version || !strcmp(symbol.version->name, version))
			return true;
	}
	return false;
}

bool elf_needs_address_at_start(const struct elf_symbols *symbols, size_t index)
{
	const struct elf_file *elf = symbols->elf;
	uint64_t offset, size, i;
	Elf64_Rela relocation;

	if (!is_wide(symbols) || !table_offset(elf, DT_RELA, &offset) ||
	    !elf_dynamic_value(elf, DT_RELASZ, &size))
		return false;
	for (i = 0; i < size / sizeof(relocation); i++) {
		if (!copy_at(elf, offset + i * sizeof(relocation), &relocation, sizeof(relocation)))
			return false;
		if (ELF64_R_SYM(relocation.r_info) == index)
			return true;
	}
	return false;
}
