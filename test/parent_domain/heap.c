// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "heap.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STAND_IN "ibvbuf stand-in heap"

static const char *offered;
static int failure;
static unsigned int openings, allocations, vain_closes;
static void (*event)(void);

void heap_offer(const char *name)
{
	offered = name;
}

void heap_fail(int error)
{
	failure = error;
}

void heap_while_opened(void (*function)(void))
{
	event = function;
}

unsigned int heap_vain_closes(void)
{
	return vain_closes;
}

unsigned int heap_openings(void)
{
	return openings;
}

unsigned int heap_allocations(void)
{
	return allocations;
}

static bool is_heap(const char *path)
{
	return !strncmp(path, "/dev/dma_heap/", strlen("/dev/dma_heap/")) ||
	       !strcmp(path, "/dev/udmabuf");
}

/* A stand-in for a device of that path, or -2 for what has none. */
static long open_stand_in(const char *path, long flags)
{
	if (!is_heap(path))
		return -2;
	if (!(flags & O_CLOEXEC)) {
		errno = EBADF;
		return -1;
	}
	__atomic_add_fetch(&openings, 1, __ATOMIC_RELAXED);
	if (!offered || strcmp(strrchr(path, '/') + 1, offered))
		return -2;
	if (event)
		event();
	return memfd_create(STAND_IN, MFD_CLOEXEC);
}

/* The preload's files are opened and closed by this, see shim/raw_file.h. */
long syscall(long number, ...)
{
	long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long arguments[6];
	long result = -2;
	va_list list;
	size_t i;

	va_start(list, number);
	for (i = 0; i < 6; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_openat)
		result = open_stand_in((const char *)arguments[1], arguments[2]);
	if (result != -2)
		return result;
	result = next(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
		      arguments[5]);
	if (number == SYS_close && result)
		__atomic_add_fetch(&vain_closes, 1, __ATOMIC_RELAXED);
	return result;
}

static bool is_stand_in(int fd)
{
	char path[64], target[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, target, sizeof(target) - 1) > 0 && strstr(target, STAND_IN);
}

static int take_memory(struct dma_heap_allocation_data *allocation)
{
	int fd = memfd_create("ibvbuf stand-in DMA-buf",
			      allocation->fd_flags & O_CLOEXEC ? MFD_CLOEXEC : 0);

	if (fd < 0)
		return -1;
	if (ftruncate(fd, (off_t)allocation->len)) {
		close(fd);
		return -1;
	}
	allocation->fd = (unsigned int)fd;
	return 0;
}

/* It takes nothing that a program could inherit which another thread starts just now. */
static int wrap_memory(const struct udmabuf_create *creation)
{
	if (fcntl((int)creation->memfd, F_GETFD) != FD_CLOEXEC) {
		errno = EBADF;
		return -1;
	}
	return fcntl((int)creation->memfd,
		     creation->flags & UDMABUF_FLAGS_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
}

int ioctl(int fd, unsigned long request, ...)
{
	int (*next)(int, unsigned long, ...) =
		(int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
	va_list list;
	void *argument;

	va_start(list, request);
	argument = va_arg(list, void *);
	va_end(list);
	if (request == DMA_HEAP_IOCTL_ALLOC || request == UDMABUF_CREATE) {
		__atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
		if (failure) {
			errno = failure;
			return -1;
		}
		if (is_stand_in(fd))
			return request == UDMABUF_CREATE ? wrap_memory(argument)
							 : take_memory(argument);
	}
	return next(fd, request, argument);
}
