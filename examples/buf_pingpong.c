// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Two processes, one buffer each, and every call of the buffer API.
 *
 * The client and the server take turns. In its turn, a side writes into the memory of the
 * other (RDMA write), reads from it (RDMA read), and sends it a message, which also tells
 * that it is the other's turn. Each side checks every byte it gets.
 *
 * One command:         buf_pingpong --local
 * Two, on two hosts:   buf_pingpong          and   buf_pingpong SERVER
 *
 * With --export, each side hands its buffer as a DMA-buf to another process, which looks at
 * what RDMA has written there.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "dmabuf_viewer.h"
#include "options.h"
#include "peer_socket.h"
#include "rc_connection.h"
#include "suppliers.h"

enum side { CLIENT, SERVER };

/* The parts of a buffer, all of the size of a message. */
enum part {
	OUTBOX,	  /* what this side sends and writes */
	INBOX,	  /* messages of the peer */
	FETCHED,  /* what this side has read from the peer */
	WRITABLE, /* the peer writes here */
	READABLE, /* the peer reads here */
	PARTS
};

/* The parts that a peer may reach are windows, known to it by address and key. */
enum window { WRITABLE_WINDOW, READABLE_WINDOW, WINDOWS };

struct pingpong {
	struct rc_connection connection;
	enum side side;
	uint32_t size;

	struct ibv_buf *buf;
	char *base;
	int dmabuf_fd;
	struct ibv_mr *whole;	 /* this process and its device alone */
	struct ibv_mr *writable; /* one part, also for the peer */
	struct ibv_mr *readable; /* another part, also for the peer */
	struct rc_window peer_windows[WINDOWS];
	unsigned int last_turn; /* the peer's */
};

static char side_names[][8] = {[CLIENT] = "client", [SERVER] = "server"};

static char *part_addr(const struct pingpong *pingpong, enum part part)
{
	return pingpong->base + (size_t)part * pingpong->size;
}

static struct rc_memory part_memory(const struct pingpong *pingpong, enum part part)
{
	return (struct rc_memory){
		.addr = part_addr(pingpong, part),
		.length = pingpong->size,
		.lkey = pingpong->whole->lkey,
	};
}

/* Differs from side to side, from turn to turn and from part to part. */
static char pattern(enum side side, unsigned int turn, enum part part, uint32_t offset)
{
	uint32_t seed = (turn * 2 + side) * PARTS + part;

	return (char)(((offset ^ (seed << 16)) * 2654435761U + seed * 97U) >> 24);
}

static void fill(struct pingpong *pingpong, enum part part, unsigned int turn, enum part purpose)
{
	char *bytes = part_addr(pingpong, part);
	uint32_t offset;

	for (offset = 0; offset < pingpong->size; offset++)
		bytes[offset] = pattern(pingpong->side, turn, purpose, offset);
}

static const char *const deeds[] = {
	[INBOX] = "sent",
	[WRITABLE] = "wrote",
	[READABLE] = "let be read",
};

/* Checks that bytes are what the peer meant. */
static int compare(const struct pingpong *pingpong, const char *bytes, unsigned int turn,
		   enum part purpose)
{
	enum side peer = pingpong->side == CLIENT ? SERVER : CLIENT;
	uint32_t offset;
	char expected;

	for (offset = 0; offset < pingpong->size; offset++) {
		expected = pattern(peer, turn, purpose, offset);
		if (bytes[offset] != expected) {
			warnx("turn %u: byte %u of what the %s %s is 0x%02x, not 0x%02x", turn,
			      offset, side_names[peer], deeds[purpose], bytes[offset] & 0xff,
			      expected & 0xff);
			return -1;
		}
	}
	return 0;
}

static int check(struct pingpong *pingpong, enum part part, unsigned int turn, enum part purpose)
{
	return compare(pingpong, part_addr(pingpong, part), turn, purpose);
}

static const char *memory_kind(const struct pingpong *pingpong)
{
	return pingpong->dmabuf_fd < 0 ? "ordinary memory (no DMA-buf: ENODATA)" : "a DMA-buf";
}

/*
 * The memory: allocated for the protection domain, by libibverbs' choice of method. What is a
 * DMA-buf can be handed to another device or process by its descriptor.
 */
static int make_buffer(struct pingpong *pingpong, bool must_be_dmabuf)
{
	size_t size = (size_t)PARTS * pingpong->size;

	pingpong->base = ibv_alloc_buf(pingpong->connection.pd, size, &pingpong->buf);
	if (!pingpong->base) {
		warn("ibv_alloc_buf: %zu bytes", size);
		return -1;
	}
	pingpong->dmabuf_fd = ibv_export_buf_dmabuf_fd(pingpong->buf);
	if (pingpong->dmabuf_fd < 0 && errno != ENODATA) {
		warn("ibv_export_buf_dmabuf_fd");
		return -1;
	}
	printf("%s: buffer of %zu bytes at %p: %s\n", side_names[pingpong->side], size,
	       (void *)pingpong->base, memory_kind(pingpong));
	if (pingpong->dmabuf_fd < 0 && must_be_dmabuf) {
		warnx("--export needs a DMA-buf: set IBVBUF_BACKING to udmabuf or "
		      "dma_heap:system, or start with ibvbuf-run --rehearse-cc");
		return -1;
	}
	return 0;
}

