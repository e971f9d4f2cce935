// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The picture of files that lie about the time. */
#define _GNU_SOURCE
#include "image.h"
#include "output.h"

#include <criterion/criterion.h>

#include <string.h>
#include <sys/resource.h>

/* A picture without end ends the test, and leaves the disk as it is. */
static void limit_output(void)
{
	const struct rlimit limit = {1 << 20, 1 << 20};

	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

Test(plot, ends_at_the_end_of_time, .timeout = 20)
{
	struct image image = image_new(4, 0);
	const char *picture;

	image.header->start_monotonic = 0;
	image.header->start_realtime = 0;
	image_add(&image, 0)->time = UINT64_MAX - 999;
	limit_output();

	picture = output_of(&command_plot, image.path, NULL);
	image_remove(&image);
	cr_assert_not_null(strstr(picture, "</svg>"));
}

Test(plot, has_a_scale_for_as_many_bytes_as_can_be_counted)
{
	struct image image = image_new(256, 0);
	struct ibvbuf_trace_record *record;
	const char *picture;
	unsigned int i;

	for (i = 1; i <= 210; i++) {
		record = image_add(&image, i * 1000);
		record->object = i * 64;
		record->lkey = i;
		record->length = (UINT64_C(1) << 56) - 1;
	}

	picture = output_of(&command_plot, image.path, NULL);
	image_remove(&image);
	/* what is beyond any picture, as svg.c has it */
	cr_assert_null(strstr(picture, "1000000000000"));
	cr_assert_not_null(strstr(picture, "at most 13.1 EiB"));
}
