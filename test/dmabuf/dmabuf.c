// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Buffers in DMA-bufs on a device that registers these: another process writes into them over RDMA,
 * and a second mapping of the exported descriptor has the bytes.
 */
#define _GNU_SOURCE
#include "attachments.h"
#include "possessions.h"
#include "rc_connection.h"
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ACCESS	 (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)
#define MEBIBYTE ((size_t)1 << 20)

static void heap(void)
{
	setenv("IBVBUF_BACKING", "dma_heap:system", 1);
}

static void udmabuf(void)
{
	setenv("IBVBUF_BACKING", "udmabuf", 1);
}

static void rehearsal_with_heap(void)
{
	setenv("IBVBUF_CC_REHEARSAL", "yes", 1);
	setenv("IBVBUF_CC_HEAP", "system", 1);
	capture_errors();
}

static void rehearsal(void)
{
	setenv("IBVBUF_CC_REHEARSAL", "yes", 1);
	capture_errors();
}

/* A test of that name for every way to a DMA-buf. */
#define EVERY_DMABUF(name)                                                                         \
	static void name(void);                                                                    \
	DMABUF_TEST(heap, name)                                                                    \
	DMABUF_TEST(udmabuf, name)                                                                 \
	DMABUF_TEST(rehearsal_with_heap, name)                                                     \
	DMABUF_TEST(rehearsal, name)                                                               \
	static void name(void)

#define DMABUF_TEST(suite, name)                                                                   \
	Test(suite, name)                                                                          \
	{                                                                                          \
		writer_start();                                                                    \
		suite();                                                                           \
		writer_connect(&connection);                                                       \
		name();                                                                            \
		writer_end(&connection);                                                           \
		assert_dmabufs(0, 0);                                                              \
	}

static struct rc_connection connection;

struct memory {
	size_t size;
	char *address;
	struct ibv_buf *buf;
	const char *exported; /* the exported descriptor, mapped */
	int fd;
};

static struct memory new_buffer(size_t size)
{
	struct memory memory = {.size = size};
	void *mapped;

	memory.address = ibv_alloc_buf(connection.pd, size, &memory.buf);
	cr_assert_not_null(memory.address, "errno %d", errno);
	memory.fd = ibv_export_buf_dmabuf_fd(memory.buf);
	cr_assert_geq(memory.fd, 3);
	mapped = mmap(NULL, size, PROT_READ, MAP_SHARED, memory.fd, 0);
	cr_assert_neq(mapped, MAP_FAILED);
	memory.exported = mapped;
	return memory;
}

static void forget_export(struct memory *memory)
{
	cr_assert_eq(munmap((void *)(uintptr_t)memory->exported, memory->size), 0);
	cr_assert_eq(close(memory->fd), 0);
}

static void free_buffer(struct memory *memory)
{
	ibv_free_buf(memory->buf);
	forget_export(memory);
}

static struct ibv_mr *register_part(const struct memory *memory, size_t offset, size_t length)
{
	struct ibv_mr *mr = ibv_reg_buf_mr(connection.pd, memory->buf, memory->address + offset,
					   length, ACCESS);

	cr_assert_not_null(mr, "errno %d", errno);
	return mr;
}

static bool writes(const struct memory *memory, const struct ibv_mr *mr, size_t offset, char value,
		   size_t length)
{
	return writer_writes((uintptr_t)memory->address + offset, mr->rkey, value, length);
}

/* Whether these bytes, and neither the one before them nor the one after, have the value. */
static bool holds(const char *bytes, size_t offset, char value, size_t length)
{
	return bytes[offset] == value && !memcmp(bytes + offset, bytes + offset + 1, length - 1) &&
	       (offset == 0 || bytes[offset - 1] != value) && bytes[offset + length] != value;
}

EVERY_DMABUF(it_is_registered_through_its_descriptor)
{
	struct memory memory = new_buffer(20000);
	struct ibv_mr *mr;

	assert_dmabufs(1, 0);
	mr = register_part(&memory, 0, 20000);
	cr_assert_null(mr->addr);
	cr_assert_eq(mr->length, 20000);
	assert_dmabufs(1, 1);
	cr_assert_eq(ibv_dereg_mr(mr), 0);
	assert_dmabufs(1, 0);
	free_buffer(&memory);
}

EVERY_DMABUF(the_exported_descriptor_shows_what_rdma_wrote)
{
	struct memory memory = new_buffer(20000);
	struct ibv_mr *mr = register_part(&memory, 0, 20000);

	cr_assert(writes(&memory, mr, 1000, 'a', 17000));
	cr_assert(holds(memory.exported, 1000, 'a', 17000));
	cr_assert(holds(memory.address, 1000, 'a', 17000));
	cr_assert_eq(ibv_dereg_mr(mr), 0);
	free_buffer(&memory);
}

/* A heap gives pieces of up to 1 MiB, and single pages for the rest: writes that cross their
 * bounds. */
EVERY_DMABUF(every_page_of_a_large_one_is_the_right_one)
{
	struct memory memory = new_buffer(3 * MEBIBYTE + 20000);
	struct ibv_mr *mr = register_part(&memory, 0, memory.size);

	cr_assert(writes(&memory, mr, MEBIBYTE - 50000, 'b', 100000));
	cr_assert(writes(&memory, mr, 3 * MEBIBYTE - 10001, 'c', 25000));
	cr_assert(holds(memory.exported, MEBIBYTE - 50000, 'b', 100000));
	cr_assert(holds(memory.exported, 3 * MEBIBYTE - 10001, 'c', 25000));
	cr_assert_eq(ibv_dereg_mr(mr), 0);
	free_buffer(&memory);
}

