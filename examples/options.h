/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The command line of buf_pingpong.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "rc_connection.h"

/**
 * struct options - what the command line says
 * @connection: device, port and GID
 * @server: host of the server, or NULL for the server itself
 * @tcp_port: where the server listens
 * @size: bytes of a message
 * @iterations: turns of each side
 * @local: both sides on this machine
 * @export: have other processes look at the buffers
 */
struct options {
	struct rc_options connection;
	const char *server;
	const char *tcp_port;
	uint32_t size;
	unsigned int iterations;
	bool local;
	bool export;
};

/* What is wrong, or asked for by --help, is said, and ends the program. */
void options_parse(struct options *options, int argc, char **argv);

#endif
