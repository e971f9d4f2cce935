// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "loader_model.h"
#include "library_search.h"
#include "message.h"
#include "paths.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More than any program loads; files that need each other under ever new names end here. */
#define MAX_OBJECTS 1024

static char *accept_any(const char *path)
{
	return print_string("%s", path);
}

/* RPATH counts only in a file without RUNPATH. */
static const char *old_search_list(const struct loaded *object)
{
	return elf_dynamic_string(&object->elf, DT_RUNPATH)
		       ? NULL
		       : elf_dynamic_string(&object->elf, DT_RPATH);
}

static char *search_with_origin(struct search *search, const struct loaded *object,
				const char *list)
{
	if (!list)
		return NULL;
	search->origin = path_folder(path_absolute(object->path));
	return search_list(search, list);
}

static char *find_library(const struct loader_model *model, const char *name,
			  const struct loaded *needer)
{
	const struct loaded *program = model->objects[0];
	struct search search = {.name = name, .kind = model->kind, .accept = accept_any};
	const struct loaded *object;
	uint64_t flags;
	char *found = NULL;

	/* The RPATHs of the needer, of what loaded that, and so on, and of the program. */
	if (!elf_dynamic_string(&needer->elf, DT_RUNPATH)) {
		object = needer;
		do
			found = search_with_origin(&search, object, old_search_list(object));
		while (!found && (object = object->loader));
		if (!found)
			found = search_with_origin(&search, program, old_search_list(program));
	}
	if (!found)
		found = search_with_origin(&search, program, model->library_path);
	if (!found)
		found = search_with_origin(&search, needer,
					   elf_dynamic_string(&needer->elf, DT_RUNPATH));
	if (!found && elf_dynamic_value(&needer->elf, DT_FLAGS_1, &flags) && flags & DF_1_NODEFLIB)
		return NULL;
	if (!found)
		found = search_cache(&search);
	if (!found)
		found = search_default_folders(&search);
	return found;
}

static struct loaded *find_loaded(const struct loader_model *model, const char *name)
{
	size_t i;

	for (i = 0; i < model->count; i++) {
		if (string_list_has(&model->objects[i]->names, name))
			return model->objects[i];
	}
	return NULL;
}

static struct loaded *find_same_file(const struct loader_model *model, const char *path)
{
	struct stat one, other;
	size_t i;

	if (stat(path, &one))
		return NULL;
	for (i = 0; i < model->count; i++) {
		if (!stat(model->objects[i]->path, &other) && one.st_dev == other.st_dev &&
		    one.st_ino == other.st_ino)
			return model->objects[i];
	}
	return NULL;
}

static struct loaded *add_object(struct loader_model *model, const char *path,
				 const struct loaded *loader)
{
	struct loaded *object = grow(NULL, 1, sizeof(*object));
	const char *soname;

	memset(object, 0, sizeof(*object));
	object->path = print_string("%s", path);
	object->loader = loader;
	if (elf_open(&object->elf, object->path) ||
	    !elf_kind_equal(&object->elf.kind, model->kind) || model->count == MAX_OBJECTS) {
		free(object);
		return NULL;
	}
	elf_symbols_read(&object->symbols, &object->elf);
	soname = elf_dynamic_string(&object->elf, DT_SONAME);
	if (soname)
		string_list_add(&object->names, soname);
	model->objects = grow(model->objects, model->count + 1, sizeof(struct loaded *));
	model->objects[model->count++] = object;
	return object;
}

static struct loaded *load(struct loader_model *model, const char *name,
			   const struct loaded *needer)
{
	struct loaded *object = find_loaded(model, name);
	char *path;

	if (object)
		return object;
	path = strchr(name, '/') ? print_string("%s", name) : find_library(model, name, needer);
	if (!path || access(path, R_OK))
		return NULL;
	object = find_same_file(model, path);
	if (!object)
		object = add_object(model, path, needer);
	if (object && !string_list_has(&object->names, name))
		string_list_add(&object->names, name);
	return object;
}

/* What the objects from `first` on need, and what that needs, in breadth. */
static void load_needs(struct loader_model *model, size_t first, char **failure)
{
	Elf64_Dyn entry;
	size_t i, j;

	for (i = first; i < model->count; i++) {
		const struct loaded *object = model->objects[i];

		for (j = 0; elf_dynamic(&object->elf, j, &entry); j++) {
			const char *name;

			if (entry.d_tag != DT_NEEDED)
				continue;
			name = elf_string(&object->elf, entry.d_un.d_val);
			if (name && !load(model, name, object) && !*failure)
				*failure = print_string(
					"%s (needed by %s): cannot open shared object file", name,
					object->path);
		}
	}
}