EVERY_DMABUF(a_part_is_registered_at_its_offset)
{
	struct memory memory = new_buffer(2 * MEBIBYTE);
	size_t offset = MEBIBYTE + 5000;
	struct ibv_mr *mr = register_part(&memory, offset, 10000);

	cr_assert_eq((uintptr_t)mr->addr, offset);
	cr_assert_eq(mr->length, 10000);
	cr_assert(writes(&memory, mr, offset, 'd', 10000));
	cr_assert(holds(memory.exported, offset, 'd', 10000));
	cr_assert_eq(ibv_dereg_mr(mr), 0);
	free_buffer(&memory);
}

EVERY_DMABUF(the_device_refuses_a_byte_beyond_the_part)
{
	struct memory memory = new_buffer(20000);
	struct ibv_mr *mr = register_part(&memory, 5000, 10000);

	capture_errors();
	cr_assert(!writes(&memory, mr, 5001, 'e', 10000));
	cr_assert_eq(memory.exported[15000], 0);
	cr_assert_eq(ibv_dereg_mr(mr), 0);
	free_buffer(&memory);
}

EVERY_DMABUF(parts_that_overlap_are_regions_of_their_own)
{
	struct memory memory = new_buffer(40000);
	struct ibv_mr *first = register_part(&memory, 0, 30000);
	struct ibv_mr *second = register_part(&memory, 10000, 30000);

	assert_dmabufs(1, 2);
	cr_assert(writes(&memory, first, 11000, 'f', 1000));
	cr_assert(holds(memory.exported, 11000, 'f', 1000));
	cr_assert_eq(ibv_dereg_mr(first), 0);
	cr_assert(writes(&memory, second, 11000, 'g', 1000));
	cr_assert(holds(memory.exported, 11000, 'g', 1000));
	cr_assert_eq(ibv_dereg_mr(second), 0);
	free_buffer(&memory);
}

/* The region has a reference of its own. */
EVERY_DMABUF(it_is_written_to_safely_after_it_was_freed)
{
	struct memory memory = new_buffer(20000);
	struct ibv_mr *mr = register_part(&memory, 0, 20000);

	ibv_free_buf(memory.buf);
	assert_dmabufs(1, 1);
	cr_assert(writes(&memory, mr, 100, 'h', 15000));
	cr_assert(holds(memory.exported, 100, 'h', 15000));
	forget_export(&memory);
	assert_dmabufs(1, 1);
	cr_assert(writes(&memory, mr, 100, 'i', 15000));
	cr_assert_eq(ibv_dereg_mr(mr), 0);
	assert_dmabufs(0, 0);
}

EVERY_DMABUF(the_export_outlives_region_and_buffer)
{
	struct memory memory = new_buffer(20000);
	struct ibv_mr *mr = register_part(&memory, 0, 20000);

	cr_assert(writes(&memory, mr, 300, 'j', 15000));
	cr_assert_eq(ibv_dereg_mr(mr), 0);
	ibv_free_buf(memory.buf);
	assert_dmabufs(1, 0);
	cr_assert(holds(memory.exported, 300, 'j', 15000));
	forget_export(&memory);
}

static void use(size_t size)
{
	struct memory memory = new_buffer(size);
	struct ibv_mr *whole = register_part(&memory, 0, size);
	struct ibv_mr *part = register_part(&memory, size / 2, size / 4);

	cr_assert(writes(&memory, part, size / 2, 'k', size / 4));
	cr_assert(holds(memory.exported, size / 2, 'k', size / 4));
	cr_assert_eq(ibv_dereg_mr(part), 0);
	cr_assert_eq(ibv_dereg_mr(whole), 0);
	free_buffer(&memory);
}

EVERY_DMABUF(nothing_is_left_when_it_is_freed)
{
	static struct possessions before;
	int i;

	/* Twice: libibverbs and the C library have memory of their own to set up. */
	use(20000);
	use(20000);
	note_possessions(&before);
	for (i = 0; i < 5; i++) {
		use(5000);
		use(300000);
	}
	assert_possessions(&before);
	assert_dmabufs(0, 0);
}

EVERY_DMABUF(a_probe_without_a_descriptor_says_that_there_is_support)
{
	errno = 0;
	cr_assert_null(ibv_reg_dmabuf_mr(connection.pd, 0, 4096, 0, -1, ACCESS));
	cr_assert_eq(errno, EBADF);
}

EVERY_DMABUF(a_range_beyond_the_end_is_the_kernels_to_refuse)
{
	struct memory memory = new_buffer(8192);

	errno = 0;
	cr_assert_null(ibv_reg_dmabuf_mr(connection.pd, 4096, 8192, 4096, memory.fd, ACCESS));
	cr_assert_eq(errno, EINVAL);
	assert_dmabufs(1, 0);
	free_buffer(&memory);
}

/* Nobody deregisters, frees or closes. */
EVERY_DMABUF(the_kernel_releases_all_of_a_process_that_ends)
{
	pid_t child = fork();
	int status;

	cr_assert_geq(child, 0);
	if (!child) {
		struct rc_options options = {.port = 1, .gid_index = -1};
		struct memory memory;

		rc_open(&connection, &options);
		memory = new_buffer(20000);
		register_part(&memory, 0, 20000);
		_exit(dmabufs_of_kernel().attachments == 1 ? 42 : 1);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status));
	cr_assert_eq(WEXITSTATUS(status), 42);
	assert_dmabufs(0, 0);
}
