/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The TCP connection over which two processes tell each other what they need to know
 * before an RDMA connection can be made.
 *
 * Each function answers -1 after it has said on standard error what went wrong.
 */
#ifndef PEER_SOCKET_H
#define PEER_SOCKET_H

#include <stddef.h>

/**
 * peer_accept - wait for one peer
 * @tcp_port: number, or service name, to listen at
 *
 * Return: the connected socket.
 */
int peer_accept(const char *tcp_port);

/**
 * peer_connect - connect to a peer that waits in peer_accept()
 * @host: its name or address
 * @tcp_port: where it listens
 *
 * Return: the connected socket.
 */
int peer_connect(const char *host, const char *tcp_port);

/**
 * peer_exchange - give the peer @length bytes, and take as many from it
 * @socket: connected socket
 * @mine: what the peer gets
 * @theirs: where the peer's bytes go
 * @length: bytes; at most what a socket takes without waiting, a few kilobytes
 *
 * Both sides call it. It returns when the other has called it too.
 *
 * Return: 0.
 */
int peer_exchange(int socket, const void *mine, void *theirs, size_t length);

#endif
