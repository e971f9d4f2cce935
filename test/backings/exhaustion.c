// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A DMA-buf heap with no memory left. Of the whole machine's memory a heap takes all there is, and
 * the kernel kills processes to have more; so it is that of a control group which runs out, whose
 * only process may not be killed. That needs a kernel that counts the memory of heaps there (Linux
 * 7, with dma_heap.mem_accounting=1).
 */
#define _GNU_SOURCE
#include "backings.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define GROUPS	    "/tmp/groups"
#define GROUP	    GROUPS "/heap"
#define LIMIT	    "67108864"
#define BUFFER_SIZE ((size_t)4 << 20)
#define MOST	    (64 / 4)

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	cr_assert_geq(fd, 0, "%s: errno %d", path, errno);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text), "%s: errno %d", path,
		     errno);
	close(fd);
}

static void enter_small_group(void)
{
	cr_assert_eq(mkdir(GROUPS, 0755), 0);
	cr_assert_eq(mount("groups", GROUPS, "cgroup2", 0, NULL), 0);
	put(GROUPS "/cgroup.subtree_control", "+memory");
	cr_assert_eq(mkdir(GROUP, 0755), 0);
	put(GROUP "/memory.max", LIMIT);
	put("/proc/self/oom_score_adj", "-1000");
	put(GROUP "/cgroup.procs", "0");
}

/* Buffers until there are no more, for want of memory. How many. */
static unsigned int exhaust(struct memory *taken)
{
	unsigned int count;
	void *address;

	for (count = 0; count < MOST; count++) {
		errno = 0;
		address = ibv_alloc_buf(the_domain(), BUFFER_SIZE, &taken[count].buf);
		if (!address)
			break;
		taken[count].address = address;
	}
	cr_assert_eq(errno, ENOMEM, "errno %d after %u buffers", errno, count);
	return count;
}

static void release(struct memory *taken, unsigned int count)
{
	while (count--)
		ibv_free_buf(taken[count].buf);
}

Test(limited_heap, without_memory_is_enomem_and_works_again_when_some_is_freed)
{
	static struct memory taken[MOST];
	static struct possessions before;
	unsigned int count, i;
	int fd;

	setenv("IBVBUF_BACKING", "dma_heap:system", 1);
	warm_up();
	enter_small_group();
	note_possessions(&before);
	note_possessions(&before);
	count = exhaust(taken);
	cr_assert_geq(count, MOST / 2);
	assert_no_buffer(ENOMEM, BUFFER_SIZE);

	/* What was given before is whole. */
	memset(taken[0].address, 0x5a, BUFFER_SIZE);
	fd = ibv_export_buf_dmabuf_fd(taken[0].buf);
	cr_assert_geq(fd, 3);
	close(fd);

	/* One that goes makes room for one. */
	ibv_free_buf(taken[--count].buf);
	taken[count] = new_buffer(BUFFER_SIZE);
	cr_assert_eq(taken[count++].address[BUFFER_SIZE - 1], 0);
	release(taken, count);
	assert_possessions(&before);

	for (i = 0; i < 3; i++) {
		cr_assert_eq(exhaust(taken), count);
		release(taken, count);
	}
	assert_possessions(&before);
}
