// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reports what was measured elsewhere, in a virtual machine or by a tool: lines on standard input,
 *
 *	SUBJECT <tab> CASE <tab> UNIT <tab> CONTENDER <tab> ROUND <tab> VALUE
 *
 * in any order; rounds count from 0. The contender named "ours" is ours.
 */
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CASES 512
#define FIELDS	  6

static struct bench_case *cases[MAX_CASES];
static unsigned int case_count;

static struct bench_case *find_case(const char *subject, const char *name, const char *unit)
{
	unsigned int i, j;

	for (i = 0; i < case_count; i++)
		if (!strcmp(cases[i]->subject, subject) && !strcmp(cases[i]->name, name))
			return cases[i];
	if (case_count == MAX_CASES)
		bench_fail("too many cases");
	cases[case_count] = bench_case_new(subject, unit, "%s", name);
	cases[case_count]->contenders[0] = "ours";
	cases[case_count]->count = 1;
	for (i = 0; i < BENCH_MAX_CONTENDERS; i++)
		for (j = 0; j < BENCH_MAX_ROUNDS; j++)
			cases[case_count]->values[i][j] = NAN;
	return cases[case_count++];
}

static unsigned int find_contender(struct bench_case *bench, const char *name)
{
	unsigned int i;

	for (i = 0; i < bench->count; i++)
		if (!strcmp(bench->contenders[i], name))
			return i;
	if (i == BENCH_MAX_CONTENDERS)
		bench_fail("too many contenders");
	bench->contenders[i] = strdup(name);
	if (!bench->contenders[i])
		bench_fail("out of memory");
	bench->count++;
	return i;
}

static void take_line(char *line)
{
	struct bench_case *bench;
	char *fields[FIELDS];
	unsigned int i;
	unsigned long round;

	line[strcspn(line, "\n")] = 0;
	for (i = 0; i < FIELDS; i++) {
		fields[i] = strsep(&line, "\t");
		if (!fields[i])
			bench_fail("a line has less than %d fields", FIELDS);
	}
	round = strtoul(fields[4], NULL, 10);
	if (round >= BENCH_MAX_ROUNDS)
		bench_fail("too many rounds");
	bench = find_case(fields[0], fields[1], fields[2]);
	bench->values[find_contender(bench, fields[3])][round] = strtod(fields[5], NULL);
	if (round >= bench->rounds)
		bench->rounds = (unsigned int)round + 1;
}

/* Those of a subject together, else in their order. */
static void report_subject(unsigned int first)
{
	char subject[sizeof(cases[first]->subject)];
	unsigned int i;

	snprintf(subject, sizeof(subject), "%s", cases[first]->subject);
	for (i = first; i < case_count; i++) {
		if (!cases[i] || strcmp(cases[i]->subject, subject))
			continue;
		bench_case_report(cases[i]);
		cases[i] = NULL;
	}
}

int main(int argc, char **argv)
{
	char line[1024];
	unsigned int i;

	if (argc != 3) {
		fprintf(stderr, "usage: %s DIRECTORY PROGRAM < LINES\n", argv[0]);
		return 2;
	}
	while (fgets(line, sizeof(line), stdin))
		take_line(line);
	if (!case_count)
		bench_fail("%s: nothing was measured", argv[2]);
	bench_open(argv[1], argv[2]);
	for (i = 0; i < case_count; i++)
		if (cases[i])
			report_subject(i);
	bench_close();
	return 0;
}
