// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "call_site.h"
#include "file_words.h"
#include "module_symbols.h"
#include "object_map.h"
#include "../launcher/message.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What a process says of an address, and for which calls: those between two times. */
struct lookup {
	struct object_entry entry;
	const struct trace_file *file;
	uint64_t address;
	uint64_t from;
	uint64_t to;
	size_t modules;
	struct known_site *site;
};

/* A call site, with what has been found out about it. */
struct known_site {
	struct call_site site;
	struct object_entry entry;
	struct known_module *module;
	bool function_known;
	char *function;
	char *whole_text;
};

/* A module, of all files: the same path with the same build-id. */
struct known_module {
	struct known_module *next;
	char *path;
	char *library;
	uint32_t build_id_length;
	uint8_t build_id[20];
	bool symbols_known;
	struct module_symbols *symbols;
};

struct call_sites {
	struct object_map lookups;
	struct object_map sites;
	struct known_module *modules;
};

/* No code is there. */
#define ELSEWHERE    UINT64_MAX
#define MOST_LOOKUPS (UINT64_C(4) * CALL_SITES_MOST)

struct call_sites *call_sites_new(void)
{
	struct call_sites *sites = grow(NULL, 1, sizeof(*sites));

	memset(sites, 0, sizeof(*sites));
	return sites;
}

static void free_lookup(struct object_entry *entry)
{
	free(OBJECT_OF(entry, struct lookup, entry));
}

static void free_site(struct object_entry *entry)
{
	struct known_site *site = OBJECT_OF(entry, struct known_site, entry);

	free((char *)site->site.text);
	free(site->function);
	free(site->whole_text);
	free(site);
}

void call_sites_free(struct call_sites *sites)
{
	struct known_module *module;

	object_map_clear(&sites->lookups, free_lookup);
	object_map_clear(&sites->sites, free_site);
	while ((module = sites->modules)) {
		sites->modules = module->next;
		module_symbols_free(module->symbols);
		free(module->path);
		free(module->library);
		free(module);
	}
	object_map_free(&sites->lookups);
	object_map_free(&sites->sites);
	free(sites);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The part of rdma-core that a module is; NULL if it is none. */
static char *rdma_core_library(const char *name)
{
	static const char *const patterns[] = {
		"libibverbs.so*", "librdmacm.so*", "libmlx4.so*", "libmlx5.so*",
		"libefa.so*",	  "libmana.so*",   "libhns.so*",  "lib*-rdmav*.so*",
	};
	size_t i, length;

	/* as it is called beneath the one that takes its place */
	if (!fnmatch("libibverbs-real.so*", name, 0))
		return print_string("libibverbs");

	for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		if (fnmatch(patterns[i], name, 0) != 0)
			continue;
		length = strcspn(name, ".");
		if (strstr(name, "-rdmav"))
			length = (size_t)(strstr(name, "-rdmav") - name);
		return print_string("%.*s", (int)length, name);
	}
	return NULL;
}

static struct known_module *intern_module(struct call_sites *sites,
					  const struct ibvbuf_trace_module *entry)
{
	struct known_module *module;

	for (module = sites->modules; module; module = module->next) {
		if (module->build_id_length == entry->build_id_length &&
		    !memcmp(module->build_id, entry->build_id, entry->build_id_length) &&
		    !strcmp(module->path, entry->path))
			return module;
	}
	module = grow(NULL, 1, sizeof(*module));
	memset(module, 0, sizeof(*module));
	module->path = print_string("%s", entry->path);
	module->library = rdma_core_library(last_part(module->path));
	module->build_id_length = entry->build_id_length;
	memcpy(module->build_id, entry->build_id, sizeof(module->build_id));
	module->next = sites->modules;
	sites->modules = module;
	return module;
}

static uint64_t hash_of_site(const struct known_module *module, uint64_t offset)
{
	return object_hash((uintptr_t)module, offset, 0);
}

static struct known_site *find_site(const struct call_sites *sites,
				    const struct known_module *module, uint64_t offset)
{
	struct object_entry *entry = object_map_first(&sites->sites, hash_of_site(module, offset));
	struct known_site *site;

	for (; entry; entry = object_map_next(entry)) {
		site = OBJECT_OF(entry, struct known_site, entry);
		if (site->module == module && site->site.offset == offset)
			return site;
	}
	return NULL;
}

