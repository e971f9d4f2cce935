/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A reliable connection (RC) between two processes: what every verbs program has to do
 * before, and between, the lines that are its own.
 *
 * Each function answers -1 after it has said on standard error what went wrong.
 */
#ifndef RC_CONNECTION_H
#define RC_CONNECTION_H

#include <infiniband/verbs.h>

/**
 * struct rc_options - which way to go
 * @device: name of the device, or NULL for the first with an active port
 * @port: port of the device, from 1
 * @gid_index: index of the local GID, or -1 to choose one: on Ethernet a RoCE v2 GID that
 *	       has an address, IPv4 first
 */
struct rc_options {
	const char *device;
	uint8_t port;
	int gid_index;
};

/**
 * struct rc_queue - a completion queue, and what to sleep on until it has something
 */
struct rc_queue {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
};

/**
 * struct rc_connection - one end
 * @context: the device
 * @pd: protection domain, for the memory
 * @plain_pd: what @pd was made from if it is a parent domain, else NULL
 * @sends: completions of what this side asks for
 * @receives: completions of what the peer sends
 * @qp: the queue pair
 * @port_attr: the port, when the device was opened
 * @gid: local GID
 * @gid_index: its index
 * @port: port of the device
 * @socket: connected to the peer; -1 before rc_connect()
 */
struct rc_connection {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_pd *plain_pd;
	struct rc_queue sends;
	struct rc_queue receives;
	struct ibv_qp *qp;
	struct ibv_port_attr port_attr;
	union ibv_gid gid;
	int gid_index;
	uint8_t port;
	int socket;
};

/**
 * struct rc_memory - a piece of this side's registered memory
 */
struct rc_memory {
	void *addr;
	uint32_t length;
	uint32_t lkey;
};

/**
 * struct rc_window - a piece of registered memory that the other side may reach
 * @addr: address of its first byte, in the process it belongs to
 * @rkey: the remote key
 */
struct rc_window {
	uint64_t addr;
	uint32_t rkey;
};

/**
 * rc_open - open a device, and make a queue pair that is not connected yet
 *
 * Return: 0, and @connection is to be closed with rc_close().
 */
int rc_open(struct rc_connection *connection, const struct rc_options *options);

/**
 * rc_connect - connect the queue pair with that of the peer
 * @socket: connected to the peer, which calls rc_connect() too
 * @mine: windows that the peer is to know of
 * @theirs: where the windows of the peer go
 * @windows: how many there are, on each side; at most 16
 *
 * A receive that the peer's first message needs is posted before.
 *
 * Return: 0.
 */
int rc_connect(struct rc_connection *connection, int socket, const struct rc_window *mine,
	       struct rc_window *theirs, int windows);

/**
 * rc_post_receive - make memory ready for the next message of the peer
 *
 * Return: 0.
 */
int rc_post_receive(struct rc_connection *connection, const struct rc_memory *memory);

/**
 * rc_await_message - wait until a message of the peer has come
 *
 * Return: its length in bytes.
 */
int rc_await_message(struct rc_connection *connection);

/**
 * rc_send - send a message, and wait until the peer's device has it
 *
 * Return: 0.
 */
int rc_send(struct rc_connection *connection, const struct rc_memory *memory);

/**
 * rc_write - write memory into a window of the peer, and wait until it is there
 *
 * Return: 0.
 */
int rc_write(struct rc_connection *connection, const struct rc_memory *memory,
	     const struct rc_window *window);

/**
 * rc_read - read memory from a window of the peer, and wait until it is here
 *
 * Return: 0.
 */
int rc_read(struct rc_connection *connection, const struct rc_memory *memory,
	    const struct rc_window *window);

/**
 * rc_close - release what rc_open() made; memory must be deregistered before
 */
void rc_close(struct rc_connection *connection);

#endif
