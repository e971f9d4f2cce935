/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A stand-in for the libibverbs of rdma-core 35: domains and registrations, whichever provider a
 * context is of. It opens what it is given, and remembers how it was asked. What depends on the
 * real one is tested in the virtual machine.
 */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <infiniband/verbs.h>

/* What ibv_open_device() opens. */
struct library_device {
	struct ibv_device device;
	struct ibv_context *context;
};

/* What ibv_query_device() tells of any. */
#define LIBRARY_VENDOR 0x1234

/* The latest registration: by address if fd is -1. */
struct library_registration {
	struct ibv_pd *pd;
	void *addr;
	size_t length;
	uint64_t iova;
	uint64_t offset;
	int fd;
};

/* How many registrations there were, and the latest. */
unsigned int library_registrations(struct library_registration *latest);

/* Let each registration through a descriptor fail with that errno; 0 ends it. */
void library_refuse_dmabuf(int error);

/* How many domains live, parent domains too. */
unsigned int library_domains(void);

/* What a provider makes its parent domains with. */
struct ibv_pd *library_new_domain(struct ibv_context *context);

#endif
