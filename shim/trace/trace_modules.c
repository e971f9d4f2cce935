// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A module is entered when it first calls, and stays: it may be gone when the file is read, or
 * another process may read it. A call from a place that is in no module, such as code made at run
 * time, enters nothing.
 *
 * The dynamic linker could tell, under a lock that a child may find held for ever by a thread that
 * it does not have. The kernel can tell as well.
 */
#define _GNU_SOURCE
#include "trace_modules.h"
#include "memory_map.h"
#include "trace_name.h"

#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The note that holds the build id, among those of a segment. */
static void read_notes(struct ibvbuf_trace_module *module, const char *notes, size_t length)
{
	static const char owner[] = "GNU";
	size_t at = 0;

	while (length - at >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const void *)(notes + at);
		size_t name = at + sizeof(*note);
		size_t content = name + ((note->n_namesz + (size_t)3) & ~(size_t)3);
		size_t end = content + ((note->n_descsz + (size_t)3) & ~(size_t)3);

		if (end > length)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof(owner) &&
		    !memcmp(notes + name, owner, sizeof(owner))) {
			module->build_id_length = note->n_descsz < sizeof(module->build_id)
							  ? note->n_descsz
							  : sizeof(module->build_id);
			memcpy(module->build_id, notes + content, module->build_id_length);
			return;
		}
		at = end;
	}
}

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
static bool read_image(struct ibvbuf_trace_module *module, const struct image_head *head,
		       uint64_t address)
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
	if (address >= module->end)
		return false;
	for (i = 0; i < header->e_phnum && !module->build_id_length; i++) {
		uint64_t note = module->bias + segments[i].p_vaddr;

		/* Notes of 8 bytes' alignment are about properties. */
		if (segments[i].p_type == PT_NOTE && segments[i].p_align <= 4 &&
		    note >= head->start && note < head->end &&
		    segments[i].p_memsz <= head->end - note)
			read_notes(module, (const char *)(uintptr_t)note, segments[i].p_memsz);
	}
	return true;
}

/*
 * The module that holds an address: of the mappings of the same file before it, the last that
 * begins the file is where its image begins.
 */
static bool find_module(struct ibvbuf_trace_module *module, uint64_t address)
{
	struct image_head head = {.inode = 0};
	struct memory_mapping mapping;
	struct memory_map map;
	bool is_found = false;

	if (!memory_map_open(&map))
		return false;
	while (!is_found && memory_map_next(&map, &mapping) && mapping.start <= address) {
		if (mapping.inode && mapping.offset == 0 && mapping.is_readable)
			head = (struct image_head){mapping.start, mapping.end, mapping.device,
						   mapping.inode};
		is_found = address < mapping.end;
	}
	memory_map_close(&map);
	if (!is_found || !mapping.inode || head.inode != mapping.inode ||
	    head.device != mapping.device || !read_image(module, &head, address))
		return false;
	trace_name_copy(module->path, sizeof(module->path), mapping.path);
	return true;
}

static bool overlap(const struct ibvbuf_trace_module *one, const struct ibvbuf_trace_module *other)
{
	return one->start < other->end && other->start < one->end;
}

static bool is_same(const struct ibvbuf_trace_module *one, const struct ibvbuf_trace_module *other)
{
	return one->start == other->start && one->end == other->end &&
	       !strcmp(one->path, other->path);
}

/* The last one entered of those that were where this one is, or NULL. */
static const struct ibvbuf_trace_module *latest_at(const struct trace_file *file,
						   const struct ibvbuf_trace_module *module)
{
	const struct ibvbuf_trace_module *latest = NULL;
	uint32_t i;

	for (i = 0; i < file->header->module_capacity; i++)
		/* acquire: pairs with the release in enter() */
		if (__atomic_load_n(&file->modules[i].state, __ATOMIC_ACQUIRE) == 1 &&
		    overlap(&file->modules[i], module))
			latest = &file->modules[i];
	return latest;
}

/* Where another module was, places are no longer known. */
static void forget_places(struct trace_file *file)
{
	size_t i;

	for (i = 0; i < TRACE_KNOWN_PLACES; i++)
		__atomic_store_n(&file->known[i], 0, __ATOMIC_RELAXED);
}

static void enter(struct trace_file *file, const struct ibvbuf_trace_module *module)
{
	uint64_t expected;
	uint32_t i;

	for (i = 0; i < file->header->module_capacity; i++) {
		struct ibvbuf_trace_module *entry = &file->modules[i];

		expected = 0;
		/* Taken by 2, given to the reader by 1 */
		if (!__atomic_compare_exchange_n(&entry->state, &expected, 2, false,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			continue;
		memcpy((char *)entry + sizeof(entry->state),
		       (const char *)module + sizeof(entry->state),
		       sizeof(*entry) - sizeof(entry->state));
		/* release: pairs with the acquire of a reader, and in latest_at() */
		__atomic_store_n(&entry->state, 1, __ATOMIC_RELEASE);
		return;
	}
	__atomic_add_fetch(&file->header->unlisted, 1, __ATOMIC_RELAXED);
}

static void find(struct trace_file *file, uint64_t address, uint64_t now)
{
	struct ibvbuf_trace_module found = {.state = 0};
	const struct ibvbuf_trace_module *latest;
	int saved_errno = errno;

	if (find_module(&found, address)) {
		latest = latest_at(file, &found);
		/* Also of calls that were under way when the first one that ended entered it. */
		found.since = latest ? now : 0;
		if (!latest) {
			enter(file, &found);
		} else if (!is_same(latest, &found)) {
			forget_places(file);
			enter(file, &found);
		}
	}
	errno = saved_errno;
}

void trace_module_look(struct trace_file *file, uint64_t *set, size_t home, uint64_t address,
		       uint64_t now)
{
	size_t i, place = home;

	for (i = 0; i < TRACE_KNOWN_WAYS; i++)
		if (__atomic_load_n(&set[i], __ATOMIC_RELAXED) == address)
			return;
	find(file, address, now);
	/* At home, else in an empty place, else in that of another, to be looked up again. */
	for (i = 0; i < TRACE_KNOWN_WAYS && __atomic_load_n(&set[place], __ATOMIC_RELAXED); i++)
		if (!__atomic_load_n(&set[i], __ATOMIC_RELAXED))
			place = i;
	__atomic_store_n(&set[place], address, __ATOMIC_RELAXED);
}