/* A buffer may have several memory regions; here each gives no more access than it needs. */
static int register_buffer(struct pingpong *pingpong)
{
	struct ibv_pd *pd = pingpong->connection.pd;
	size_t size = (size_t)PARTS * pingpong->size;
	struct ibv_mr_init_attr attr;

	pingpong->whole =
		ibv_reg_buf_mr(pd, pingpong->buf, pingpong->base, size, IBV_ACCESS_LOCAL_WRITE);
	if (!pingpong->whole) {
		warn("ibv_reg_buf_mr: the whole buffer, %s", memory_kind(pingpong));
		return -1;
	}
	pingpong->writable = ibv_reg_buf_mr(pd, pingpong->buf, part_addr(pingpong, WRITABLE),
					    pingpong->size,
					    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!pingpong->writable) {
		warn("ibv_reg_buf_mr: the part for the peer's writes");
		return -1;
	}

	/* The same call in its general form, which takes an address or a DMA-buf as well. */
	attr = (struct ibv_mr_init_attr){
		.comp_mask = IBV_REG_MR_MASK_BUF | IBV_REG_MR_MASK_ADDR,
		.buf = pingpong->buf,
		.addr = part_addr(pingpong, READABLE),
		.length = pingpong->size,
		.access = IBV_ACCESS_REMOTE_READ,
	};
	pingpong->readable = ibv_reg_mr_ex(pd, &attr);
	if (!pingpong->readable) {
		warn("ibv_reg_mr_ex: the part for the peer's reads");
		return -1;
	}
	return 0;
}

/* The other process sees what the peer has written, through nothing but the DMA-buf. */
static int look_at_writable(const char *bytes, size_t length, const void *argument)
{
	const struct pingpong *pingpong = argument;

	return length == pingpong->size ? compare(pingpong, bytes, pingpong->last_turn, WRITABLE)
					: -1;
}

/* In the reverse order: a buffer is freed before its protection domain, after its MRs. */
static int release_buffer(struct pingpong *pingpong)
{
	struct ibv_mr *regions[] = {pingpong->readable, pingpong->writable, pingpong->whole};
	int i, status = 0;

	for (i = 0; i < 3; i++) {
		if (!regions[i])
			continue;
		errno = ibv_dereg_mr(regions[i]);
		if (errno) {
			warn("ibv_dereg_mr");
			status = -1;
		}
	}
	if (pingpong->dmabuf_fd >= 0)
		close(pingpong->dmabuf_fd);
	ibv_free_buf(pingpong->buf);
	return status;
}

static int connect_buffers(struct pingpong *pingpong, int socket)
{
	struct rc_window windows[WINDOWS];
	struct rc_memory inbox = part_memory(pingpong, INBOX);

	windows[WRITABLE_WINDOW].addr = (uintptr_t)part_addr(pingpong, WRITABLE);
	windows[WRITABLE_WINDOW].rkey = pingpong->writable->rkey;
	windows[READABLE_WINDOW].addr = (uintptr_t)part_addr(pingpong, READABLE);
	windows[READABLE_WINDOW].rkey = pingpong->readable->rkey;

	/* The client has the first turn, and reads what the server has put there by then. */
	if (pingpong->side == SERVER)
		fill(pingpong, READABLE, 0, READABLE);
	if (rc_post_receive(&pingpong->connection, &inbox))
		return -1;
	return rc_connect(&pingpong->connection, socket, windows, pingpong->peer_windows, WINDOWS);
}

static int take_turn(struct pingpong *pingpong, unsigned int turn)
{
	struct rc_connection *connection = &pingpong->connection;
	struct rc_memory outbox = part_memory(pingpong, OUTBOX);
	struct rc_memory fetched = part_memory(pingpong, FETCHED);

	fill(pingpong, OUTBOX, turn, WRITABLE);
	if (rc_write(connection, &outbox, &pingpong->peer_windows[WRITABLE_WINDOW]))
		return -1;

	if (rc_read(connection, &fetched, &pingpong->peer_windows[READABLE_WINDOW]) ||
	    check(pingpong, FETCHED, turn, READABLE))
		return -1;

	/* The peer reads in its turn, so what it reads is put there before it is told. */
	fill(pingpong, READABLE, turn + 1, READABLE);
	fill(pingpong, OUTBOX, turn, INBOX);
	return rc_send(connection, &outbox);
}

static int await_turn(struct pingpong *pingpong, unsigned int turn)
{
	struct rc_memory inbox = part_memory(pingpong, INBOX);
	int length;

	length = rc_await_message(&pingpong->connection);
	if (length < 0)
		return -1;
	if ((uint32_t)length != pingpong->size) {
		warnx("turn %u: a message of %d bytes, not %u", turn, length, pingpong->size);
		return -1;
	}

	/* The message comes after what the peer wrote before it: that is here, too. */
	if (check(pingpong, INBOX, turn, INBOX) || check(pingpong, WRITABLE, turn, WRITABLE))
		return -1;
	return rc_post_receive(&pingpong->connection, &inbox);
}

