// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "environment.h"
#include "library_search.h"
#include "loader_model.h"
#include "message.h"
#include "paths.h"
#include "run_folder.h"
#include "shim_files.h"
#include "string_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What ends an entry, or means something else than itself, in the two variables. */
#define LIBRARY_PATH_SPECIAL ":;$"
#define PRELOAD_SPECIAL	     " :$"
#define EITHER_SPECIAL	     " :;$"

static bool file_is_drop_in(const char *path)
{
	struct elf_file elf;
	bool drop_in;

	if (elf_open(&elf, path))
		return false;
	drop_in = is_drop_in(&elf);
	elf_close(&elf);
	return drop_in;
}

/* A folder that a launcher put there, this one or one that started it. */
static bool is_run_folder(const char *folder)
{
	const char *drop_in = print_string("%s%s" VERBS_SONAME, folder, *folder ? "/" : "");
	const char *real = print_string("%s%s" REAL_SONAME, folder, *folder ? "/" : "");

	return !access(real, F_OK) && file_is_drop_in(drop_in);
}

static bool is_ours_in_preload(const char *entry)
{
	return strchr(entry, '/') && file_is_drop_in(entry);
}

/* A start around this one has put its drop-in there. */
static bool has_ours_in_preload(void)
{
	struct string_list entries = string_list_split(getenv("LD_PRELOAD"), " :");
	size_t i;

	for (i = 0; i < entries.count; i++) {
		if (is_ours_in_preload(entries.items[i]))
			return true;
	}
	return false;
}

/*
 * `first`, then what was there, less what a launcher put there before: starts within starts do not
 * make the variable grow. Empty components of the user's stay; they mean the current folder.
 */
static char *put_first(const char *first, const char *variable, const char *separators,
		       bool (*is_ours)(const char *entry))
{
	struct string_list before = string_list_split(getenv(variable), separators);
	struct string_list after = {0};
	size_t i;

	string_list_add(&after, first);
	for (i = 0; i < before.count; i++) {
		if (strcmp(before.items[i], first) != 0 && !is_ours(before.items[i]))
			string_list_add(&after, before.items[i]);
	}
	return string_list_join(&after, ":");
}

static char *copy_variable(const char *name)
{
	const char *value = getenv(name);

	return value ? print_string("%s", value) : NULL;
}

static bool is_there(const char *path, char **problem)
{
	if (!access(path, R_OK))
		return true;
	*problem = print_string("'%s': %s; install ibvbuf-preload again, or set IBVBUF_LIBDIR to "
				"the folder of its libraries",
				path, strerror(errno));
	return false;
}

static bool no_folder(char **problem, char *reasons)
{
	*problem = print_string("no folder for the links to libibverbs can be made: %s. Set "
				"XDG_RUNTIME_DIR to a folder that only you can write",
				reasons);
	return false;
}

static bool prepare_plain(struct environment *environment, char **problem)
{
	char *library = shim_plain();
	struct run_link link = {"libibvbuf-preload.so", library};
	char *reasons;

	if (!is_there(library, problem))
		return false;
	if (library[strcspn(library, PRELOAD_SPECIAL)]) {
		environment->run_folder = run_folder_make(&link, 1, PRELOAD_SPECIAL, &reasons);
		if (!environment->run_folder)
			return no_folder(problem, reasons);
		library = print_string("%s/%s", environment->run_folder, link.name);
	}
	environment->preload = put_first(library, "LD_PRELOAD", " :", is_ours_in_preload);
	environment->library_path = copy_variable("LD_LIBRARY_PATH");
	return true;
}

static void add_link(struct run_link **links, size_t *count, const char *name, const char *target)
{
	*links = grow(*links, *count + 1, sizeof(**links));
	(*links)[(*count)++] = (struct run_link){name, target};
}

static bool has_origin(const char *list)
{
	return list && strstr(list, "ORIGIN");
}

/*
 * A library that finds what it needs from $ORIGIN, as those of conda do, would look in the folder
 * of links: what it finds beside itself is linked there too.
 */
static void add_neighbours(struct run_link **links, size_t *count, const char *real)
{
	const char *folder = print_string("%s/", path_folder(real));
	struct loader_model model;
	struct elf_file elf;
	size_t i, j;

	if (elf_open(&elf, real))
		return;
	if (has_origin(elf_dynamic_string(&elf, DT_RPATH)) ||
	    has_origin(elf_dynamic_string(&elf, DT_RUNPATH))) {
		loader_model_run(&model, &elf, getenv("LD_LIBRARY_PATH"), NULL);
		for (i = 1; i < model.count; i++) {
			const struct loaded *object = model.objects[i];

			if (strncmp(object->path, folder, strlen(folder)) != 0)
				continue;
			for (j = 0; j < object->names.count; j++) {
				const char *name = object->names.items[j];

				if (!strchr(name, '/') && strcmp(name, VERBS_SONAME) != 0)
					add_link(links, count, name, object->path);
			}
		}
	}
	elf_close(&elf);
}

static bool prepare_drop_in(struct environment *environment, bool preload, const char *real,
			    const struct elf_file *program, char **problem)
{
	char *drop_in = shim_drop_in();
	struct run_link *links = NULL;
	size_t count = 0;
	char *reasons;

	if (!is_there(drop_in, problem))
		return false;
	/* It would be loaded before this one, and with its own real library. */
	preload = preload || has_ours_in_preload();
	environment->real = real ? check_real_library(real)
				 : find_real_library(program, getenv("LD_LIBRARY_PATH"));
	if (!environment->real) {
		*problem = print_string("no " VERBS_SONAME " found; install it (Debian: apt "
					"install libibverbs1; Fedora: dnf install libibverbs), or "
					"name it with --real");
		return false;
	}
	add_link(&links, &count, VERBS_SONAME, drop_in);
	add_link(&links, &count, "libibverbs.so", drop_in);
	add_link(&links, &count, REAL_SONAME, environment->real);
	add_neighbours(&links, &count, environment->real);
	environment->run_folder = run_folder_make(
		links, count, preload ? EITHER_SPECIAL : LIBRARY_PATH_SPECIAL, &reasons);
	if (!environment->run_folder)
		return no_folder(problem, reasons);

	/*
	 * Also with the preload: a program that opens "libibverbs.so" asks for a file of that name,
	 * which no SONAME answers.
	 */
	environment->library_path =
		put_first(environment->run_folder, "LD_LIBRARY_PATH", ":;", is_run_folder);
	environment->preload =
		preload ? put_first(print_string("%s/" VERBS_SONAME, environment->run_folder),
				    "LD_PRELOAD", " :", is_ours_in_preload)
			: copy_variable("LD_PRELOAD");
	return true;
}

bool environment_prepare(struct environment *environment, enum way way, const char *real,
			 const struct elf_file *program, char **problem)
{
	memset(environment, 0, sizeof(*environment));
	switch (way) {
	case WAY_PLAIN:
		return prepare_plain(environment, problem);
	case WAY_DROP_IN:
	case WAY_PRELOAD:
		return prepare_drop_in(environment, way == WAY_PRELOAD, real, program, problem);
	default:
		environment->library_path = copy_variable("LD_LIBRARY_PATH");
		environment->preload = copy_variable("LD_PRELOAD");
		return true;
	}
}
