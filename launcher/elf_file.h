/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * An ELF file, read as it lies on disk, of either class. Nothing in it is believed: every offset is
 * held against the size of the file, and what does not fit is not there.
 */
#ifndef IBVBUF_LAUNCHER_ELF_FILE_H
#define IBVBUF_LAUNCHER_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct elf_kind - what two objects must have in common to be in one process
 * @elf_class: ELFCLASS32 or ELFCLASS64
 * @machine: EM_...
 */
struct elf_kind {
	unsigned char elf_class;
	uint16_t machine;
};

/**
 * struct elf_file - an open file
 * @path: as it was opened
 * @bytes: its contents
 * @size: their size
 * @kind: class and machine
 * @type: ET_...
 * @dynamic: offset of the dynamic section
 * @dynamic_count: entries of it, without the closing one; 0 if there is none
 */
struct elf_file {
	const char *path;
	const unsigned char *bytes;
	size_t size;
	struct elf_kind kind;
	uint16_t type;
	uint64_t segments;
	uint16_t segment_count, segment_size;
	uint64_t sections;
	uint16_t section_count, section_size;
	uint64_t dynamic;
	size_t dynamic_count;
	uint64_t strings, strings_size;
};

extern const struct elf_kind elf_kind_own;

bool elf_kind_equal(const struct elf_kind *one, const struct elf_kind *other);

/* 0; ENOEXEC if it is no ELF file of this byte order; or why it cannot be read. */
int elf_open(struct elf_file *elf, const char *path);
void elf_close(struct elf_file *elf);

/* `length` bytes at an offset of the file, or at an address of the process; NULL if not there. */
const void *elf_at(const struct elf_file *elf, uint64_t offset, uint64_t length);
bool elf_address_to_offset(const struct elf_file *elf, uint64_t address, uint64_t *offset);

/* Segments, sections and dynamic entries, as those of class 64. False past the last. */
bool elf_segment(const struct elf_file *elf, size_t index, Elf64_Phdr *segment);
bool elf_section(const struct elf_file *elf, size_t index, Elf64_Shdr *section);
bool elf_dynamic(const struct elf_file *elf, size_t index, Elf64_Dyn *entry);

/* The value of the first entry with that tag. */
bool elf_dynamic_value(const struct elf_file *elf, int64_t tag, uint64_t *value);
/* A string of the dynamic string table; NULL if it is not wholly there. */
const char *elf_string(const struct elf_file *elf, uint64_t offset);
/* DT_SONAME, DT_RPATH, DT_RUNPATH; NULL if absent. */
const char *elf_dynamic_string(const struct elf_file *elf, int64_t tag);
/* PT_INTERP; NULL if absent. */
/* Whether what the file says of itself lies in it: no part was cut off. */
bool elf_is_whole(const struct elf_file *elf);
const char *elf_interpreter(const struct elf_file *elf);
bool elf_needs(const struct elf_file *elf, const char *name);
bool elf_binds_now(const struct elf_file *elf);

#endif
