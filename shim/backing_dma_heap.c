// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Buffers from a DMA-buf heap of the kernel. In a confidential guest the heap system_cc_shared
 * holds the memory that a device can reach. The mapping cannot be pinned: such a buffer is
 * registered through its descriptor, or not at all.
 */
#define _GNU_SOURCE
#include "backing.h"
#include "raw_file.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEAP_DIRECTORY "/dev/dma_heap/"

/* As <linux/dma-heap.h> has it, which systems older than the kernel they run lack. */
struct heap_allocation {
	uint64_t length;
	uint32_t fd;
	uint32_t fd_flags;
	uint64_t heap_flags;
};
#define HEAP_ALLOCATE _IOWR('H', 0x0, struct heap_allocation)

int backing_open_heap(const char *name)
{
	char path[sizeof(HEAP_DIRECTORY) + NAME_MAX] = HEAP_DIRECTORY;

	int fd;

	strncat(path, name, NAME_MAX);
	fd = raw_open(path, O_RDWR, 0);
	if (fd < 0)
		report_no_device(path, errno);
	return fd;
}

static int allocate_from(int heap_fd, size_t length)
{
	struct heap_allocation allocation = {
		.length = length,
		.fd_flags = O_RDWR | O_CLOEXEC,
	};

	if (ioctl(heap_fd, HEAP_ALLOCATE, &allocation) < 0)
		return -1;
	return raw_off_standard((int)allocation.fd);
}

static int allocate_dma_heap(const struct backing_choice *choice, int device_fd, size_t size,
			     struct backing_memory *memory)
{
	size_t length = backing_length(size, (size_t)getpagesize());
	int opened = -1;
	void *address;
	int fd, error;

	if (!length) {
		errno = ENOMEM;
		return -1;
	}
	if (device_fd < 0) {
		opened = backing_open_heap(choice->heap);
		if (opened < 0)
			return -1;
		device_fd = opened;
	}
	fd = allocate_from(device_fd, length);
	error = errno;
	if (opened >= 0)
		raw_close(opened);
	if (fd < 0)
		goto err;

	address = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (address == MAP_FAILED) {
		error = errno;
		raw_close(fd);
		goto err;
	}
	*memory = (struct backing_memory){address, length, fd};
	return 0;

err:
	errno = error;
	return -1;
}

const struct backing backing_dma_heap = {
	.kind = BACKING_DMA_HEAP,
	.name = "dma_heap",
	.is_private = false,
	.is_pinnable = false,
	.allocate = allocate_dma_heap,
};
