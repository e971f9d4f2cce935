/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A program: what it is, and what comes of each way to start it. */
#ifndef IBVBUF_LAUNCHER_PROGRAM_FACTS_H
#define IBVBUF_LAUNCHER_PROGRAM_FACTS_H

#include "environment.h"
#include "findings.h"
#include "library_facts.h"
#include "options.h"
#include "program.h"

/**
 * struct way_outcome - what comes of a way
 * @possible: the shim could be put in place
 * @starts: the dynamic linker lets the program start
 * @complete: and finds all calls of libibverbs that the program names
 * @served: the buffer calls are there for it
 * @reason: why not, or NULL
 */
struct way_outcome {
	bool possible, starts, complete, served;
	char *reason;
};

enum verbs_use { VERBS_NOT_NAMED, VERBS_LINKED, VERBS_OPENED };

/**
 * struct program_facts - a program
 * @name: as the user named it
 * @program: the file
 * @obstacle: why nothing can be put in front of its libibverbs; NULL if something can
 * @is_static: it has no dynamic linker
 * @is_foreign: its dynamic linker is not glibc's
 * @use: how it comes to libibverbs
 * @user_of_verbs: the file that does
 * @lacking: the version nodes that it needs and the library lacks; NULL if none
 * @outcomes: of each way
 * @would_run: with the way that was asked for
 * @advice: the way to start it; WAY_COUNT if there is none
 */
struct program_facts {
	const char *name;
	struct program program;
	const char *obstacle;
	bool is_static, is_foreign;
	enum verbs_use use;
	char *user_of_verbs;
	char *lacking;
	struct way_outcome outcomes[WAY_COUNT];
	bool would_run;
	enum way advice;
};

void program_facts_read(struct program_facts *facts, const struct options *options,
			const struct library_facts *library, struct findings *findings);
void program_facts_print(const struct program_facts *facts, const struct options *options);
void program_facts_write(const struct program_facts *facts, struct json *json);

#endif
