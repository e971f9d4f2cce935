// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "library_search.h"
#include "elf_symbols.h"
#include "loader_cache.h"
#include "message.h"
#include "paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* The folders that are built into the dynamic linkers of the common distributions. */
static const struct {
	struct elf_kind kind;
	const char *lib, *multiarch;
} layouts[] = {
	{{ELFCLASS64, EM_X86_64}, "lib64", "lib/x86_64-linux-gnu"},
	{{ELFCLASS64, EM_AARCH64}, "lib64", "lib/aarch64-linux-gnu"},
	{{ELFCLASS32, EM_386}, "lib32", "lib/i386-linux-gnu"},
	{{ELFCLASS32, EM_ARM}, "lib", "lib/arm-linux-gnueabihf"},
	{{ELFCLASS32, EM_X86_64}, "libx32", "lib/x86_64-linux-gnux32"},
};

static char *try_file(const struct search *search, const char *folder)
{
	char *path = print_string("%s%s%s", folder, *folder ? "/" : "", search->name);
	struct elf_file elf;
	bool right;

	if (access(path, R_OK) || elf_open(&elf, path))
		return NULL;
	right = elf_kind_equal(&elf.kind, search->kind) && elf.type == ET_DYN;
	elf_close(&elf);
	return right ? search->accept(path) : NULL;
}

static char *try_folder(const struct search *search, const char *folder)
{
	char *found;
	size_t i;

	for (i = 0; hwcap_names[i] && elf_kind_equal(search->kind, &elf_kind_own); i++) {
		if (!hwcap_is_supported(hwcap_names[i]))
			continue;
		found = try_file(search, print_string("%s/glibc-hwcaps/%s", *folder ? folder : ".",
						      hwcap_names[i]));
		if (found)
			return found;
	}
	return try_file(search, folder);
}

static const char *lib_folder(const struct elf_kind *kind)
{
	size_t i;

	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (!elf_kind_equal(&layouts[i].kind, kind))
			continue;
		if (!access(print_string("/usr/%s", layouts[i].multiarch), F_OK))
			return layouts[i].multiarch;
		return layouts[i].lib;
	}
	return "lib";
}

/* $ORIGIN, $LIB and $PLATFORM, with and without braces. NULL if one has no meaning here. */
static char *expand(const struct search *search, const char *text)
{
	const char *platform = (const char *)getauxval(AT_PLATFORM);
	const struct {
		const char *name, *value;
	} tokens[] = {
		{"ORIGIN", search->origin},
		{"LIB", lib_folder(search->kind)},
		{"PLATFORM", platform},
	};
	char *result = print_string("%s", "");

	while (*text) {
		size_t plain = strcspn(text, "$"), length, i;
		const char *name;
		bool braces;

		result = print_string("%s%.*s", result, (int)plain, text);
		text += plain;
		if (!*text)
			break;
		braces = text[1] == '{';
		name = text + 1 + braces;
		for (i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
			length = strlen(tokens[i].name);
			if (!strncmp(name, tokens[i].name, length) &&
			    (!braces || name[length] == '}'))
				break;
		}
		if (i == sizeof(tokens) / sizeof(tokens[0])) {
			result = print_string("%s$", result);
			text++;
			continue;
		}
		if (!tokens[i].value)
			return NULL;
		result = print_string("%s%s", result, tokens[i].value);
		text = name + length + braces;
	}
	return result;
}

char *search_list(const struct search *search, const char *list)
{
	struct string_list folders = string_list_split(list, ":;");
	char *folder, *found;
	size_t i;

	for (i = 0; i < folders.count; i++) {
		folder = expand(search, folders.items[i]);
		found = folder ? try_folder(search, folder) : NULL;
		if (found)
			return found;
	}
	return NULL;
}

char *search_cache(const struct search *search)
{
	struct string_list paths = loader_cache_find(search->name);
	struct elf_file elf;
	char *found = NULL;
	size_t i;

	for (i = 0; i < paths.count && !found; i++) {
		if (elf_open(&elf, paths.items[i]))
			continue;
		if (elf_kind_equal(&elf.kind, search->kind))
			found = search->accept(paths.items[i]);
		elf_close(&elf);
	}
	return found;
}

char *search_default_folders(const struct search *search)
{
	static const char *const roots[] = {"/", "/usr/"};
	char *found;
	size_t i, j;

	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		const char *folders[] = {layouts[i].multiarch, layouts[i].lib, "lib"};

		if (!elf_kind_equal(&layouts[i].kind, search->kind))
			continue;
		for (j = 0; j < 6; j++) {
			found = try_folder(search,
					   print_string("%s%s", roots[j % 2], folders[j / 2]));
			if (found)
				return found;
		}
	}
	return NULL;
}

bool is_drop_in(const struct elf_file *elf)
{
	return elf_needs(elf, REAL_SONAME);
}

static char *accept_real(const char *path)
{
	char *behind, *target;
	struct elf_file elf;
	bool drop_in;

	if (elf_open(&elf, path))
		return NULL;
	drop_in = is_drop_in(&elf);
	elf_close(&elf);
	if (!drop_in)
		return path_absolute(path);

	/* Started by ibvbuf-run already: what that one found stays. */
	behind = print_string("%s/%s", path_folder(path), REAL_SONAME);
	target = path_read_link(behind);
	if (!target || elf_open(&elf, target))
		return NULL;
	drop_in = is_drop_in(&elf) || !elf_kind_equal(&elf.kind, &elf_kind_own);
	elf_close(&elf);
	return drop_in || target[0] != '/' ? NULL : target;
}

char *find_real_library(const struct elf_file *program, const char *library_path)
{
	struct search search = {
		.name = VERBS_SONAME,
		.kind = &elf_kind_own,
		.accept = accept_real,
	};
	const char *early = NULL, *late = NULL;
	char *found = NULL;

	if (program && elf_kind_equal(&program->kind, &elf_kind_own)) {
		search.origin = path_folder(path_absolute(program->path));
		late = elf_dynamic_string(program, DT_RUNPATH);
		/* The older kind counts only where there is none of the newer. */
		if (!late)
			early = elf_dynamic_string(program, DT_RPATH);
	}
	if (early)
		found = search_list(&search, early);
	if (!found)
		found = search_list(&search, library_path);
	if (!found && late)
		found = search_list(&search, late);
	if (!found)
		found = search_cache(&search);
	if (!found)
		found = search_default_folders(&search);
	return found;
}

char *check_real_library(const char *path)
{
	char *file = path_absolute(path);
	struct elf_symbols symbols;
	struct elf_file elf;
	int error = elf_open(&elf, file);

	if (error == EISDIR) {
		file = print_string("%s/%s", file, VERBS_SONAME);
		error = elf_open(&elf, file);
	}
	if (error == ENOEXEC)
		fail("--real: '%s' is not a library", file);
	if (error)
		fail("--real: '%s' cannot be read: %s", file, strerror(error));
	if (elf.type != ET_DYN || !elf_kind_equal(&elf.kind, &elf_kind_own))
		fail("--real: '%s' is not a library for this machine", file);
	if (is_drop_in(&elf))
		fail("--real: '%s' is the drop-in of ibvbuf-preload; name the libibverbs that it "
		     "is to stand in front of",
		     file);
	elf_symbols_read(&symbols, &elf);
	if (!elf_defines(&symbols, "ibv_get_device_list", "IBVERBS_1.1"))
		fail("--real: '%s' is no libibverbs", file);
	elf_close(&elf);
	return file;
}
