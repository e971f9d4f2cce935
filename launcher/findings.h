/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the doctor found wrong, each with its remedy; and lines of its text. */
#ifndef IBVBUF_LAUNCHER_FINDINGS_H
#define IBVBUF_LAUNCHER_FINDINGS_H

#include <stddef.h>

#include "json.h"

/**
 * enum severity - how bad it is
 * @SEVERITY_FAILURE: the program would not run, or nothing would
 * @SEVERITY_LIMIT: something will not work
 * @SEVERITY_HINT: something could be better
 */
enum severity { SEVERITY_FAILURE, SEVERITY_LIMIT, SEVERITY_HINT };

struct finding {
	enum severity severity;
	char *text;
	const char *remedy;
};

struct findings {
	struct finding *items;
	size_t count;
};

/* `remedy` is what to do, as a sentence. */
void findings_add(struct findings *findings, enum severity severity, const char *remedy,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));
void findings_print(const struct findings *findings);
void findings_write(const struct findings *findings, struct json *json);

/* A line of the report: a label, and text that is broken into lines behind it. */
void print_line(const char *label, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
