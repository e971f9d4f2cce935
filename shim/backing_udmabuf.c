// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Buffers that are a DMA-buf and ordinary memory at once: a memfd, wrapped by /dev/udmabuf. The
 * mapping of the memfd can be pinned like any other, so this kind works on every device: through
 * its descriptor where library, provider and kernel can register one, through its address where
 * not.
 */
#define _GNU_SOURCE
#include "backing.h"
#include "raw_file.h"
#include "report.h"
#include "small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UDMABUF_DEVICE	   "/dev/udmabuf"
#define UDMABUF_SIZE_LIMIT "/sys/module/udmabuf/parameters/size_limit_mb"

/* As <linux/udmabuf.h>, <linux/memfd.h> and <fcntl.h> have it, from Linux 3.17 and 4.20 on. */
struct udmabuf_creation {
	uint32_t memfd;
	uint32_t flags;
	uint64_t offset;
	uint64_t size;
};
#define UDMABUF_CLOSE_ON_EXEC 1
#define UDMABUF_MAKE	      _IOW('u', 0x42, struct udmabuf_creation)
#define MEMFD_CLOSE_ON_EXEC   1
#define MEMFD_ALLOW_SEALING   2
#ifndef SYS_memfd_create
#ifdef __x86_64__
#define SYS_memfd_create 319
#else
#define SYS_memfd_create 279
#endif
#endif
#ifndef F_ADD_SEALS
#define F_ADD_SEALS 1033
#endif
#ifndef F_SEAL_SHRINK
#define F_SEAL_SHRINK 2
#endif

/* Beyond the limit on files the kernel would not only refuse, but also send SIGXFSZ. */
static int set_length(int fd, size_t length)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	    length > limit.rlim_cur) {
		errno = EFBIG;
		return -1;
	}
	return ftruncate(fd, (off_t)length);
}

/* A memfd of that length which nobody can shorten, as udmabuf wants it. */
static int make_memfd(size_t length)
{
	int fd = raw_off_standard((int)syscall(SYS_memfd_create, "ibvbuf",
					       MEMFD_CLOSE_ON_EXEC | MEMFD_ALLOW_SEALING));

	if (fd < 0)
		return -1;
	if (set_length(fd, length) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0) {
		raw_close(fd);
		return -1;
	}
	return fd;
}

/* The kernel says EINVAL to what is over its limit; tell that from a real EINVAL. */
static bool is_over_limit(size_t length)
{
	char text[32];

	return small_file_read(UDMABUF_SIZE_LIMIT, text, sizeof(text)) > 0 &&
	       length >> 20 >= strtoull(text, NULL, 10) &&
	       length > (size_t)strtoull(text, NULL, 10) << 20;
}

int backing_open_udmabuf(void)
{
	int fd = raw_open(UDMABUF_DEVICE, O_RDWR, 0);

	if (fd < 0)
		report_no_device(UDMABUF_DEVICE, errno);
	return fd;
}

static int wrap(int device_fd, int memfd, size_t length)
{
	struct udmabuf_creation creation = {
		.memfd = (uint32_t)memfd,
		.flags = UDMABUF_CLOSE_ON_EXEC,
		.size = length,
	};
	int opened = -1;
	int fd, error;

	if (device_fd < 0) {
		opened = backing_open_udmabuf();
		if (opened < 0)
			return -1;
		device_fd = opened;
	}
	fd = raw_off_standard(ioctl(device_fd, UDMABUF_MAKE, &creation));
	error = errno;
	if (opened >= 0)
		raw_close(opened);
	if (fd < 0 && error == EINVAL && is_over_limit(length)) {
		report_problem(PROBLEM_UDMABUF_LIMIT, length, NULL);
		error = EFBIG;
	}
	errno = error;
	return fd;
}

static int allocate_udmabuf(const struct backing_choice *choice, int device_fd, size_t size,
			    struct backing_memory *memory)
{
	size_t length = backing_length(size, (size_t)getpagesize());
	int memfd, fd, error;
	void *address;

	(void)choice;
	if (!length) {
		errno = ENOMEM;
		return -1;
	}
	memfd = make_memfd(length);
	if (memfd < 0)
		return -1;
	fd = wrap(device_fd, memfd, length);
	if (fd < 0) {
		error = errno;
		goto err_memfd;
	}
	address = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	if (address == MAP_FAILED) {
		error = errno;
		goto err_udmabuf;
	}
	/* The mapping and the DMA-buf hold the pages; the memfd itself is not needed again. */
	raw_close(memfd);
	*memory = (struct backing_memory){address, length, fd};
	return 0;

err_udmabuf:
	raw_close(fd);
err_memfd:
	raw_close(memfd);
	errno = error;
	return -1;
}

const struct backing backing_udmabuf = {
	.kind = BACKING_UDMABUF,
	.name = "udmabuf",
	.is_private = false,
	.is_pinnable = true,
	.allocate = allocate_udmabuf,
};
