// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "doctor.h"
#include "environment.h"
#include "library_facts.h"
#include "library_search.h"
#include "machine_facts.h"
#include "message.h"
#include "program_facts.h"
#include "shim_files.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Whether the shim itself can be put in place, without regard to a program. */
static bool shim_works(const struct options *options, const struct library_facts *library,
		       struct findings *findings)
{
	struct environment environment;
	char *problem;

	if (!environment_prepare(&environment, options->way, options->real, NULL, &problem)) {
		findings_add(findings, SEVERITY_FAILURE, "Nothing can be started before that.",
			     "%s", problem);
		return false;
	}
	if (!library->path) {
		findings_add(findings, SEVERITY_FAILURE,
			     "Install it (Debian: apt install libibverbs1; Fedora: dnf install "
			     "libibverbs).",
			     "No " VERBS_SONAME " found");
		return false;
	}
	return true;
}

static char *choose_library(const struct options *options)
{
	const char *library_path = getenv("LD_LIBRARY_PATH");
	struct program program;

	if (options->real)
		return check_real_library(options->real);
	if (!options->program[0])
		return find_real_library(NULL, library_path);
	program_find(&program, options->program[0]);
	return find_real_library(program.error ? NULL : &program.elf, library_path);
}

int doctor(const struct options *options)
{
	struct findings findings = {0};
	struct library_facts library;
	struct program_facts program;
	struct machine_facts machine;
	struct json json;
	bool good;

	/* Where it is ignored, nobody learns how a child ended. Nothing is started that has it. */
	signal(SIGCHLD, SIG_DFL);
	library_facts_read(&library, choose_library(options), &findings);
	machine_facts_read(&machine, library.path, &findings);
	if (options->program[0]) {
		program_facts_read(&program, options, &library, &findings);
		good = program.would_run;
	} else {
		good = shim_works(options, &library, &findings);
	}

	if (options->json) {
		json_start(&json, stdout);
		json_open(&json, NULL, '{');
		json_boolean(&json, "good", good);
		json_string(&json, "shim", shim_folder());
		library_facts_write(&library, &json);
		if (options->program[0])
			program_facts_write(&program, &json);
		machine_facts_write(&machine, &json);
		findings_write(&findings, &json);
		json_close(&json, '}');
	} else {
		print_line("shim", "%s", shim_folder());
		library_facts_print(&library);
		machine_facts_print(&machine);
		if (options->program[0])
			program_facts_print(&program, options);
		else
			print_line("answer", good ? "programs can be started with the shim"
						  : "nothing can be started with the shim");
		findings_print(&findings);
	}
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
