// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "code_module.h"

#include <errno.h>
#include <string.h>

/* The mapping that begins a file. */
struct image_head {
	uint64_t start;
	uint64_t end;
	dev_t device;
	ino_t inode;
};

/*
 * What the program headers of an image say: it is the module if it holds the address. They are in
 * the mapping that starts with the ELF header.
 */
static bool read_image(struct code_module *module, const struct image_head *head, uint64_t address)
{
	const ElfW(Ehdr) *header = (const void *)(uintptr_t)head->start;
	uint64_t first = UINT64_MAX, last = 0;
	const ElfW(Phdr) * segments;
	size_t i;

	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_phentsize != sizeof(*segments) || header->e_phoff > head->end - head->start ||
	    header->e_phnum * sizeof(*segments) > head->end - head->start - header->e_phoff)
		return false;
	segments = (const void *)(uintptr_t)(head->start + header->e_phoff);
	for (i = 0; i < header->e_phnum; i++) {
		if (segments[i].p_type != PT_LOAD)
			continue;
		if (segments[i].p_vaddr - segments[i].p_offset < first)
			first = segments[i].p_vaddr - segments[i].p_offset;
		if (segments[i].p_vaddr + segments[i].p_memsz > last)
			last = segments[i].p_vaddr + segments[i].p_memsz;
	}
	module->start = head->start;
	module->bias = head->start - first;
	module->end = module->bias + last;
	module->head_end = head->end;
	module->segments = segments;
	module->segment_count = header->e_phnum;
	return address < module->end;
}

/*
 * Of the mappings of the same file before the address, the last that begins the file is where its
 * image begins.
 */
static bool find(struct code_module *module, uint64_t address)
{
	struct memory_mapping *mapping = &module->mapping;
	struct image_head head = {.inode = 0};
	struct memory_map map;
	bool is_found = false;

	if (!memory_map_open(&map))
		return false;
	while (!is_found && memory_map_next(&map, mapping) && mapping->start <= address) {
		if (mapping->inode && mapping->offset == 0 && mapping->is_readable)
			head = (struct image_head){mapping->start, mapping->end, mapping->device,
						   mapping->inode};
		is_found = address < mapping->end;
	}
	memory_map_close(&map);
	return is_found && mapping->inode && head.inode == mapping->inode &&
	       head.device == mapping->device && read_image(module, &head, address);
}

bool code_module_find(struct code_module *module, uint64_t address)
{
	int saved_errno = errno;
	bool is_found = find(module, address);

	errno = saved_errno;
	return is_found;
}
