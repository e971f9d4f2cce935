// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "program_facts.h"
#include "exec_probe.h"
#include "library_search.h"
#include "loader_model.h"
#include "message.h"
#include "privilege.h"
#include "shim_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const way_names[] = {
	[WAY_ALONE] = "alone",
	[WAY_PLAIN] = "plain",
	[WAY_DROP_IN] = "default",
	[WAY_PRELOAD] = "preload",
};

static const char *const way_commands[] = {
	[WAY_ALONE] = "",
	[WAY_PLAIN] = "ibvbuf-run --plain ",
	[WAY_DROP_IN] = "ibvbuf-run ",
	[WAY_PRELOAD] = "ibvbuf-run --preload ",
};

static bool same_file(const char *one, const char *other)
{
	struct stat a, b;

	return !stat(one, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static bool is_machine_of_this_one(const struct elf_kind *kind)
{
	if (elf_kind_equal(kind, &elf_kind_own))
		return true;
	/* What the processor can also execute. */
	return kind->elf_class == ELFCLASS32 &&
	       ((elf_kind_own.machine == EM_X86_64 && kind->machine == EM_386) ||
		(elf_kind_own.machine == EM_AARCH64 && kind->machine == EM_ARM));
}

/* Whether the program would find the buffer calls. */
static bool is_served(const struct loader_model *model, const struct library_facts *library)
{
	size_t i;

	if (!model->verbs)
		return false;
	if (is_drop_in(&model->verbs->elf))
		return true;
	if (library->path && library->complete && same_file(model->verbs->path, library->path))
		return true;
	/* What is opened at run time is asked itself, not what was preloaded. */
	for (i = 0; i < model->count && !model->opener; i++) {
		if (same_file(model->objects[i]->path, shim_plain()))
			return true;
	}
	return false;
}

static void find_user(struct program_facts *facts, const struct loader_model *model)
{
	size_t i;

	if (model->opener) {
		facts->use = VERBS_OPENED;
		facts->user_of_verbs = model->opener->path;
		return;
	}
	for (i = 0; i < model->count && !facts->user_of_verbs; i++) {
		if (elf_needs(&model->objects[i]->elf, VERBS_SONAME)) {
			facts->use = VERBS_LINKED;
			facts->user_of_verbs = model->objects[i]->path;
		}
	}
}

/*
 * The shim is built for glibc. Other dynamic linkers end a program that has a preload they cannot
 * load, but in a folder they look only for what is needed. They search where this one's model does
 * not, so no more is said. Where rights are gained, they obey no environment either.
 */
static void try_way_of_another(struct program_facts *facts, enum way way)
{
	struct way_outcome *outcome = &facts->outcomes[way];
	bool loads = way == WAY_PLAIN || way == WAY_PRELOAD ||
		     (way == WAY_DROP_IN && elf_needs(&facts->program.elf, VERBS_SONAME));

	if (privilege_gained(facts->program.path))
		loads = false;
	outcome->starts = outcome->complete = !loads;
	if (loads)
		outcome->reason = print_string("the libraries of this project need glibc");
}

static void try_way(struct program_facts *facts, enum way way, const struct options *options,
		    const struct library_facts *library)
{
	struct way_outcome *outcome = &facts->outcomes[way];
	struct environment environment;
	struct loader_model model;

	outcome->possible = environment_prepare(&environment, way, options->real,
						&facts->program.elf, &outcome->reason);
	if (!outcome->possible)
		return;
	if (facts->is_static || !elf_kind_equal(&facts->program.elf.kind, &elf_kind_own)) {
		outcome->starts = outcome->complete = true;
		return;
	}
	if (facts->is_foreign) {
		try_way_of_another(facts, way);
		return;
	}
	/* The dynamic linker then obeys none of the variables. */
	if (facts->obstacle)
		environment.library_path = environment.preload = NULL;

	loader_model_run(&model, &facts->program.elf, environment.library_path,
			 environment.preload);
	/* The first of the ways; what needs libibverbs is the same in all. */
	if (way == WAY_ALONE)
		find_user(facts, &model);
	outcome->starts = !model.failure;
	outcome->complete = !model.failure && !model.late_failure;
	outcome->reason = model.failure ? model.failure : model.late_failure;
	outcome->served = outcome->complete && facts->use != VERBS_NOT_NAMED &&
			  is_served(&model, library);
}

/* The nodes that the program itself needs of libibverbs and this library does not have. */
static void find_lacking(struct program_facts *facts, const struct library_facts *library)
{
	struct elf_symbols symbols;
	struct string_list lacking = {0};
	size_t i;

	if (!library->path)
		return;
	elf_symbols_read(&symbols, &facts->program.elf);
	for (i = 0; i < symbols.version_count; i++) {
		const struct elf_version *version = &symbols.versions[i];

		if (version->file && !strcmp(version->file, VERBS_SONAME) &&
		    !elf_defines_version(&library->symbols, version->name))
			string_list_add(&lacking, version->name);
	}
	facts->lacking = string_list_join(&lacking, ", ");
}

/*
 * The file may go by any name, but glibc's says in itself what it is: "ld-linux-x86-64.so.2" and
 * the like, "ld64.so.2" or "ld.so.1".
 */
static bool is_of_glibc(const char *interpreter)
{
	static const char *const beginnings[] = {"ld-linux", "ld64.so", "ld.so"};
	const char *name = NULL;
	const char *slash = strrchr(interpreter, '/');
	struct elf_file elf;
	size_t i;

	/* never closed, for its name's sake */
	if (!elf_open(&elf, interpreter))
		name = elf_dynamic_string(&elf, DT_SONAME);
	if (!name)
		name = slash ? slash + 1 : interpreter;
	for (i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
			return true;
	}
	return false;
}

static void find_obstacle(struct program_facts *facts, struct findings *findings)
{
	const struct elf_file *elf = &facts->program.elf;
	const char *privilege = privilege_gained(facts->program.path);
	const char *interpreter = elf_interpreter(elf);

	facts->is_static = !interpreter;
	facts->is_foreign = interpreter && !is_of_glibc(interpreter);
	if (!elf_kind_equal(&elf->kind, &elf_kind_own)) {
		facts->obstacle = "it is a 32-bit program";
		findings_add(findings, SEVERITY_LIMIT,
			     "It runs as it would by itself. Use a 64-bit build of it.",
			     "%s is a 32-bit program, and the shim is for 64-bit ones",
			     facts->program.path);
	} else if (facts->is_static) {
		facts->obstacle = "it is statically linked";
		findings_add(findings, SEVERITY_LIMIT,
			     "It runs as it would by itself. Link it dynamically.",
			     "%s is statically linked: nothing can be put in front of its calls",
			     facts->program.path);
	} else if (facts->is_foreign) {
		facts->obstacle = "it is built for another C library";
		findings_add(
			findings, SEVERITY_LIMIT,
			"Start it by itself, or use a build of it for glibc.",
			"%s is built for another C library (its dynamic linker is %s), and the "
			"shim is for glibc",
			facts->program.path, interpreter);
	} else if (privilege) {
		facts->obstacle = print_string("it is %s", privilege);
		findings_add(findings, SEVERITY_LIMIT,
			     "Start it as a user who has those rights without it.",
			     "%s is %s: the dynamic linker obeys no environment there",
			     facts->program.path, privilege);
	}
}

/* What to do about a name that leads to nothing that can be executed. */
static const char *remedy_for(const struct program *program)
{
	struct stat status;

	if (program->error == ENOENT)
		return "Name it by its path, or put its folder into PATH.";
	if (stat(program->path, &status))
		return program->error == ELOOP ? "Its symbolic links lead in a circle: mend them."
					       : "Name a file that you can reach.";
	if (S_ISDIR(status.st_mode))
		return "It is a folder: name a program in it.";
	if (!S_ISREG(status.st_mode))
		return "It is no regular file: name a program.";
	return "Make it a file that you may execute (chmod +x).";
}

static bool cannot_be_executed(struct program_facts *facts, struct findings *findings)
{
	const struct program *program = &facts->program;
	const char *interpreter;
	int error;

	if (program->error == ENOEXEC && program->scripts.count == 0) {
		findings_add(findings, SEVERITY_FAILURE, "Name a program, or a script.",
			     "%s is neither a program nor a text for a shell", program->path);
	} else if (program->error) {
		findings_add(findings, SEVERITY_FAILURE, remedy_for(program),
			     "%s cannot be executed: %s", program->path, strerror(program->error));
	} else if (!is_machine_of_this_one(&program->elf.kind)) {
		findings_add(findings, SEVERITY_FAILURE, "Use a build of it for this machine.",
			     "%s is for another machine (ELF machine %u)", program->path,
			     program->elf.kind.machine);
	} else if (!elf_is_whole(&program->elf)) {
		findings_add(findings, SEVERITY_FAILURE, "Copy or build it again.",
			     "%s is cut short: parts of the program are missing", program->path);
	} else if (program->elf.type != ET_EXEC && program->elf.type != ET_DYN) {
		findings_add(findings, SEVERITY_FAILURE, "Link it.",
			     "%s is an object file, not a program", program->path);
	} else {
		interpreter = elf_interpreter(&program->elf);
		if (interpreter && access(interpreter, X_OK)) {
			findings_add(findings, SEVERITY_FAILURE,
				     "Install the C library that it was built for.",
				     "%s needs the dynamic linker %s: %s", program->path,
				     interpreter, strerror(errno));
			return true;
		}
		error = exec_probe(program->path);
		if (!error)
			return false;
		findings_add(findings, SEVERITY_FAILURE,
			     elf_kind_equal(&program->elf.kind, &elf_kind_own)
				     ? "See whether the file is whole."
				     : "Use a 64-bit build of it.",
			     "the kernel does not execute %s: %s", program->path, strerror(error));
	}
	return true;
}

static void choose_advice(struct program_facts *facts)
{
	static const enum way preferred[] = {WAY_DROP_IN, WAY_PRELOAD, WAY_PLAIN, WAY_ALONE};
	size_t i;

	facts->advice = WAY_COUNT;
	for (i = 0; i < 4 && facts->advice == WAY_COUNT; i++) {
		if (facts->outcomes[preferred[i]].served)
			facts->advice = preferred[i];
	}
	for (i = 0; i < 4 && facts->advice == WAY_COUNT; i++) {
		if (facts->outcomes[preferred[i]].complete)
			facts->advice = preferred[i];
	}
}

static void judge(struct program_facts *facts, enum way way, struct findings *findings)
{
	const struct way_outcome *outcome = &facts->outcomes[way];
	char *remedy;

	facts->would_run = outcome->complete;
	choose_advice(facts);
	if (facts->advice == WAY_COUNT)
		remedy = print_string("No way to start it helps.");
	else
		remedy = print_string("Start it with: %s%s", way_commands[facts->advice],
				      facts->name);
	if (!outcome->possible)
		findings_add(findings, SEVERITY_FAILURE, remedy, "%s", outcome->reason);
	else if (!outcome->starts)
		findings_add(findings, SEVERITY_FAILURE, remedy,
			     "The dynamic linker would not start it: %s", outcome->reason);
	else if (!outcome->complete)
		findings_add(findings, SEVERITY_FAILURE, remedy, "It would end at a call: %s",
			     outcome->reason);
	else if (!outcome->served && !facts->obstacle && facts->use != VERBS_NOT_NAMED)
		findings_add(findings, SEVERITY_LIMIT, remedy,
			     "Started this way it runs without the shim");
}

void program_facts_read(struct program_facts *facts, const struct options *options,
			const struct library_facts *library, struct findings *findings)
{
	enum way way;

	memset(facts, 0, sizeof(*facts));
	facts->advice = WAY_COUNT;
	facts->name = options->program[0];
	program_find(&facts->program, facts->name);
	if (cannot_be_executed(facts, findings))
		return;
	find_obstacle(facts, findings);
	find_lacking(facts, library);
	for (way = WAY_ALONE; way < WAY_COUNT; way++)
		try_way(facts, way, options, library);
	judge(facts, options->way, findings);
}

static char *describe_file(const struct program_facts *facts)
{
	const struct elf_file *elf = &facts->program.elf;
	const char *rpath = elf_dynamic_string(elf, DT_RPATH);
	const char *runpath = elf_dynamic_string(elf, DT_RUNPATH);
	char *text = print_string("%s", elf->kind.elf_class == ELFCLASS64 ? "64-bit" : "32-bit");

	if (facts->is_static)
		text = print_string("%s, statically linked", text);
	if (elf_binds_now(elf))
		text = print_string("%s, binds at start (-z now)", text);
	if (rpath)
		text = print_string("%s, RPATH %s", text, rpath);
	if (runpath)
		text = print_string("%s, RUNPATH %s", text, runpath);
	return text;
}

static char *describe_use(const struct program_facts *facts)
{
	switch (facts->use) {
	case VERBS_LINKED:
		if (!strcmp(facts->user_of_verbs, facts->program.path))
			return print_string("is linked with libibverbs%s%s%s",
					    facts->lacking ? "; needs " : "",
					    facts->lacking ? facts->lacking : "",
					    facts->lacking ? ", which this one lacks" : "");
		return print_string("comes to libibverbs through %s", facts->user_of_verbs);
	case VERBS_OPENED:
		return print_string("opens libibverbs at run time (%s)", facts->user_of_verbs);
	default:
		return print_string("does not name libibverbs; what it opens later is served in "
				    "the default way");
	}
}

static const char *describe_outcome(const struct program_facts *facts,
				    const struct way_outcome *outcome)
{
	if (!outcome->possible)
		return print_string("not possible: %s", outcome->reason);
	if (!outcome->starts)
		return print_string("does not start: %s", outcome->reason);
	if (!outcome->complete)
		return print_string("starts, but ends at a call: %s", outcome->reason);
	if (outcome->served)
		return "runs, with the buffer calls";
	return facts->use == VERBS_NOT_NAMED && !facts->obstacle ? "runs"
								 : "runs, without the buffer calls";
}

void program_facts_print(const struct program_facts *facts, const struct options *options)
{
	static const char *const labels[] = {
		[WAY_ALONE] = "  by itself",
		[WAY_PLAIN] = "  --plain",
		[WAY_DROP_IN] = "  ibvbuf-run",
		[WAY_PRELOAD] = "  --preload",
	};
	const struct program *program = &facts->program;
	enum way way;
	size_t i;

	for (i = 0; i < program->scripts.count; i++)
		print_line(i ? "" : "program", "%s, a script for", program->scripts.items[i]);
	if (program->error || !facts->outcomes[WAY_ALONE].possible) {
		print_line(program->scripts.count ? "" : "program", "%s", program->path);
	} else {
		print_line(program->scripts.count ? "" : "program", "%s (%s)", program->path,
			   describe_file(facts));
		if (facts->obstacle)
			print_line("", "cannot be served: %s", facts->obstacle);
		else
			print_line("", "%s", describe_use(facts));
		for (way = WAY_ALONE; way < WAY_COUNT; way++)
			print_line(labels[way], "%s",
				   describe_outcome(facts, &facts->outcomes[way]));
	}
	if (facts->would_run && facts->outcomes[WAY_ALONE].served)
		print_line("answer", "needs nothing: would run as: %s; also as: %s%s", facts->name,
			   way_commands[options->way], facts->name);
	else if (facts->would_run)
		print_line("answer", "would run as: %s%s", way_commands[options->way], facts->name);
	else
		print_line("answer", "would not run as: %s%s", way_commands[options->way],
			   facts->name);
}

static const char *use_name(enum verbs_use use)
{
	if (use == VERBS_LINKED)
		return "linked";
	return use == VERBS_OPENED ? "opened" : NULL;
}

void program_facts_write(const struct program_facts *facts, struct json *json)
{
	const struct program *program = &facts->program;
	enum way way;
	size_t i;

	json_open(json, "program", '{');
	json_string(json, "name", facts->name);
	json_string(json, "path", program->path);
	json_open(json, "scripts", '[');
	for (i = 0; i < program->scripts.count; i++)
		json_string(json, NULL, program->scripts.items[i]);
	json_close(json, ']');
	if (!program->error) {
		json_number(json, "bits", program->elf.kind.elf_class == ELFCLASS64 ? 64 : 32);
		json_boolean(json, "static", facts->is_static);
		json_boolean(json, "binds_now", elf_binds_now(&program->elf));
		json_string(json, "rpath", elf_dynamic_string(&program->elf, DT_RPATH));
		json_string(json, "runpath", elf_dynamic_string(&program->elf, DT_RUNPATH));
		json_string(json, "obstacle", facts->obstacle);
		json_string(json, "verbs", use_name(facts->use));
		json_string(json, "verbs_user", facts->user_of_verbs);
		json_string(json, "lacking_nodes", facts->lacking);
	}
	json_open(json, "ways", '{');
	for (way = WAY_ALONE; way < WAY_COUNT; way++) {
		const struct way_outcome *outcome = &facts->outcomes[way];

		json_open(json, way_names[way], '{');
		json_boolean(json, "starts", outcome->starts);
		json_boolean(json, "complete", outcome->complete);
		json_boolean(json, "served", outcome->served);
		json_string(json, "reason", outcome->reason);
		json_close(json, '}');
	}
	json_close(json, '}');
	json_boolean(json, "would_run", facts->would_run);
	json_string(json, "advice", facts->advice == WAY_COUNT ? NULL : way_names[facts->advice]);
	json_close(json, '}');
}
