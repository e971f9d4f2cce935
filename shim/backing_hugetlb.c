// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Buffers of huge pages that the administrator has set aside (vm.nr_hugepages). None are shared, so
 * even a small buffer takes a whole one.
 */
#define _GNU_SOURCE
#include "backing.h"
#include "huge_pages.h"
#include "report.h"

#include <errno.h>
#include <sys/mman.h>

/* log2 of the page size goes into these bits of the flags of mmap (Linux 3.8). */
#define HUGE_SHIFT 26

/* 0 with errno set: why it cannot be told, or that the system has no huge pages. */
static size_t default_size(void)
{
	size_t size;

	errno = 0;
	size = huge_pages_default_size();
	if (!size && !errno)
		errno = EOPNOTSUPP;
	return size;
}

static int allocate_hugetlb(const struct backing_choice *choice, int device_fd, size_t size,
			    struct backing_memory *memory)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB;
	size_t page_size = choice->huge_page_size;
	size_t length;
	void *address;

	(void)device_fd;
	if (page_size)
		flags |= (int)((unsigned int)__builtin_ctzl(page_size) << HUGE_SHIFT);
	else
		page_size = default_size();
	if (!page_size)
		return -1;
	length = backing_length(size, page_size);
	if (!length) {
		errno = ENOMEM;
		return -1;
	}
	address = mmap(NULL, length, PROT_READ | PROT_WRITE, flags, -1, 0);
	/* EINVAL stays EINVAL: the system has no pages of that size. */
	if (address == MAP_FAILED) {
		report_problem(PROBLEM_NO_HUGE_PAGES, length, NULL);
		return -1;
	}
	*memory = (struct backing_memory){address, length, -1};
	return 0;
}

const struct backing backing_hugetlb = {
	.kind = BACKING_HUGETLB,
	.name = "hugetlb",
	.is_private = true,
	.is_pinnable = true,
	.allocate = allocate_hugetlb,
};
