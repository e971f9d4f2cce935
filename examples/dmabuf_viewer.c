// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <linux/dma-buf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dmabuf_viewer.h"

/* What to look at; the descriptor goes with it. */
struct part {
	size_t offset;
	size_t length;
};

/* Room for one descriptor, aligned as the kernel wants it. */
union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int viewer_show(const struct viewer *viewer, int dmabuf_fd, size_t offset, size_t length)
{
	struct part part = {offset, length};
	struct iovec data = {&part, sizeof(part)};
	union control control = {.header = {.cmsg_len = 0}};
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(dmabuf_fd));
	memcpy(CMSG_DATA(header), &dmabuf_fd, sizeof(dmabuf_fd));
	if (sendmsg(viewer->socket, &message, MSG_NOSIGNAL) != sizeof(part)) {
		warn("cannot hand the DMA-buf over");
		return -1;
	}
	return 0;
}

/* The descriptor that comes; -1 if the other side has gone without sending one. */
static int receive(int socket, struct part *part)
{
	struct iovec data = {part, sizeof(*part)};
	union control control;
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header;
	ssize_t length;
	int dmabuf_fd;

	do {
		length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	} while (length < 0 && errno == EINTR);
	header = CMSG_FIRSTHDR(&message);
	if (length != sizeof(*part) || !header || header->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&dmabuf_fd, CMSG_DATA(header), sizeof(dmabuf_fd));
	return dmabuf_fd;
}

/* Tell the kernel that the processor reads, so that it sees what a device has written. */
static int access_by_processor(int dmabuf_fd, uint64_t start_or_end)
{
	struct dma_buf_sync sync = {.flags = DMA_BUF_SYNC_READ | start_or_end};
	int result;

	do {
		result = ioctl(dmabuf_fd, DMA_BUF_IOCTL_SYNC, &sync);
	} while (result < 0 && (errno == EINTR || errno == EAGAIN));
	return result;
}

static int view(int dmabuf_fd, const struct part *part, viewer_look *look, const void *argument)
{
	off_t size = lseek(dmabuf_fd, 0, SEEK_END);
	const char *bytes;
	int status;

	if (size < 0) {
		warn("cannot tell the size of the DMA-buf");
		return -1;
	}
	bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, dmabuf_fd, 0);
	if (bytes == MAP_FAILED) {
		warn("cannot map the DMA-buf");
		return -1;
	}
	if (access_by_processor(dmabuf_fd, DMA_BUF_SYNC_START)) {
		warn("cannot read the DMA-buf");
		return -1;
	}
	status = look(bytes + part->offset, part->length, argument);
	access_by_processor(dmabuf_fd, DMA_BUF_SYNC_END);
	if (!status)
		printf("%s: process %d, with the DMA-buf of %lld bytes alone: all of the %zu bytes "
		       "that RDMA wrote are there\n",
		       program_invocation_short_name, (int)getpid(), (long long)size, part->length);
	return status;
}

int viewer_start(struct viewer *viewer, viewer_look *look, const void *argument)
{
	struct part part = {0, 0};
	int sockets[2];
	int dmabuf_fd;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets)) {
		warn("socketpair");
		return -1;
	}
	fflush(stdout);
	viewer->process = fork();
	if (viewer->process == 0) {
		close(sockets[0]);
		dmabuf_fd = receive(sockets[1], &part);
		exit(dmabuf_fd >= 0 && view(dmabuf_fd, &part, look, argument) ? EXIT_FAILURE
									      : EXIT_SUCCESS);
	}
	close(sockets[1]);
	viewer->socket = sockets[0];
	if (viewer->process < 0) {
		warn("fork");
		close(sockets[0]);
		return -1;
	}
	return 0;
}

int viewer_end(struct viewer *viewer)
{
	int status;

	close(viewer->socket);
	if (waitpid(viewer->process, &status, 0) != viewer->process) {
		warn("waitpid");
		return -1;
	}
	return status ? -1 : 0;
}
