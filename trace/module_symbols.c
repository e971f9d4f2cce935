// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "module_symbols.h"
#include "../launcher/elf_file.h"
#include "../launcher/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct function {
	uint64_t start;
	uint64_t size;
	char *name;
};

struct module_symbols {
	struct function *functions;
	size_t count;
};

/* The note's description, if the notes at that place of the file hold a build-id. */
static const unsigned char *find_build_id(const struct elf_file *elf, uint64_t offset,
					  uint64_t length, uint64_t alignment, size_t *id_length)
{
	const unsigned char *notes = elf_at(elf, offset, length);
	uint64_t name_length, place = 0;
	Elf64_Nhdr note;

	if (!notes)
		return NULL;
	if (alignment != 8)
		alignment = 4;
	while (length - place >= sizeof(note)) {
		memcpy(&note, notes + place, sizeof(note));
		place += sizeof(note);
		name_length = (note.n_namesz + alignment - 1) & -alignment;
		if (name_length > length - place || note.n_descsz > length - place - name_length)
			return NULL;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(notes + place, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU))) {
			*id_length = note.n_descsz;
			return notes + place + name_length;
		}
		place += name_length + ((note.n_descsz + alignment - 1) & -alignment);
		if (place > length)
			return NULL;
	}
	return NULL;
}

/* What is recorded of it is cut to its first bytes. */
static bool has_build_id(const struct elf_file *elf, const uint8_t *build_id, size_t length)
{
	const unsigned char *id;
	Elf64_Phdr segment;
	size_t i, id_length;

	for (i = 0; elf_segment(elf, i, &segment); i++) {
		if (segment.p_type != PT_NOTE)
			continue;
		id = find_build_id(elf, segment.p_offset, segment.p_filesz, segment.p_align,
				   &id_length);
		if (id)
			return id_length >= length && !memcmp(id, build_id, length);
	}
	return false;
}

static void add_function(struct module_symbols *symbols, const Elf64_Sym *symbol, const char *name)
{
	struct function *function;

	/* in steps: a power of two is full */
	if (!(symbols->count & (symbols->count - 1)))
		symbols->functions = grow(symbols->functions,
					  symbols->count ? 2 * symbols->count : 1,
					  sizeof(*symbols->functions));
	function = &symbols->functions[symbols->count++];
	function->start = symbol->st_value;
	function->size = symbol->st_size;
	function->name = print_string("%s", name);
}

static void read_table(struct module_symbols *symbols, const struct elf_file *elf,
		       const Elf64_Shdr *table, const Elf64_Shdr *strings)
{
	const char *text = elf_at(elf, strings->sh_offset, strings->sh_size);
	const unsigned char *bytes = elf_at(elf, table->sh_offset, table->sh_size);
	Elf64_Sym symbol;
	uint64_t i;

	if (!text || !bytes)
		return;
	for (i = 0; i < table->sh_size / sizeof(symbol); i++) {
		memcpy(&symbol, bytes + i * sizeof(symbol), sizeof(symbol));
		if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
		    symbol.st_name < strings->sh_size && text[symbol.st_name] &&
		    memchr(text + symbol.st_name, '\0', strings->sh_size - symbol.st_name))
			add_function(symbols, &symbol, text + symbol.st_name);
	}
}

static void read_tables(struct module_symbols *symbols, const struct elf_file *elf, uint32_t type)
{
	Elf64_Shdr table, strings;
	size_t i;

	for (i = 0; elf_section(elf, i, &table); i++) {
		if (table.sh_type == type && elf_section(elf, table.sh_link, &strings) &&
		    strings.sh_type == SHT_STRTAB)
			read_table(symbols, elf, &table, &strings);
	}
}

/* By address; of those at the same address, the larger one is the last. */
static int compare(const void *one, const void *other)
{
	const struct function *first = one, *second = other;

	if (first->start != second->start)
		return first->start < second->start ? -1 : 1;
	if (first->size != second->size)
		return first->size < second->size ? -1 : 1;
	return strcmp(second->name, first->name);
}

/* Files of traces may be as many as a process can have open. */
static void complain_of_limit(int error)
{
	static bool complained;

	if (complained || (error != EMFILE && error != ENFILE))
		return;
	complained = true;
	complain("some functions are not named, for their modules cannot be opened: %s",
		 strerror(error));
}

struct module_symbols *module_symbols_open(const char *path, const uint8_t *build_id,
					   size_t build_id_length)
{
	struct module_symbols *symbols;
	struct elf_file elf;
	int error;

	/* Of a path that was too long its end is recorded. */
	if (path[0] != '/' || !build_id_length)
		return NULL;
	error = elf_open(&elf, path);
	if (error) {
		complain_of_limit(error);
		return NULL;
	}
	symbols = grow(NULL, 1, sizeof(*symbols));
	memset(symbols, 0, sizeof(*symbols));
	if (elf.kind.elf_class == ELFCLASS64 && has_build_id(&elf, build_id, build_id_length)) {
		read_tables(symbols, &elf, SHT_SYMTAB);
		if (!symbols->count)
			read_tables(symbols, &elf, SHT_DYNSYM);
	}
	elf_close(&elf);
	if (symbols->count)
		qsort(symbols->functions, symbols->count, sizeof(*symbols->functions), compare);
	return symbols;
}

void module_symbols_free(struct module_symbols *symbols)
{
	size_t i;

	if (!symbols)
		return;
	for (i = 0; i < symbols->count; i++)
		free(symbols->functions[i].name);
	free(symbols->functions);
	free(symbols);
}

bool module_symbols_find(const struct module_symbols *symbols, uint64_t address, const char **name,
			 uint64_t *offset)
{
	const struct function *function;
	size_t low = 0, high = symbols->count, middle;

	/* how many begin at or before the address */
	while (low < high) {
		middle = low + (high - low) / 2;
		if (symbols->functions[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	function = &symbols->functions[low - 1];
	*offset = address - function->start;
	/* What was written in assembler may have no size. */
	if (function->size && *offset >= function->size)
		return false;
	*name = function->name;
	return true;
}
