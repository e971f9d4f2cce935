// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Calls a number of times, for a tool that counts instructions:
 *
 *	count CALL SIZE TIMES
 *
 * CALL is alloc, pair (alloc and free), register, or reg_mr or dereg_mr, which need no shim. The
 * library may be the one beneath the shim, or a native one; both without a device. A native one
 * takes its operations from a context, so one is made as a provider would, with the operations that
 * the library has for all of them; there, a registration comes as far as an operation that refuses
 * it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef ibv_reg_mr

#define CONTEXT_SIZE 16384
/* A descriptor that is not open. */
#define NO_FD 0x7ffe

typedef void *init_and_alloc_context(struct ibv_device *device, int cmd_fd, size_t alloc_size,
				     void *offset, uint32_t driver_id);

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static init_and_alloc_context *find_maker(void)
{
	char node[32];
	void *maker;
	int number;

	for (number = 99; number >= 64; number--) {
		snprintf(node, sizeof(node), "IBVERBS_PRIVATE_%d", number);
		maker = dlvsym(RTLD_DEFAULT, "_verbs_init_and_alloc_context", node);
		if (maker)
			return (init_and_alloc_context *)maker;
	}
	return NULL;
}

/* Its last member is all ones where it is one of today's kind; what lies before is not known. */
static struct ibv_context *make_context(void)
{
	init_and_alloc_context *make = find_maker();
	struct ibv_device *device = calloc(1, CONTEXT_SIZE);
	uintptr_t *word = make ? make(device, NO_FD, CONTEXT_SIZE, NULL, 0) : NULL;
	size_t i;

	for (i = 0; word && i < CONTEXT_SIZE / sizeof(*word); i++)
		if (word[i] == UINTPTR_MAX)
			return (struct ibv_context *)((char *)&word[i + 1] -
						      sizeof(struct ibv_context));
	return NULL;
}

static void call_library(struct ibv_pd *pd, bool deregister, unsigned long times)
{
	static char memory[4096];
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);

	if (!mr)
		fail("ibv_reg_mr");
	while (times--) {
		if (deregister)
			ibv_dereg_mr(mr);
		else
			ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	}
}

int main(int argc, char **argv)
{
	struct ibv_context *context = make_context();
	struct ibv_pd *pd, native_pd = {.context = context};
	struct ibv_buf *buf;
	unsigned long times;
	void *address;
	size_t size;

	if (argc != 4)
		return 2;
	size = strtoul(argv[2], NULL, 0);
	times = strtoul(argv[3], NULL, 0);
	pd = context ? &native_pd : ibv_alloc_pd(NULL);
	if (!strcmp(argv[1], "reg_mr") || !strcmp(argv[1], "dereg_mr")) {
		call_library(pd, !strcmp(argv[1], "dereg_mr"), times);
		return 0;
	}
	address = ibv_alloc_buf(pd, size, &buf);
	if (!address)
		fail("ibv_alloc_buf");
	if (!strcmp(argv[1], "register")) {
		while (times--)
			if (!ibv_reg_buf_mr(pd, buf, address, size, 0) && !context)
				fail("ibv_reg_buf_mr");
		return 0;
	}
	while (times--) {
		if (!ibv_alloc_buf(pd, size, &buf))
			fail("ibv_alloc_buf");
		if (!strcmp(argv[1], "pair"))
			ibv_free_buf(buf);
	}
	return 0;
}
