/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Another process with a queue pair of its own, which writes over RDMA what it is told to, where it
 * is told to. Its own memory is ordinary.
 */
#ifndef WRITER_H
#define WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rc_connection;

/* What one write is at most. */
#define WRITER_MOST (128 << 10)

/* Start it, before anything of libibverbs is touched or configured here. */
void writer_start(void);

/* Open a device here, and connect with the writer. */
void writer_connect(struct rc_connection *connection);

/* Whether it could write: length bytes of that value, at an address of this process. */
bool writer_writes(uint64_t address, uint32_t rkey, char value, size_t length);

/* Close the connection, and wait until the writer has ended. */
void writer_end(struct rc_connection *connection);

#endif
