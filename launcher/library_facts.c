// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "library_facts.h"
#include "message.h"
#include "string_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first release of rdma-core with each public node; no node was made in between. */
static const struct {
	unsigned int minor, release;
} nodes[] = {
	{18, 65}, {17, 64}, {16, 62}, {15, 59}, {14, 36}, {13, 35}, {12, 34}, {11, 32},
	{10, 31}, {9, 30},  {8, 28},  {7, 25},	{6, 24},  {5, 20},  {1, 1},
};

/* The releases with each private node, which providers are bound to. */
static const struct {
	unsigned int number, since, until;
} private_nodes[] = {
	{65, 65, 65}, {64, 64, 64}, {59, 59, 63}, {57, 57, 58}, {34, 34, 56},
	{33, 33, 33}, {25, 25, 32}, {22, 22, 24}, {21, 21, 21}, {20, 20, 20},
	{19, 19, 19}, {18, 18, 18}, {17, 17, 17}, {16, 16, 16}, {15, 15, 15},
};

static const struct call {
	const char *name, *node;
	unsigned int release;
	bool exported;
} calls[] = {
#define EXPORTED(name, node, release, result, parameters) {#name, node, release, true},
#define CALLED(name, node, release, result, parameters)	  {#name, node, release, false},
#include "verbs_calls.def"
#undef EXPORTED
#undef CALLED
};

/* What is older than this is the library's to have; the shim only looks on. */
#define FIRST_SUPPLIED_RELEASE 59

#define CALL_COUNT (sizeof(calls) / sizeof(calls[0]))
_Static_assert(CALL_COUNT <= MAX_CALLS, "MAX_CALLS is less than there are");

static const char *const state_names[] = {
	[CALL_NATIVE] = "native",
	[CALL_EXTENDED] = "extended",
	[CALL_SUPPLIED] = "supplied",
	[CALL_ABSENT] = "absent",
};

static void read_nodes(struct library_facts *facts)
{
	unsigned int minor, highest = 0, private_number = 0, number, next = 0;
	char rest;
	size_t i;

	for (i = 0; i < facts->symbols.version_count; i++) {
		const struct elf_version *version = &facts->symbols.versions[i];

		if (version->file)
			continue;
		if (sscanf(version->name, "IBVERBS_1.%u%c", &minor, &rest) == 1 &&
		    (!facts->node || minor > highest)) {
			highest = minor;
			facts->node = version->name;
		}
		if (sscanf(version->name, "IBVERBS_PRIVATE_%u%c", &number, &rest) == 1) {
			private_number = number;
			facts->private_node = version->name;
		}
	}
	for (i = 0; facts->node && i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		if (nodes[i].minor <= highest) {
			facts->since = nodes[i].release;
			/* a node past the table is of a release past it */
			facts->until = next ? next - 1 : 0;
			break;
		}
		next = nodes[i].release;
	}
	if (highest > nodes[0].minor)
		facts->since = nodes[0].release + 1;
	for (i = 0; i < sizeof(private_nodes) / sizeof(private_nodes[0]); i++) {
		if (private_nodes[i].number != private_number)
			continue;
		if (private_nodes[i].since > facts->since)
			facts->since = private_nodes[i].since;
		if (!facts->until || private_nodes[i].until < facts->until)
			facts->until = private_nodes[i].until;
	}
}

/* What the nodes alone tell. */
static char *name_range(unsigned int since, unsigned int until)
{
	if (!since)
		return print_string("of unknown release");
	if (!until)
		return print_string("%u or newer", since);
	if (since == until)
		return print_string("%u", since);
	if (since == 1)
		return print_string("%u or older", until);
	return print_string("%u to %u", since, until);
}

/*
 * The file is named after ABI, node and release: libibverbs.so.1.14.44.0. But vendors count by
 * themselves: 54 of MLNX_OFED is about 36. So the name is believed where the nodes leave one
 * release, and else told as what it is, if it can be.
 */
static void name_release(struct library_facts *facts)
{
	const char *base = strrchr(facts->file, '/');
	unsigned int node, release, update;

	facts->release = name_range(facts->since, facts->until);
	if (!base || sscanf(base, "/libibverbs.so.1.%u.%u.%u", &node, &release, &update) != 3 ||
	    release < facts->since || (facts->until && release > facts->until))
		return;
	if (facts->since == facts->until)
		facts->release = print_string("%u.%u", release, update);
	else if (facts->since)
		facts->release =
			print_string("%s (%u.%u by its name)", facts->release, release, update);
}

