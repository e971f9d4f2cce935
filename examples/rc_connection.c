// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include <endian.h>
#include <err.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "peer_socket.h"
#include "rc_connection.h"
#include "rc_domain.h"
#include "rc_gid.h"

#define SECONDS_TO_WAIT 20
#define MOST_WINDOWS	16

/* What each side tells the other, big endian. */
struct endpoint {
	uint32_t qp_num;
	uint32_t psn;
	uint32_t mtu;
	uint32_t lid;
	union ibv_gid gid;
	struct {
		uint64_t addr;
		uint64_t rkey;
	} windows[MOST_WINDOWS];
};

static int open_device(struct rc_connection *connection, const struct rc_options *options)
{
	struct ibv_device **devices, **device;
	bool found = false;

	devices = ibv_get_device_list(NULL);
	if (!devices) {
		warn("cannot list the RDMA devices");
		return -1;
	}
	for (device = devices; *device && !connection->context; device++) {
		if (options->device && strcmp(options->device, ibv_get_device_name(*device)) != 0)
			continue;
		found = true;
		connection->context = ibv_open_device(*device);
		if (!connection->context)
			continue;
		if (!ibv_query_port(connection->context, options->port, &connection->port_attr) &&
		    connection->port_attr.state == IBV_PORT_ACTIVE)
			break;
		ibv_close_device(connection->context);
		connection->context = NULL;
	}
	ibv_free_device_list(devices);
	if (connection->context)
		return 0;
	if (!found)
		warnx("no RDMA device%s%s here (ibv_devices lists them)",
		      options->device ? " " : "", options->device ? options->device : "");
	else
		warnx("port %u of %s is not active (ibv_devinfo tells its state)", options->port,
		      options->device ? options->device : "every device");
	return -1;
}

static int make_queue(struct rc_connection *connection, struct rc_queue *queue)
{
	queue->channel = ibv_create_comp_channel(connection->context);
	if (!queue->channel)
		return -1;
	queue->cq = ibv_create_cq(connection->context, 1, NULL, queue->channel, 0);
	return queue->cq ? 0 : -1;
}

static int make_queue_pair(struct rc_connection *connection)
{
	struct ibv_qp_init_attr init_attr = {
		.send_cq = connection->sends.cq,
		.recv_cq = connection->receives.cq,
		.cap.max_send_wr = 1,
		.cap.max_recv_wr = 1,
		.cap.max_send_sge = 1,
		.cap.max_recv_sge = 1,
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = connection->port,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
	};

	connection->qp = ibv_create_qp(connection->pd, &init_attr);
	if (!connection->qp)
		return -1;
	errno = ibv_modify_qp(connection->qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	return errno ? -1 : 0;
}

int rc_open(struct rc_connection *connection, const struct rc_options *options)
{
	*connection = (struct rc_connection){
		.port = options->port,
		.gid_index = options->gid_index,
		.socket = -1,
	};
	if (open_device(connection, options))
		return -1;
	if (rc_choose_gid(connection) || rc_make_domain(connection))
		goto err_close;

	if (make_queue(connection, &connection->sends) ||
	    make_queue(connection, &connection->receives)) {
		warn("cannot create a completion queue");
		goto err_close;
	}
	if (make_queue_pair(connection)) {
		warn("cannot create a queue pair");
		goto err_close;
	}
	return 0;

err_close:
	rc_close(connection);
	return -1;
}

static int modify_to_ready(struct rc_connection *connection, const struct endpoint *mine,
			   const struct endpoint *theirs)
{
	uint32_t ours = be32toh(mine->mtu), mtu = be32toh(theirs->mtu);
	struct ibv_qp_attr receive = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = (enum ibv_mtu)(mtu < ours ? mtu : ours),
		.dest_qp_num = be32toh(theirs->qp_num),
		.rq_psn = be32toh(theirs->psn),
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr.dlid = (uint16_t)be32toh(theirs->lid),
		.ah_attr.port_num = connection->port,
		.ah_attr.is_global = connection->port_attr.link_layer == IBV_LINK_LAYER_ETHERNET,
		.ah_attr.grh.dgid = theirs->gid,
		.ah_attr.grh.sgid_index = (uint8_t)connection->gid_index,
		.ah_attr.grh.hop_limit = 64,
	};
	struct ibv_qp_attr send = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = be32toh(mine->psn),
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	errno = ibv_modify_qp(connection->qp, &receive,
			      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				      IBV_QP_MIN_RNR_TIMER);
	if (!errno)
		errno = ibv_modify_qp(connection->qp, &send,
				      IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
					      IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
					      IBV_QP_MAX_QP_RD_ATOMIC);
	if (errno) {
		warn("cannot connect the queue pair (GID index %d: another one with -g?)",
		     connection->gid_index);
		return -1;
	}
	return 0;
}

int rc_connect(struct rc_connection *connection, int socket, const struct rc_window *mine,
	       struct rc_window *theirs, int windows)
{
	struct endpoint local = {
		.qp_num = htobe32(connection->qp->qp_num),
		.psn = htobe32((uint32_t)getpid() & 0xffffff),
		.mtu = htobe32(connection->port_attr.active_mtu),
		.lid = htobe32(connection->port_attr.lid),
		.gid = connection->gid,
	};
	struct endpoint remote;
	char ready;
	int i;

