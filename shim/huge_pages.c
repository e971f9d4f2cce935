// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "huge_pages.h"
#include "small_file.h"

#include <stdlib.h>
#include <string.h>

size_t huge_pages_default_size(void)
{
	static const char key[] = "Hugepagesize:";
	char text[8192];
	const char *line;

	/* "Hugepagesize:       2048 kB" */
	if (small_file_read("/proc/meminfo", text, sizeof(text)) < 0)
		return 0;
	line = strstr(text, key);
	return line ? (size_t)strtoul(line + strlen(key), NULL, 10) << 10 : 0;
}
