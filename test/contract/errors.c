// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "errors.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int errors_fd = -1;

void capture_errors(void)
{
	errors_fd = memfd_create("standard error", MFD_CLOEXEC);
	cr_assert_geq(errors_fd, 0);
	cr_assert_eq(dup2(errors_fd, STDERR_FILENO), STDERR_FILENO);
}

const char *captured_errors(void)
{
	static char text[256 << 10];
	ssize_t length = pread(errors_fd, text, sizeof(text) - 1, 0);

	cr_assert_geq(length, 0);
	text[length] = '\0';
	return text;
}

unsigned int occurrences(const char *text, const char *piece)
{
	unsigned int count = 0;

	while ((text = strstr(text, piece))) {
		text += strlen(piece);
		count++;
	}
	return count;
}