/* `module` is NULL where it is not known. */
static struct known_site *intern_site(struct call_sites *sites, struct known_module *module,
				      uint64_t offset)
{
	struct known_site *known = find_site(sites, module, offset);
	struct call_site *site;

	if (known)
		return known;
	if (sites->sites.count >= CALL_SITES_MOST && (module || offset != ELSEWHERE))
		return intern_site(sites, NULL, ELSEWHERE);
	known = grow(NULL, 1, sizeof(*known));
	memset(known, 0, sizeof(*known));
	known->module = module;
	site = &known->site;
	site->offset = offset;
	site->module = module ? module->path : "";
	site->name = last_part(site->module);
	site->library = module ? module->library : NULL;
	if (!module && offset == ELSEWHERE)
		site->text = print_string("elsewhere");
	else if (!module)
		site->text = print_string("0x%" PRIx64, offset);
	else if (site->library)
		site->text = print_string("[%s] %s+0x%" PRIx64, site->library,
					  printable(site->name), offset);
	else
		site->text = print_string("%s+0x%" PRIx64, printable(site->name), offset);
	object_map_insert(&sites->sites, &known->entry, hash_of_site(module, offset));
	return known;
}

/*
 * The module that had the address at that time: the last that was entered before. One that was
 * entered a little later than the call began is better than none: it is entered by the call itself.
 */
static void look_up(struct call_sites *sites, struct lookup *lookup, uint64_t time)
{
	const struct trace_file *file = lookup->file;
	const struct ibvbuf_trace_module *module, *found = NULL, *next = NULL;
	size_t i;

	for (i = 0; i < file->module_count; i++) {
		module = &file->modules[i];
		if (!module->state || lookup->address < module->start ||
		    lookup->address >= module->end)
			continue;
		if (module->since <= time) {
			if (!found || module->since >= found->since)
				found = module;
		} else if (!next || module->since < next->since) {
			next = module;
		}
	}
	lookup->modules = file->module_count;
	lookup->from = found ? found->since : 0;
	lookup->to = UINT64_MAX;
	if (found && next) {
		lookup->to = next->since;
	} else if (!found && next) {
		found = next;
		lookup->to = next->since;
	}
	lookup->site = found ? intern_site(sites, intern_module(sites, found),
					   lookup->address - found->bias)
			     : intern_site(sites, NULL, lookup->address);
}

const struct call_site *call_site_find(struct call_sites *sites, const struct trace_file *file,
				       uint64_t address, uint64_t time)
{
	const uint64_t hash = object_hash(file->index, address, 0);
	struct object_entry *entry = object_map_first(&sites->lookups, hash);
	struct lookup *lookup;

	for (; entry; entry = object_map_next(entry)) {
		lookup = OBJECT_OF(entry, struct lookup, entry);
		if (lookup->address != address || lookup->file != file || time < lookup->from ||
		    time >= lookup->to)
			continue;
		/* modules may have been entered since */
		if (lookup->modules != file->module_count)
			look_up(sites, lookup, time);
		return &lookup->site->site;
	}
	if (sites->lookups.count == MOST_LOOKUPS)
		object_map_clear(&sites->lookups, free_lookup);
	lookup = grow(NULL, 1, sizeof(*lookup));
	lookup->file = file;
	lookup->address = address;
	look_up(sites, lookup, time);
	object_map_insert(&sites->lookups, &lookup->entry, hash);
	return &lookup->site->site;
}

bool call_site_is_of_libibverbs(const struct call_site *site)
{
	return site->library && !strcmp(site->library, "libibverbs");
}

const struct call_site *call_site_of(struct call_sites *sites, const struct trace_event *event)
{
	return call_site_find(sites, event->file, event->record->caller,
			      event->record->time + event->record->duration);
}

static const struct module_symbols *symbols_of(struct known_module *module)
{
	if (!module->symbols_known) {
		module->symbols_known = true;
		module->symbols = module_symbols_open(module->path, module->build_id,
						      module->build_id_length);
	}
	return module->symbols;
}

/* Each struct call_site is the first member of a struct known_site. */
static struct known_site *whole_site(const struct call_site *site)
{
	return (struct known_site *)site;
}

const char *call_site_function(struct call_sites *sites, const struct call_site *site)
{
	struct known_site *this = whole_site(site);
	const struct module_symbols *symbols;
	const char *name;
	uint64_t offset;

	(void)sites;
	if (this->function_known)
		return this->function;
	this->function_known = true;
	if (!this->module)
		return NULL;
	symbols = symbols_of(this->module);
	/* The call is before the address that it returns to, which may be another function's. */
	if (symbols && site->offset &&
	    module_symbols_find(symbols, site->offset - 1, &name, &offset))
		this->function = print_string("%s+0x%" PRIx64, printable(name), offset + 1);
	return this->function;
}

const char *call_site_text(struct call_sites *sites, const struct call_site *site)
{
	struct known_site *this = whole_site(site);
	const char *function = call_site_function(sites, site);

	if (!function)
		return site->text;
	if (!this->whole_text)
		this->whole_text = print_string("%s (%s)", site->text, function);
	return this->whole_text;
}
