// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A module is entered when it first calls, and stays: it may be gone when the file is read, or
 * another process may read it. A call from a place that is in no module, such as code made at run
 * time, enters nothing.
 */
#define _GNU_SOURCE
#include "trace_modules.h"
#include "code_module.h"
#include "trace_name.h"

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

static void read_build_id(struct ibvbuf_trace_module *module, const struct code_module *found)
{
	const ElfW(Phdr) *segments = found->segments;
	size_t i;

	for (i = 0; i < found->segment_count && !module->build_id_length; i++) {
		uint64_t note = found->bias + segments[i].p_vaddr;

		/* Notes of 8 bytes' alignment are about properties. */
		if (segments[i].p_type == PT_NOTE && segments[i].p_align <= 4 &&
		    note >= found->start && note < found->head_end &&
		    segments[i].p_memsz <= found->head_end - note)
			read_notes(module, (const char *)(uintptr_t)note, segments[i].p_memsz);
	}
}

static bool find_module(struct ibvbuf_trace_module *module, uint64_t address)
{
	struct code_module found;

	if (!code_module_find(&found, address))
		return false;
	module->start = found.start;
	module->bias = found.bias;
	module->end = found.end;
	read_build_id(module, &found);
	trace_name_copy(module->path, sizeof(module->path), found.mapping.path);
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