static int play(struct pingpong *pingpong, const struct options *options)
{
	unsigned int turn;
	int error;

	for (turn = 0; turn < 2 * options->iterations; turn++) {
		if (turn % 2 == (unsigned int)pingpong->side)
			error = take_turn(pingpong, turn);
		else
			error = await_turn(pingpong, turn);
		if (error)
			return -1;
	}
	return 0;
}

/* Both sides must have been told the same. */
static int agree(const struct options *options, int socket)
{
	uint32_t mine[2] = {htonl(options->size), htonl(options->iterations)};
	uint32_t theirs[2];

	if (peer_exchange(socket, mine, theirs, sizeof(mine)))
		return -1;
	if (theirs[0] != mine[0] || theirs[1] != mine[1]) {
		warnx("the other side was started with -s %u -n %u, this one with -s %u -n %u",
		      ntohl(theirs[0]), ntohl(theirs[1]), options->size, options->iterations);
		return -1;
	}
	return 0;
}

/* One side, from the device to the result. */
static int run_side(struct pingpong *pingpong, const struct options *options, int socket,
		    const struct viewer *viewer)
{
	struct rc_connection *connection = &pingpong->connection;
	const char *name = side_names[pingpong->side];
	char peer_done;
	int status = -1;

	if (agree(options, socket) || rc_open(connection, &options->connection))
		return -1;
	printf("%s: device %s, port %u, GID index %d%s\n", name,
	       ibv_get_device_name(connection->context->device), connection->port,
	       connection->gid_index, connection->plain_pd ? ", memory shared with the host" : "");
	if (pingpong->size > connection->port_attr.max_msg_sz) {
		warnx("this port carries messages of at most %u bytes",
		      connection->port_attr.max_msg_sz);
		goto err_close;
	}

	if (make_buffer(pingpong, options->export) || register_buffer(pingpong) ||
	    connect_buffers(pingpong, socket) || play(pingpong, options))
		goto err_release;

	/* The peer may still be reading its last completion. */
	status = peer_exchange(socket, "", &peer_done, 1);
	if (!status)
		printf("%s: %u iterations of %u bytes each: send, RDMA write and RDMA read, "
		       "every byte verified\n",
		       name, options->iterations, options->size);
	if (!status && viewer)
		status = viewer_show(viewer, pingpong->dmabuf_fd, (size_t)WRITABLE * pingpong->size,
				     pingpong->size);

err_release:
	if (release_buffer(pingpong))
		status = -1;
err_close:
	rc_close(connection);
	return status;
}

static int run(const struct options *options, enum side side, int socket)
{
	struct pingpong pingpong = {
		.side = side,
		.size = options->size,
		.dmabuf_fd = -1,
		.last_turn = 2 * options->iterations - (side == CLIENT ? 1 : 2),
	};
	struct viewer viewer;
	int status;

	program_invocation_short_name = side_names[side];
	if (options->export && viewer_start(&viewer, look_at_writable, &pingpong))
		return -1;
	status = run_side(&pingpong, options, socket, options->export ? &viewer : NULL);
	if (options->export && viewer_end(&viewer))
		status = -1;
	return status;
}

/* Both sides on this machine; forked before anything of libibverbs is touched. */
static int run_locally(const struct options *options)
{
	int sockets[2], status, client_status;
	pid_t client;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets)) {
		warn("socketpair");
		return -1;
	}
	fflush(stdout);
	client = fork();
	if (client < 0) {
		warn("fork");
		return -1;
	}
	if (client == 0) {
		close(sockets[SERVER]);
		status = run(options, CLIENT, sockets[CLIENT]);
		exit(status ? EXIT_FAILURE : EXIT_SUCCESS);
	}
	close(sockets[CLIENT]);
	status = run(options, SERVER, sockets[SERVER]);
	close(sockets[SERVER]);
	if (waitpid(client, &client_status, 0) != client || client_status != 0)
		status = -1;
	return status;
}

int main(int argc, char **argv)
{
	struct options options;
	int socket, status;

	options_parse(&options, argc, argv);
	/* Several processes write here: whole lines. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	setvbuf(stderr, NULL, _IOLBF, 0);

	if (!suppliers_print())
		errx(EXIT_FAILURE, "the buffer API is missing here: start this program with "
				   "ibvbuf-run, or with LD_PRELOAD=.../libibvbuf-preload.so");

	if (options.local) {
		status = run_locally(&options);
		if (!status)
			printf("passed\n");
		return status ? EXIT_FAILURE : EXIT_SUCCESS;
	}

	socket = options.server ? peer_connect(options.server, options.tcp_port)
				: peer_accept(options.tcp_port);
	if (socket < 0)
		return EXIT_FAILURE;
	status = run(&options, options.server ? CLIENT : SERVER, socket);
	close(socket);
	return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