static void check_versions(const struct loader_model *model, char **failure)
{
	size_t i, j;

	for (i = 0; i < model->count && !*failure; i++) {
		const struct loaded *object = model->objects[i];

		for (j = 0; j < object->symbols.version_count; j++) {
			const struct elf_version *version = &object->symbols.versions[j];
			const struct loaded *from;

			if (!version->file || version->weak)
				continue;
			from = find_loaded(model, version->file);
			/* A library without any versions is taken for one that has all. */
			if (!from || !elf_has_versions(&from->symbols) ||
			    elf_defines_version(&from->symbols, version->name))
				continue;
			*failure = print_string("version `%s' not found in %s (required by %s)",
						version->name, from->path, object->path);
			break;
		}
	}
}

static bool is_defined(const struct loader_model *model, const struct elf_symbol *reference)
{
	const char *version = reference->version ? reference->version->name : NULL;
	size_t i;

	for (i = 0; i < model->count; i++) {
		if (elf_defines(&model->objects[i]->symbols, reference->name, version))
			return true;
	}
	return false;
}

/* A reference to libibverbs, or one without a version by a name that is libibverbs' own. */
static bool is_verbs_reference(const struct elf_symbol *symbol)
{
	if (symbol->defined || symbol->weak)
		return false;
	if (symbol->version)
		return symbol->version->file && !strcmp(symbol->version->file, VERBS_SONAME);
	return !strncmp(symbol->name, "ibv_", 4);
}

static void check_symbols(struct loader_model *model)
{
	struct elf_symbol symbol;
	size_t i, j;

	for (i = 0; i < model->count; i++) {
		const struct loaded *object = model->objects[i];
		bool now = elf_binds_now(&object->elf) || getenv("LD_BIND_NOW");

		for (j = 1; elf_symbol(&object->symbols, j, &symbol); j++) {
			char **failure;

			if (!is_verbs_reference(&symbol) || is_defined(model, &symbol))
				continue;
			failure = now || elf_needs_address_at_start(&object->symbols, j)
					  ? &model->failure
					  : &model->late_failure;
			if (!*failure)
				*failure = print_string("%s: undefined symbol: %s%s%s",
							object->path, symbol.name,
							symbol.version ? ", version " : "",
							symbol.version ? symbol.version->name : "");
		}
	}
}

/* The shim's own libraries name libibverbs too. */
static bool is_shim(const struct loaded *object)
{
	return is_drop_in(&object->elf) || string_list_has(&object->names, "libibvbuf-preload.so");
}

static void open_at_run_time(struct loader_model *model)
{
	static const char name[] = "libibverbs.so";
	char *failure = NULL;
	size_t i, first = model->count;

	for (i = 0; i < first && !model->opener; i++) {
		if (!is_shim(model->objects[i]) &&
		    memmem(model->objects[i]->elf.bytes, model->objects[i]->elf.size, name,
			   sizeof(name) - 1))
			model->opener = model->objects[i];
	}
	if (!model->opener)
		return;
	model->verbs = load(model, VERBS_SONAME, model->opener);
	load_needs(model, first, &failure);
	for (i = first; i < model->count; i++)
		model->objects[i]->at_run_time = true;
}

void loader_model_run(struct loader_model *model, const struct elf_file *program,
		      const char *library_path, const char *preload)
{
	struct string_list preloads = string_list_split(preload, " :");
	struct loaded *first;
	size_t i;

	memset(model, 0, sizeof(*model));
	model->kind = &program->kind;
	model->library_path = library_path;
	first = add_object(model, program->path, NULL);
	if (!first) {
		model->failure = print_string("%s cannot be read", program->path);
		return;
	}
	/* What cannot be preloaded is said by the loader, and left out. */
	for (i = 0; i < preloads.count; i++) {
		if (*preloads.items[i])
			load(model, preloads.items[i], first);
	}
	load_needs(model, 0, &model->failure);
	model->verbs = find_loaded(model, VERBS_SONAME);
	if (!model->failure)
		check_versions(model, &model->failure);
	if (!model->failure)
		check_symbols(model);
	/* A preloaded drop-in is there whether anybody asks or not. */
	if (!model->failure && (!model->verbs || !model->verbs->loader))
		open_at_run_time(model);
}
