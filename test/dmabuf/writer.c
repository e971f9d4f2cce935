// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "writer.h"
#include "rc_connection.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct order {
	struct rc_window window;
	uint32_t length;
	char value;
};

static const struct rc_options any_device = {.port = 1, .gid_index = -1};
static struct rc_window none;
static pid_t writer;
static int to_writer;

/* Until the other side has closed its end. */
static void take_orders(struct rc_connection *connection, const struct ibv_mr *mr, int socket)
{
	struct order order;

	while (read(socket, &order, sizeof(order)) == sizeof(order)) {
		struct rc_memory source = {
			.addr = mr->addr, .length = order.length, .lkey = mr->lkey};
		char done;

		memset(mr->addr, order.value, order.length);
		done = rc_write(connection, &source, &order.window) == 0;
		if (write(socket, &done, 1) != 1)
			return;
	}
}

/* Its failures are seen at the other side: no answer comes. */
static int be_writer(int socket)
{
	static char bytes[WRITER_MOST];
	struct rc_connection connection;
	struct ibv_mr *mr;

	if (rc_open(&connection, &any_device))
		return 1;
	mr = ibv_reg_mr(connection.pd, bytes, sizeof(bytes), IBV_ACCESS_LOCAL_WRITE);
	if (!mr || rc_connect(&connection, socket, &none, &none, 0))
		return 1;
	take_orders(&connection, mr, socket);
	ibv_dereg_mr(mr);
	rc_close(&connection);
	return 0;
}

void writer_start(void)
{
	int sockets[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
	writer = fork();
	cr_assert_geq(writer, 0);
	if (!writer) {
		close(sockets[0]);
		_exit(be_writer(sockets[1]));
	}
	close(sockets[1]);
	to_writer = sockets[0];
}

void writer_connect(struct rc_connection *connection)
{
	cr_assert_eq(rc_open(connection, &any_device), 0);
	cr_assert_eq(rc_connect(connection, to_writer, &none, &none, 0), 0);
}

bool writer_writes(uint64_t address, uint32_t rkey, char value, size_t length)
{
	struct order order = {
		.window = {.addr = address, .rkey = rkey},
		.length = (uint32_t)length,
		.value = value,
	};
	char done;

	cr_assert(length <= WRITER_MOST);
	cr_assert_eq(write(to_writer, &order, sizeof(order)), sizeof(order));
	cr_assert_eq(read(to_writer, &done, 1), 1, "the writer has ended");
	return done;
}

void writer_end(struct rc_connection *connection)
{
	int status;

	rc_close(connection);
	close(to_writer);
	cr_assert_eq(waitpid(writer, &status, 0), writer);
	cr_assert_eq(status, 0);
}
