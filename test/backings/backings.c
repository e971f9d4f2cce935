// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "backings.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define SMALL_PAGE 4096
#define HUGE_PAGE  ((size_t)2 << 20)

const struct backing_case here_anonymous = {
	.option = "anonymous",
	.page_size = SMALL_PAGE,
	.is_pinnable = true,
};

const struct backing_case here_dma_heap = {
	.option = "dma_heap:system",
	.stand_in = "system",
	.page_size = SMALL_PAGE,
	.is_dmabuf = true,
	.descriptors = 2,
};

const struct backing_case here_udmabuf = {
	.option = "udmabuf",
	.stand_in = "udmabuf",
	.page_size = SMALL_PAGE,
	.is_dmabuf = true,
	.is_pinnable = true,
	.descriptors = 3,
};

/* The size of a page has to be asked for. */
const struct backing_case machine_hugetlb = {
	.option = "hugetlb",
	.page_size = HUGE_PAGE,
	.is_pinnable = true,
	.descriptors = 1,
};

const struct backing_case machine_hugetlb_2M = {
	.option = "hugetlb:2M",
	.page_size = HUGE_PAGE,
	.is_pinnable = true,
};

const struct backing_case machine_dma_heap = {
	.option = "dma_heap:system",
	.page_size = SMALL_PAGE,
	.is_dmabuf = true,
	.descriptors = 2,
};

const struct backing_case machine_udmabuf = {
	.option = "udmabuf",
	.page_size = SMALL_PAGE,
	.is_dmabuf = true,
	.is_pinnable = true,
	.descriptors = 3,
};

void choose_backing(const struct backing_case *backing)
{
	cr_assert_eq(sysconf(_SC_PAGESIZE), SMALL_PAGE);
	setenv("IBVBUF_BACKING", backing->option, 1);
	heap_offer(backing->stand_in);
}

struct ibv_pd *the_domain(void)
{
	static struct ibv_context context;
	static struct ibv_pd *pd;

	if (!pd)
		pd = ibv_alloc_pd(&context);
	cr_assert_not_null(pd);
	return pd;
}

struct memory new_buffer(size_t size)
{
	struct memory memory = {.pd = the_domain(), .size = size};

	memory.address = ibv_alloc_buf(memory.pd, size, &memory.buf);
	cr_assert_not_null(memory.address, "no buffer of %zu bytes: errno %d", size, errno);
	return memory;
}

void warm_up(void)
{
	static struct possessions nothing;
	struct memory memory = new_buffer(1);

	cr_assert_null(ibv_reg_buf_mr(memory.pd, memory.buf, memory.address, 2, 0));
	ibv_free_buf(memory.buf);
	/* The C library sets its own memory up as well. */
	free(malloc(100));
	note_possessions(&nothing);
}

const char *map_dmabuf(int fd, size_t *size)
{
	off_t end = lseek(fd, 0, SEEK_END);
	const char *mapped;

	cr_assert_gt(end, 0);
	*size = (size_t)end;
	mapped = mmap(NULL, *size, PROT_READ, MAP_SHARED, fd, 0);
	cr_assert_neq(mapped, MAP_FAILED, "errno %d", errno);
	return mapped;
}

/* They are given out from the lowest on, below a limit on the number. */
void limit_descriptors(unsigned int more)
{
	struct rlimit limit;
	int fd;

	for (fd = 0; more > 0 || fcntl(fd, F_GETFD) >= 0; fd++)
		more -= fcntl(fd, F_GETFD) < 0;
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = (rlim_t)fd;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

void limit_address_space(size_t more)
{
	FILE *file = fopen("/proc/self/statm", "r");
	struct rlimit limit;
	unsigned long pages;

	cr_assert_not_null(file);
	cr_assert_eq(fscanf(file, "%lu", &pages), 1);
	fclose(file);
	limit.rlim_cur = pages * SMALL_PAGE + more;
	limit.rlim_max = RLIM_INFINITY;
	cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
}

void assert_no_buffer(int error, size_t size)
{
	static struct possessions before;
	struct ibv_buf *untouched = (struct ibv_buf *)&before;
	struct ibv_buf *buf = untouched;
	struct ibv_pd *pd = the_domain();
	void *address;
	int got;

	note_possessions(&before);
	errno = 0;
	address = ibv_alloc_buf(pd, size, &buf);
	got = errno;
	cr_assert_null(address, "there is a buffer of %zu bytes", size);
	cr_assert_eq(got, error, "errno is %d and not %d", got, error);
	cr_assert_eq(buf, untouched);
	assert_possessions(&before);
}
