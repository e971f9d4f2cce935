// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A module is entered when it first calls, and stays: it may be gone when the file is read, or
 * another process may read it. A call from a place that is in no module, such as code made at run
 * time, enters nothing.
 */
#define _GNU_SOURCE
#include "trace_modules.h"

#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/**
 * struct search - for the module that holds an address
 * @address: it
 * @unloaded: modules that the process has unloaded so far
 * @found: the module
 */
struct search {
	uint64_t address;
	uint64_t unloaded;
	struct ibvbuf_trace_module found;
};

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

static void name_module(struct ibvbuf_trace_module *module, const char *name)
{
	char program[PATH_MAX];
	size_t capacity = sizeof(module->path) - 1;
	ssize_t length;

	if (!*name) {
		/* The program itself. */
		length = readlink("/proc/self/exe", program, sizeof(program) - 1);
		program[length < 0 ? 0 : length] = '\0';
		name = program;
	}
	length = (ssize_t)strlen(name);
	if ((size_t)length > capacity)
		name += (size_t)length - capacity;
	memcpy(module->path, name, strlen(name));
}

static int visit(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct search *search = argument;
	struct ibvbuf_trace_module *module = &search->found;
	uint64_t start = UINT64_MAX, end = 0;
	bool holds = false;
	size_t i;

	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs))
		search->unloaded = info->dlpi_subs;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t first = info->dlpi_addr + segment->p_vaddr;
		uint64_t last = first + segment->p_memsz;

		if (segment->p_type != PT_LOAD)
			continue;
		start = first < start ? first : start;
		end = last > end ? last : end;
		holds = holds || (search->address >= first && search->address < last);
	}
	if (!holds)
		return 0;
	module->start = start;
	module->end = end;
	module->bias = info->dlpi_addr;
	name_module(module, info->dlpi_name);
	for (i = 0; i < info->dlpi_phnum && !module->build_id_length; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		uint64_t first = info->dlpi_addr + segment->p_vaddr;

		/* Notes of 8 bytes' alignment are about properties. */
		if (segment->p_type == PT_NOTE && segment->p_align <= 4 && first >= start &&
		    segment->p_memsz <= end - first)
			read_notes(module, (const char *)(uintptr_t)first, segment->p_memsz);
	}
	return 1;
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

/* Where another module may be by now, none is known. */
static void forget_unloaded(struct trace_file *file, uint64_t unloaded)
{
	size_t i;

	if (__atomic_exchange_n(&file->unloaded, unloaded, __ATOMIC_RELAXED) == unloaded)
		return;
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
	const struct ibvbuf_trace_module *latest;
	struct search search = {.address = address};
	int saved_errno = errno;
	bool is_found = dl_iterate_phdr(visit, &search);

	forget_unloaded(file, search.unloaded);
	if (is_found) {
		latest = latest_at(file, &search.found);
		/* Also of calls that were under way when the first one that ended entered it. */
		search.found.since = latest ? now : 0;
		if (!latest || !is_same(latest, &search.found))
			enter(file, &search.found);
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
