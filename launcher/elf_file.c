// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_ORDER ELFDATA2LSB
#else
#define OWN_ORDER ELFDATA2MSB
#endif

#if defined(__x86_64__) && defined(__LP64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__) && defined(__LP64__)
#define OWN_MACHINE EM_AARCH64
#else
#define OWN_MACHINE EM_NONE
#endif
_Static_assert(OWN_MACHINE != EM_NONE, "ibvbuf-run knows x86-64 and aarch64");

const struct elf_kind elf_kind_own = {ELFCLASS64, OWN_MACHINE};

bool elf_kind_equal(const struct elf_kind *one, const struct elf_kind *other)
{
	return one->elf_class == other->elf_class && one->machine == other->machine;
}

const void *elf_at(const struct elf_file *elf, uint64_t offset, uint64_t length)
{
	if (offset > elf->size || length > elf->size - offset)
		return NULL;
	return elf->bytes + offset;
}

/* By copy: nothing says that a structure in a file is aligned. */
static bool copy_at(const struct elf_file *elf, uint64_t offset, void *to, size_t length)
{
	const void *from = elf_at(elf, offset, length);

	if (!from)
		return false;
	memcpy(to, from, length);
	return true;
}

static bool is_wide(const struct elf_file *elf)
{
	return elf->kind.elf_class == ELFCLASS64;
}

/* Where entry `index` of a table is; false if that cannot be a place. */
static bool entry_offset(uint64_t table, size_t index, uint64_t entry_size, uint64_t *offset)
{
	return !__builtin_mul_overflow((uint64_t)index, entry_size, offset) &&
	       !__builtin_add_overflow(*offset, table, offset);
}

bool elf_segment(const struct elf_file *elf, size_t index, Elf64_Phdr *segment)
{
	Elf32_Phdr narrow;
	uint64_t offset;

	if (index >= elf->segment_count ||
	    !entry_offset(elf->segments, index, elf->segment_size, &offset))
		return false;
	if (is_wide(elf))
		return copy_at(elf, offset, segment, sizeof(*segment));
	if (!copy_at(elf, offset, &narrow, sizeof(narrow)))
		return false;
	*segment = (Elf64_Phdr){
		.p_type = narrow.p_type,
		.p_flags = narrow.p_flags,
		.p_offset = narrow.p_offset,
		.p_vaddr = narrow.p_vaddr,
		.p_filesz = narrow.p_filesz,
		.p_memsz = narrow.p_memsz,
	};
	return true;
}

bool elf_section(const struct elf_file *elf, size_t index, Elf64_Shdr *section)
{
	Elf32_Shdr narrow;
	uint64_t offset;

	if (index >= elf->section_count ||
	    !entry_offset(elf->sections, index, elf->section_size, &offset))
		return false;
	if (is_wide(elf))
		return copy_at(elf, offset, section, sizeof(*section));
	if (!copy_at(elf, offset, &narrow, sizeof(narrow)))
		return false;
	*section = (Elf64_Shdr){
		.sh_type = narrow.sh_type,
		.sh_offset = narrow.sh_offset,
		.sh_size = narrow.sh_size,
		.sh_entsize = narrow.sh_entsize,
	};
	return true;
}

static bool read_dynamic(const struct elf_file *elf, size_t index, Elf64_Dyn *entry)
{
	Elf32_Dyn narrow;
	uint64_t offset;

	if (!entry_offset(elf->dynamic, index, is_wide(elf) ? sizeof(*entry) : sizeof(narrow),
			  &offset))
		return false;
	if (is_wide(elf))
		return copy_at(elf, offset, entry, sizeof(*entry));
	if (!copy_at(elf, offset, &narrow, sizeof(narrow)))
		return false;
	entry->d_tag = narrow.d_tag;
	entry->d_un.d_val = narrow.d_un.d_val;
	return true;
}

bool elf_dynamic(const struct elf_file *elf, size_t index, Elf64_Dyn *entry)
{
	return index < elf->dynamic_count && read_dynamic(elf, index, entry);
}

bool elf_dynamic_value(const struct elf_file *elf, int64_t tag, uint64_t *value)
{
	Elf64_Dyn entry;
	size_t i;

	for (i = 0; elf_dynamic(elf, i, &entry); i++) {
		if (entry.d_tag == tag) {
			*value = entry.d_un.d_val;
			return true;
		}
	}
	return false;
}

bool elf_address_to_offset(const struct elf_file *elf, uint64_t address, uint64_t *offset)
{
	Elf64_Phdr segment;
	size_t i;

	for (i = 0; elf_segment(elf, i, &segment); i++) {
		if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
		    address - segment.p_vaddr < segment.p_filesz)
			return !__builtin_add_overflow(segment.p_offset, address - segment.p_vaddr,
						       offset);
	}
	return false;
}

const char *elf_string(const struct elf_file *elf, uint64_t offset)
{
	const char *string;

	if (offset >= elf->strings_size)
		return NULL;
	/* read_header() has seen that the table is in the file */
	string = (const char *)elf->bytes + elf->strings + offset;
	return memchr(string, '\0', elf->strings_size - offset) ? string : NULL;
}

