/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Trace files made by hand, record by record. */
#ifndef IBVBUF_TEST_TRACE_IMAGE_H
#define IBVBUF_TEST_TRACE_IMAGE_H

#include "ibvbuf/trace.h"

#include <stdbool.h>
#include <stddef.h>

#define IMAGE_DEVICES 4
#define IMAGE_MODULES 9
#define IMAGE_PATH    64

/**
 * struct image - a file, mapped as its writer maps it
 * @path: where it is
 * @header: its start; counters say that nothing was written yet
 * @devices: IMAGE_DEVICES
 * @modules: IMAGE_MODULES
 */
struct image {
	char path[IMAGE_PATH];
	size_t size;
	struct ibvbuf_trace_header *header;
	struct ibvbuf_trace_device *devices;
	struct ibvbuf_trace_module *modules;
};

/* A file for `capacity` records, with stacks of `stack` addresses; all of it has space. */
struct image image_new(uint64_t capacity, unsigned int stack);
void image_remove(struct image *image);

struct ibvbuf_trace_record *image_slot(const struct image *image, uint64_t slot);

/*
 * The next call: it ended at that time, counted from the start of the file, after 10 nanoseconds.
 * The rest is zero, but for what the caller stores.
 */
struct ibvbuf_trace_record *image_add(struct image *image, uint64_t end);

void image_add_device(struct image *image, unsigned int index, const char *name);
void image_add_module(struct image *image, unsigned int index, const char *path, uint64_t start,
		      uint64_t end);

#endif
