// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Every kind of memory over the real library, the real kernel, and a real device: what RDMA writes
 * is read by another mapping of the exported DMA-buf.
 *
 * One queue pair is connected to itself.
 */
#define _GNU_SOURCE
#include "possessions.h"
#include "rc_connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define HALF 8192
#define SIZE (2 * HALF - 100)

/* A socket whose peer is itself. */
static int socket_to_itself(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	cr_assert_geq(fd, 0);
	cr_assert_eq(bind(fd, (struct sockaddr *)&address, length), 0);
	cr_assert_eq(getsockname(fd, (struct sockaddr *)&address, &length), 0);
	cr_assert_eq(connect(fd, (struct sockaddr *)&address, length), 0);
	return fd;
}

static struct rc_connection connection;
static int self;

/* Write the first half of the buffer over the second, by way of the device. */
static void write_over_rdma(const struct ibv_mr *mr, char *address)
{
	struct rc_memory source = {.addr = address, .length = 4000, .lkey = mr->lkey};
	struct rc_window target = {.addr = (uintptr_t)address + HALF, .rkey = mr->rkey};

	memset(address, 0x77, 4000);
	/* The library's own memory is not zero-filled. */
	memset(address + HALF, 0, SIZE - HALF);
	cr_assert_eq(rc_write(&connection, &source, &target), 0);
}

static void assert_dmabuf_holds(int fd, const char *bytes, size_t length)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *mapped;

	cr_assert_eq(size, 2 * HALF);
	mapped = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
	cr_assert_neq(mapped, MAP_FAILED);
	cr_assert_eq(memcmp(mapped + HALF, bytes, length), 0);
	cr_assert_eq(mapped[HALF + length], 0);
	cr_assert_eq(munmap(mapped, (size_t)size), 0);
}

/* From allocation to release. The reason if the buffer cannot be registered, else 0. */
static int use_buffer(bool is_dmabuf)
{
	char *address;
	struct ibv_buf *buf;
	struct ibv_mr *mr;
	char expected[4000];
	int error = 0;
	int fd;

	memset(expected, 0x77, sizeof(expected));
	address = ibv_alloc_buf(connection.pd, SIZE, &buf);
	cr_assert_not_null(address, "errno %d", errno);
	errno = 0;
	fd = ibv_export_buf_dmabuf_fd(buf);
	cr_assert_eq(fd >= 0, is_dmabuf);
	cr_assert_eq(errno, is_dmabuf ? 0 : ENODATA);
	mr = ibv_reg_buf_mr(connection.pd, buf, address, SIZE,
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (mr) {
		write_over_rdma(mr, address);
		cr_assert_eq(memcmp(address + HALF, expected, sizeof(expected)), 0);
		cr_assert_eq(ibv_dereg_mr(mr), 0);
	} else {
		error = errno;
		memcpy(address + HALF, expected, sizeof(expected));
	}
	ibv_free_buf(buf);
	if (is_dmabuf) {
		/* It outlives the buffer. */
		assert_dmabuf_holds(fd, expected, sizeof(expected));
		cr_assert_eq(close(fd), 0);
	}
	return error;
}

static void connect_to_itself(void)
{
	struct rc_options options = {.port = 1, .gid_index = -1};
	struct rc_window none;

	cr_assert_eq(rc_open(&connection, &options), 0);
	self = socket_to_itself();
	cr_assert_eq(rc_connect(&connection, self, &none, &none, 0), 0);
}

static void assert_works(bool is_dmabuf, int error)
{
	static struct possessions before;
	int i;

	connect_to_itself();
	/* Twice: libibverbs and the C library have memory of their own to set up. */
	cr_assert_eq(use_buffer(is_dmabuf), error);
	cr_assert_eq(use_buffer(is_dmabuf), error);
	note_possessions(&before);
	for (i = 0; i < 5; i++)
		cr_assert_eq(use_buffer(is_dmabuf), error);
	assert_possessions(&before);
	rc_close(&connection);
	close(self);
}

static void assert_backing_works(const char *option, bool is_dmabuf, int error)
{
	setenv("IBVBUF_BACKING", option, 1);
	assert_works(is_dmabuf, error);
}

/* Of the library, if it has buffers. */
Test(rdma, what_nobody_chose)
{
	assert_works(false, 0);
}

Test(rdma, anonymous)
{
	assert_backing_works("anonymous", false, 0);
}

Test(rdma, hugetlb)
{
	assert_backing_works("hugetlb", false, 0);
}

Test(rdma, hugetlb_of_2M)
{
	assert_backing_works("hugetlb:2M", false, 0);
}

/* Soft-RoCE cannot register a DMA-buf, and memory of a heap cannot be registered otherwise. */
Test(rdma, dma_heap_is_eopnotsupp_on_soft_roce)
{
	assert_backing_works("dma_heap:system", true, EOPNOTSUPP);
}

Test(rdma, udmabuf)
{
	assert_backing_works("udmabuf", true, 0);
}

Test(rdma, unprotected_memory_in_a_rehearsal)
{
	setenv("IBVBUF_CC_REHEARSAL", "yes", 1);
	capture_errors();
	assert_works(true, 0);
	cr_assert_not_null(connection.plain_pd);
}

Test(rdma, unprotected_memory_of_a_heap_in_a_rehearsal_is_eopnotsupp_on_soft_roce)
{
	setenv("IBVBUF_CC_REHEARSAL", "yes", 1);
	capture_errors();
	setenv("IBVBUF_CC_HEAP", "system", 1);
	assert_works(true, EOPNOTSUPP);
}

Test(rdma, protected_memory_in_a_rehearsal_is_eopnotsupp)
{
	static char bytes[100];

	setenv("IBVBUF_CC_REHEARSAL", "yes", 1);
	capture_errors();
	connect_to_itself();
	errno = 0;
	cr_assert_null(ibv_reg_mr(connection.pd, bytes, sizeof(bytes), 0));
	cr_assert_eq(errno, EOPNOTSUPP);
	cr_assert_eq(occurrences(captured_errors(), "protected in a confidential guest"), 1);
	rc_close(&connection);
	close(self);
}
