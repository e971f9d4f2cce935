/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a test says on standard error. */
#ifndef CONTRACT_ERRORS_H
#define CONTRACT_ERRORS_H

/* Send it to a file; what that got until now; how often a text has a piece. */
void capture_errors(void);
const char *captured_errors(void);
unsigned int occurrences(const char *text, const char *piece);

#endif