const char *elf_dynamic_string(const struct elf_file *elf, int64_t tag)
{
	uint64_t offset;

	return elf_dynamic_value(elf, tag, &offset) ? elf_string(elf, offset) : NULL;
}

bool elf_is_whole(const struct elf_file *elf)
{
	Elf64_Phdr segment;
	size_t i;

	for (i = 0; i < elf->segment_count; i++) {
		if (!elf_segment(elf, i, &segment) ||
		    !elf_at(elf, segment.p_offset, segment.p_filesz))
			return false;
	}
	return true;
}

const char *elf_interpreter(const struct elf_file *elf)
{
	Elf64_Phdr segment;
	const char *path;
	size_t i;

	for (i = 0; elf_segment(elf, i, &segment); i++) {
		if (segment.p_type != PT_INTERP)
			continue;
		path = elf_at(elf, segment.p_offset, segment.p_filesz);
		return path && memchr(path, '\0', segment.p_filesz) ? path : NULL;
	}
	return NULL;
}

bool elf_needs(const struct elf_file *elf, const char *name)
{
	const char *needed;
	Elf64_Dyn entry;
	size_t i;

	for (i = 0; elf_dynamic(elf, i, &entry); i++) {
		if (entry.d_tag != DT_NEEDED)
			continue;
		needed = elf_string(elf, entry.d_un.d_val);
		if (needed && !strcmp(needed, name))
			return true;
	}
	return false;
}

bool elf_binds_now(const struct elf_file *elf)
{
	uint64_t value;

	return elf_dynamic_value(elf, DT_BIND_NOW, &value) ||
	       (elf_dynamic_value(elf, DT_FLAGS, &value) && value & DF_BIND_NOW) ||
	       (elf_dynamic_value(elf, DT_FLAGS_1, &value) && value & DF_1_NOW);
}

static bool read_header(struct elf_file *elf)
{
	const unsigned char *ident = elf_at(elf, 0, EI_NIDENT);
	Elf64_Ehdr wide;
	Elf32_Ehdr narrow;

	if (!ident || memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_DATA] != OWN_ORDER)
		return false;
	elf->kind.elf_class = ident[EI_CLASS];
	if (ident[EI_CLASS] == ELFCLASS64 && copy_at(elf, 0, &wide, sizeof(wide))) {
		elf->type = wide.e_type;
		elf->kind.machine = wide.e_machine;
		elf->segments = wide.e_phoff;
		elf->segment_count = wide.e_phnum;
		elf->segment_size = wide.e_phentsize;
		elf->sections = wide.e_shoff;
		elf->section_count = wide.e_shnum;
		elf->section_size = wide.e_shentsize;
		return true;
	}
	if (ident[EI_CLASS] == ELFCLASS32 && copy_at(elf, 0, &narrow, sizeof(narrow))) {
		elf->type = narrow.e_type;
		elf->kind.machine = narrow.e_machine;
		elf->segments = narrow.e_phoff;
		elf->segment_count = narrow.e_phnum;
		elf->segment_size = narrow.e_phentsize;
		elf->sections = narrow.e_shoff;
		elf->section_count = narrow.e_shnum;
		elf->section_size = narrow.e_shentsize;
		return true;
	}
	return false;
}

static void find_dynamic(struct elf_file *elf)
{
	uint64_t address, offset, size, capacity;
	Elf64_Phdr segment;
	Elf64_Dyn entry;
	size_t i;

	for (i = 0; elf_segment(elf, i, &segment); i++) {
		if (segment.p_type != PT_DYNAMIC)
			continue;
		elf->dynamic = segment.p_offset;
		capacity =
			segment.p_filesz / (is_wide(elf) ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn));
		while (elf->dynamic_count < capacity &&
		       read_dynamic(elf, elf->dynamic_count, &entry) && entry.d_tag != DT_NULL)
			elf->dynamic_count++;
		break;
	}
	if (elf_dynamic_value(elf, DT_STRTAB, &address) &&
	    elf_dynamic_value(elf, DT_STRSZ, &size) &&
	    elf_address_to_offset(elf, address, &offset) && offset < elf->size) {
		elf->strings = offset;
		elf->strings_size = size < elf->size - offset ? size : elf->size - offset;
	}
}

int elf_open(struct elf_file *elf, const char *path)
{
	struct stat status;
	int fd, error = 0;
	void *bytes;

	memset(elf, 0, sizeof(*elf));
	elf->path = path;
	/* A FIFO must not make anybody wait for a writer. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return errno;
	if (fstat(fd, &status)) {
		error = errno;
		goto close;
	}
	if (!S_ISREG(status.st_mode) || status.st_size < EI_NIDENT) {
		error = S_ISDIR(status.st_mode) ? EISDIR : ENOEXEC;
		goto close;
	}
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED) {
		error = errno;
		goto close;
	}
	elf->bytes = bytes;
	elf->size = (size_t)status.st_size;
	if (read_header(elf)) {
		find_dynamic(elf);
	} else {
		elf_close(elf);
		error = ENOEXEC;
	}
close:
	close(fd);
	return error;
}

void elf_close(struct elf_file *elf)
{
	if (elf->bytes)
		munmap((void *)elf->bytes, elf->size);
	elf->bytes = NULL;
	elf->size = 0;
}
