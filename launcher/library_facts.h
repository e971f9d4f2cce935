/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A libibverbs: which rdma-core it is of, and what of the contract it has. */
#ifndef IBVBUF_LAUNCHER_LIBRARY_FACTS_H
#define IBVBUF_LAUNCHER_LIBRARY_FACTS_H

#include "elf_symbols.h"
#include "findings.h"

/**
 * enum call_state - who answers a call
 * @CALL_NATIVE: the library
 * @CALL_EXTENDED: the library, and the shim what that does not know yet
 * @CALL_SUPPLIED: the shim
 * @CALL_ABSENT: nobody; the shim does without
 */
enum call_state { CALL_NATIVE, CALL_EXTENDED, CALL_SUPPLIED, CALL_ABSENT };

#define MAX_CALLS 64

/**
 * struct library_facts - a libibverbs
 * @path: where it was found; NULL if there is none
 * @file: the file behind symbolic links
 * @node, @private_node: its highest IBVERBS_1.x, and its IBVERBS_PRIVATE_n; NULL if it has none
 * @since, @until: the first and last release of rdma-core that it can be; 0 if not known
 * @release: the same in words, with the number in the file's name, which may be a vendor's own
 * @states: of each call, in the order of the table
 * @complete: nothing is left for the shim to supply
 */
struct library_facts {
	char *path;
	char *file;
	const char *node, *private_node;
	unsigned int since, until;
	char *release;
	enum call_state states[MAX_CALLS];
	bool complete;
	struct elf_file elf;
	struct elf_symbols symbols;
};

/* `path` may be NULL. */
void library_facts_read(struct library_facts *facts, char *path, struct findings *findings);
void library_facts_print(const struct library_facts *facts);
void library_facts_write(const struct library_facts *facts, struct json *json);

#endif