static void read_calls(struct library_facts *facts)
{
	bool buffers = elf_defines(&facts->symbols, "ibv_reg_buf_mr", "IBVERBS_1.17");
	size_t i;

	facts->complete = true;
	for (i = 0; i < CALL_COUNT; i++) {
		bool native = elf_defines(&facts->symbols, calls[i].name, calls[i].node);

		/* It is older than the buffers that it registers since. */
		if (native && !buffers && !strcmp(calls[i].name, "ibv_reg_mr_ex"))
			facts->states[i] = CALL_EXTENDED;
		else if (native)
			facts->states[i] = CALL_NATIVE;
		else if (calls[i].exported && calls[i].release >= FIRST_SUPPLIED_RELEASE)
			facts->states[i] = CALL_SUPPLIED;
		else
			facts->states[i] = CALL_ABSENT;
		if (facts->states[i] == CALL_SUPPLIED || facts->states[i] == CALL_EXTENDED)
			facts->complete = false;
	}
}

void library_facts_read(struct library_facts *facts, char *path, struct findings *findings)
{
	int error;

	memset(facts, 0, sizeof(*facts));
	if (!path)
		return;
	error = elf_open(&facts->elf, path);
	if (error) {
		findings_add(findings, SEVERITY_FAILURE, "Name another one with --real.",
			     "%s cannot be read: %s", path, strerror(error));
		return;
	}
	facts->path = path;
	facts->file = realpath(path, NULL);
	if (!facts->file)
		facts->file = path;
	elf_symbols_read(&facts->symbols, &facts->elf);
	read_nodes(facts);
	name_release(facts);
	read_calls(facts);
	if (!facts->node)
		findings_add(findings, SEVERITY_LIMIT, "Name libibverbs with --real.",
			     "%s has no IBVERBS version: it is none of rdma-core's", path);
	else if (!elf_defines(&facts->symbols, "ibv_reg_dmabuf_mr", "IBVERBS_1.12"))
		findings_add(findings, SEVERITY_LIMIT,
			     "Ordinary buffers work; for DMA-buf memory install rdma-core 34 or "
			     "newer.",
			     "This libibverbs registers no DMA-buf memory (ibv_reg_dmabuf_mr)");
}

static char *calls_in_state(const struct library_facts *facts, enum call_state state)
{
	struct string_list names = {0};
	size_t i;

	for (i = 0; i < CALL_COUNT; i++) {
		if (facts->states[i] == state)
			string_list_add(&names, calls[i].name);
	}
	return string_list_join(&names, ", ");
}

void library_facts_print(const struct library_facts *facts)
{
	static const struct {
		enum call_state state;
		const char *label;
	} lines[] = {
		{CALL_NATIVE, "  native"},
		{CALL_EXTENDED, "  extended"},
		{CALL_SUPPLIED, "  supplied"},
		{CALL_ABSENT, "  absent"},
	};
	const char *names, *base;
	size_t i;

	if (!facts->path) {
		print_line("libibverbs", "none");
		return;
	}
	base = strrchr(facts->file, '/');
	print_line("libibverbs", "%s (%s)", facts->path, base ? base + 1 : facts->file);
	print_line("", "rdma-core %s; highest node %s, private node %s", facts->release,
		   facts->node ? facts->node : "none",
		   facts->private_node ? facts->private_node : "none");
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		names = calls_in_state(facts, lines[i].state);
		if (names)
			print_line(lines[i].label, "%s", names);
	}
}

void library_facts_write(const struct library_facts *facts, struct json *json)
{
	size_t i;

	if (!facts->path) {
		json_null(json, "library");
		return;
	}
	json_open(json, "library", '{');
	json_string(json, "path", facts->path);
	json_string(json, "file", facts->file);
	json_string(json, "release", facts->release);
	json_number(json, "release_since", facts->since);
	json_number(json, "release_until", facts->until);
	json_string(json, "node", facts->node);
	json_string(json, "private_node", facts->private_node);
	json_boolean(json, "complete", facts->complete);
	json_open(json, "calls", '[');
	for (i = 0; i < CALL_COUNT; i++) {
		json_open(json, NULL, '{');
		json_string(json, "name", calls[i].name);
		json_string(json, "node", calls[i].node);
		json_number(json, "release", calls[i].release);
		json_string(json, "state", state_names[facts->states[i]]);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
}