	for (i = 0; i < windows; i++) {
		local.windows[i].addr = htobe64(mine[i].addr);
		local.windows[i].rkey = htobe64(mine[i].rkey);
	}
	if (peer_exchange(socket, &local, &remote, sizeof(local)))
		return -1;
	for (i = 0; i < windows; i++) {
		theirs[i].addr = be64toh(remote.windows[i].addr);
		theirs[i].rkey = (uint32_t)be64toh(remote.windows[i].rkey);
	}
	if (modify_to_ready(connection, &local, &remote))
		return -1;

	/* Nobody sends before the other is ready to receive. */
	connection->socket = socket;
	return peer_exchange(socket, "", &ready, 1);
}

/* Sleeps until the queue has an event; -1 if none came or the peer has gone. */
static int await_event(struct rc_connection *connection, struct rc_queue *queue)
{
	struct pollfd events[2] = {
		{.fd = queue->channel->fd, .events = POLLIN},
		{.fd = connection->socket, .events = POLLRDHUP},
	};
	struct ibv_cq *cq;
	void *cq_context;
	int count;

	do {
		count = poll(events, 2, SECONDS_TO_WAIT * 1000);
	} while (count < 0 && errno == EINTR);
	if (count < 0) {
		warn("cannot wait for a completion");
		return -1;
	}
	if (count == 0) {
		warnx("no completion in %d seconds", SECONDS_TO_WAIT);
		return -1;
	}
	if (!(events[0].revents & POLLIN)) {
		warnx("the peer has gone");
		return -1;
	}
	if (ibv_get_cq_event(queue->channel, &cq, &cq_context)) {
		warn("cannot get a completion event");
		return -1;
	}
	ibv_ack_cq_events(cq, 1);
	return 0;
}

static int await_completion(struct rc_connection *connection, struct rc_queue *queue,
			    struct ibv_wc *completion)
{
	int count;

	for (;;) {
		/* Ask for an event first: a completion in between would be missed else. */
		errno = ibv_req_notify_cq(queue->cq, 0);
		if (errno) {
			warn("cannot ask for a completion event");
			return -1;
		}
		count = ibv_poll_cq(queue->cq, 1, completion);
		if (count < 0) {
			warnx("cannot poll the completion queue");
			return -1;
		}
		if (count > 0)
			break;
		if (await_event(connection, queue))
			return -1;
	}
	if (completion->status != IBV_WC_SUCCESS) {
		warnx("work request failed: %s", ibv_wc_status_str(completion->status));
		return -1;
	}
	return 0;
}

static struct ibv_sge scatter_gather(const struct rc_memory *memory)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)memory->addr,
		.length = memory->length,
		.lkey = memory->lkey,
	};
}

int rc_post_receive(struct rc_connection *connection, const struct rc_memory *memory)
{
	struct ibv_sge sge = scatter_gather(memory);
	struct ibv_recv_wr request = {.sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad_request;

	errno = ibv_post_recv(connection->qp, &request, &bad_request);
	if (errno) {
		warn("cannot post a receive");
		return -1;
	}
	return 0;
}

int rc_await_message(struct rc_connection *connection)
{
	struct ibv_wc completion;

	if (await_completion(connection, &connection->receives, &completion))
		return -1;
	return (int)completion.byte_len;
}

static int transfer(struct rc_connection *connection, enum ibv_wr_opcode opcode,
		    const struct rc_memory *memory, const struct rc_window *window)
{
	struct ibv_sge sge = scatter_gather(memory);
	struct ibv_send_wr request = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr *bad_request;
	struct ibv_wc completion;

	if (window) {
		request.wr.rdma.remote_addr = window->addr;
		request.wr.rdma.rkey = window->rkey;
	}
	errno = ibv_post_send(connection->qp, &request, &bad_request);
	if (errno) {
		warn("cannot post a send");
		return -1;
	}
	return await_completion(connection, &connection->sends, &completion);
}

int rc_send(struct rc_connection *connection, const struct rc_memory *memory)
{
	return transfer(connection, IBV_WR_SEND, memory, NULL);
}

int rc_write(struct rc_connection *connection, const struct rc_memory *memory,
	     const struct rc_window *window)
{
	return transfer(connection, IBV_WR_RDMA_WRITE, memory, window);
}

int rc_read(struct rc_connection *connection, const struct rc_memory *memory,
	    const struct rc_window *window)
{
	return transfer(connection, IBV_WR_RDMA_READ, memory, window);
}

static void release_queue(struct rc_queue *queue)
{
	if (queue->cq)
		ibv_destroy_cq(queue->cq);
	if (queue->channel)
		ibv_destroy_comp_channel(queue->channel);
}

void rc_close(struct rc_connection *connection)
{
	if (connection->qp)
		ibv_destroy_qp(connection->qp);
	release_queue(&connection->receives);
	release_queue(&connection->sends);
	rc_release_domain(connection);
	if (connection->context)
		ibv_close_device(connection->context);
}
