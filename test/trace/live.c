// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * live COUNT MILLISECONDS
 *
 * A process that writes a trace: prints the name of the file, then makes COUNT records, one after
 * each pause. The file stays.
 */
#define _GNU_SOURCE
#include "image.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct image image = image_new(64, 0);
	unsigned long i, count, pause;

	if (argc != 3)
		return 2;
	count = strtoul(argv[1], NULL, 10);
	pause = strtoul(argv[2], NULL, 10);
	gethostname(image.header->host, sizeof(image.header->host) - 1);
	puts(image.path);
	fflush(stdout);
	for (i = 0; i < count; i++) {
		usleep((useconds_t)(1000 * pause));
		image_add(&image, 1000 * (i + 1));
	}
	return 0;
}
