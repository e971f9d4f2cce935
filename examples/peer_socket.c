// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peer_socket.h"

static struct addrinfo *resolve(const char *host, const char *tcp_port)
{
	struct addrinfo hints = {
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = host ? 0 : AI_PASSIVE,
	};
	struct addrinfo *addresses;
	int error;

	error = getaddrinfo(host, tcp_port, &hints, &addresses);
	if (error) {
		warnx("%s port %s: %s", host ? host : "listening", tcp_port, gai_strerror(error));
		return NULL;
	}
	return addresses;
}

static int listen_at(const struct addrinfo *address)
{
	int listener, on = 1;

	listener = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, 0);
	if (listener < 0)
		return -1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, address->ai_addr, address->ai_addrlen) || listen(listener, 1)) {
		close(listener);
		return -1;
	}
	return listener;
}

int peer_accept(const char *tcp_port)
{
	struct addrinfo *addresses, *address;
	int listener = -1, connected;

	addresses = resolve(NULL, tcp_port);
	if (!addresses)
		return -1;
	for (address = addresses; address && listener < 0; address = address->ai_next)
		listener = listen_at(address);
	freeaddrinfo(addresses);
	if (listener < 0) {
		warn("cannot listen at TCP port %s (another one: -p)", tcp_port);
		return -1;
	}

	do {
		connected = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	} while (connected < 0 && errno == EINTR);
	if (connected < 0)
		warn("cannot accept a peer at TCP port %s", tcp_port);
	close(listener);
	return connected;
}

int peer_connect(const char *host, const char *tcp_port)
{
	struct addrinfo *addresses, *address;
	int connected = -1;

	addresses = resolve(host, tcp_port);
	if (!addresses)
		return -1;
	for (address = addresses; address; address = address->ai_next) {
		connected = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, 0);
		if (connected < 0)
			continue;
		if (!connect(connected, address->ai_addr, address->ai_addrlen))
			break;
		close(connected);
		connected = -1;
	}
	freeaddrinfo(addresses);
	if (connected < 0)
		warn("cannot reach the server at %s, TCP port %s", host, tcp_port);
	return connected;
}

static bool write_all(int socket, const char *bytes, size_t length)
{
	ssize_t count;

	while (length) {
		count = send(socket, bytes, length, MSG_NOSIGNAL);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return false;
		bytes += count;
		length -= (size_t)count;
	}
	return true;
}

static bool read_all(int socket, char *bytes, size_t length)
{
	ssize_t count;

	while (length) {
		count = recv(socket, bytes, length, 0);
		if (count < 0 && errno == EINTR)
			continue;
		if (count == 0)
			errno = ECONNRESET;
		if (count <= 0)
			return false;
		bytes += count;
		length -= (size_t)count;
	}
	return true;
}

int peer_exchange(int socket, const void *mine, void *theirs, size_t length)
{
	if (!write_all(socket, mine, length) || !read_all(socket, theirs, length)) {
		warn("cannot talk to the peer");
		return -1;
	}
	return 0;
}
