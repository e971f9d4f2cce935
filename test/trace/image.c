// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define START_MONOTONIC UINT64_C(5000000000)
#define START_REALTIME	UINT64_C(1700000000000000000)

static void fail(const char *what)
{
	perror(what);
	abort();
}

struct image image_new(uint64_t capacity, unsigned int stack)
{
	const size_t devices = sizeof(struct ibvbuf_trace_header);
	const size_t modules = devices + IMAGE_DEVICES * sizeof(struct ibvbuf_trace_device);
	const size_t records = modules + IMAGE_MODULES * sizeof(struct ibvbuf_trace_module);
	const size_t slot = (sizeof(struct ibvbuf_trace_record) + stack * 8 + 63) / 64 * 64;
	struct ibvbuf_trace_header *header;
	struct image image;
	void *bytes;
	int fd;

	snprintf(image.path, sizeof(image.path), "/tmp/ibvbuf-trace-test.XXXXXX");
	image.size = records + capacity * slot;
	fd = mkstemp(image.path);
	if (fd < 0 || ftruncate(fd, (off_t)image.size))
		fail(image.path);
	bytes = mmap(NULL, image.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		fail(image.path);
	close(fd);
	header = bytes;
	image.header = header;
	image.devices = (struct ibvbuf_trace_device *)((char *)bytes + devices);
	image.modules = (struct ibvbuf_trace_module *)((char *)bytes + modules);
	memcpy(header->magic, IBVBUF_TRACE_MAGIC, sizeof(header->magic));
	header->byte_order = IBVBUF_TRACE_BYTE_ORDER;
	header->version_major = IBVBUF_TRACE_VERSION_MAJOR;
	header->version_minor = IBVBUF_TRACE_VERSION_MINOR;
	header->header_size = sizeof(*header);
	header->device_size = sizeof(struct ibvbuf_trace_device);
	header->module_size = sizeof(struct ibvbuf_trace_module);
	header->record_size = (uint32_t)slot;
	header->device_capacity = IMAGE_DEVICES;
	header->module_capacity = IMAGE_MODULES;
	header->stack_capacity = stack;
	header->devices_offset = devices;
	header->modules_offset = modules;
	header->records_offset = records;
	header->record_capacity = capacity;
	header->start_monotonic = START_MONOTONIC;
	header->start_realtime = START_REALTIME;
	header->process = (uint32_t)getpid();
	header->rank = -1;
	header->slots_allocated = capacity;
	strcpy(header->host, "node1");
	strcpy(header->program, "/usr/bin/program");
	return image;
}

void image_remove(struct image *image)
{
	munmap(image->header, image->size);
	unlink(image->path);
}

struct ibvbuf_trace_record *image_slot(const struct image *image, uint64_t slot)
{
	return (struct ibvbuf_trace_record *)((char *)image->header +
					      image->header->records_offset +
					      slot * image->header->record_size);
}

struct ibvbuf_trace_record *image_add(struct image *image, uint64_t end)
{
	const uint64_t number = image->header->claimed++;
	struct ibvbuf_trace_record *record =
		image_slot(image, number % image->header->record_capacity);

	memset(record, 0, image->header->record_size);
	record->duration = 10;
	record->time = image->header->start_monotonic + end - record->duration;
	record->fd = -1;
	record->call = IBVBUF_TRACE_REG_MR;
	record->state = 2 * (number + 1);
	return record;
}

void image_add_device(struct image *image, unsigned int index, const char *name)
{
	snprintf(image->devices[index].name, sizeof(image->devices[index].name), "%s", name);
	image->devices[index].state = 1;
}

void image_add_module(struct image *image, unsigned int index, const char *path, uint64_t start,
		      uint64_t end)
{
	struct ibvbuf_trace_module *module = &image->modules[index];

	snprintf(module->path, sizeof(module->path), "%s", path);
	module->since = image->header->start_monotonic;
	module->start = start;
	module->end = end;
	module->bias = start;
	module->state = 1;
}
