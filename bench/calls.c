// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The calls of the shim, in this process by preload, over a libibverbs that answers at once
 * (instant.c), against what rdma-core 65 does for the same: a handle from calloc(), memory from
 * posix_memalign(). Native memory is not cleared, ours is; so native is measured with clearing as
 * well, and that is what the goals are about.
 */
#include "harness.h"

#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum contender { OURS, CLEARED, NATIVE, CONTENDERS };

/* What a native handle has. */
struct native_buffer {
	void *address;
	size_t size;
	struct ibv_pd *pd;
	int dmabuf_fd;
};

static struct ibv_pd *pd;

static void *native_alloc(size_t size, struct native_buffer **handle)
{
	struct native_buffer *buffer = calloc(1, sizeof(*buffer));

	if (!buffer || posix_memalign(&buffer->address, (size_t)sysconf(_SC_PAGESIZE), size))
		bench_fail("%zu bytes cannot be had", size);
	buffer->size = size;
	buffer->pd = pd;
	buffer->dmabuf_fd = -1;
	*handle = buffer;
	return buffer->address;
}

static void native_free(struct native_buffer *buffer)
{
	free(buffer->address);
	free(buffer);
}

static void touch(char *address, size_t size)
{
	size_t i;

	for (i = 0; i < size; i += 4096)
		((volatile char *)address)[i] = 1;
}

static void *alloc_buffer(size_t size, struct ibv_buf **buf)
{
	void *address = ibv_alloc_buf(pd, size, buf);

	if (!address)
		bench_fail("%zu bytes cannot be had from the shim", size);
	return address;
}

static void allocate_and_free(enum contender contender, size_t size, bool touching)
{
	struct native_buffer *handle;
	struct ibv_buf *buf;
	void *address;

	if (contender == OURS) {
		address = alloc_buffer(size, &buf);
		if (touching)
			touch(address, size);
		ibv_free_buf(buf);
		return;
	}
	address = native_alloc(size, &handle);
	if (contender == CLEARED)
		memset(address, 0, size);
	if (touching)
		touch(address, size);
	/* Else the compiler could see that nobody reads it. */
	__asm__ volatile("" : : "r"(address) : "memory");
	native_free(handle);
}

/* Nanoseconds for one, of as many as take a while. */
static double allocations(enum contender contender, size_t size, bool touching, uint64_t while_long)
{
	uint64_t begin = bench_now(), end;
	unsigned int count = 0, burst = size <= (1 << 20) ? 16 : 1, i;

	do {
		for (i = 0; i < burst; i++)
			allocate_and_free(contender, size, touching);
		count += burst;
		end = bench_now();
	} while (end - begin < while_long);
	return (double)(end - begin) / count;
}

static const char *size_name(size_t size)
{
	static char name[32];

	if (size >> 30)
		snprintf(name, sizeof(name), "%zu GiB", size >> 30);
	else if (size >> 20)
		snprintf(name, sizeof(name), "%zu MiB", size >> 20);
	else
		snprintf(name, sizeof(name), "%zu KiB", size >> 10);
	return name;
}

static void measure_allocations(size_t size, bool touching, unsigned int rounds,
				uint64_t while_long)
{
	struct bench_case *bench = bench_case_new(touching ? "alloc-touch-free" : "alloc-free",
						  "ns", "%s", size_name(size));
	unsigned int round, turn;

	bench->count = CONTENDERS;
	bench->contenders[OURS] = "ours";
	bench->contenders[CLEARED] = "native, cleared";
	bench->contenders[NATIVE] = "native";
	/* The first round warms up. */
	for (round = 0; round <= rounds; round++) {
		for (turn = 0; turn < CONTENDERS; turn++) {
			unsigned int i = bench_turn(round, turn, CONTENDERS);

			bench->values[i][round ? round - 1 : 0] =
				allocations(i, size, touching, while_long);
		}
	}
	bench->rounds = rounds;
	bench_case_report(bench);
}

/* Registrations of buffers taken in no order, with so many that live. */
static void measure_registrations(unsigned int live, unsigned int rounds, uint64_t while_long)
{
	struct bench_case *bench =
		bench_case_new("register", "ns", "%u live buffer%s", live, live == 1 ? "" : "s");
	struct ibv_buf **bufs = calloc(live, sizeof(*bufs));
	char **addresses = calloc(live, sizeof(*addresses));
	uint64_t state = 1, begin, end;
	unsigned int count, round, i;

	if (!bufs || !addresses)
		bench_fail("out of memory");
	for (i = 0; i < live; i++)
		addresses[i] = alloc_buffer(4096, &bufs[i]);
	for (round = 0; round <= rounds; round++) {
		begin = bench_now();
		count = 0;
		do {
			for (i = 0; i < 64; i++) {
				unsigned int which;

				state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
				which = (unsigned int)((state >> 32) * live >> 32);
				if (!ibv_reg_buf_mr(pd, bufs[which], addresses[which], 4096,
						    IBV_ACCESS_LOCAL_WRITE))
					bench_fail("a buffer cannot be registered");
			}
			count += 64;
			end = bench_now();
		} while (end - begin < while_long);
		bench->values[0][round ? round - 1 : 0] = (double)(end - begin) / count;
	}
	for (i = 0; i < live; i++)
		ibv_free_buf(bufs[i]);
	free(bufs);
	free(addresses);
	bench->count = 1;
	bench->contenders[0] = "ours";
	bench->rounds = rounds;
	bench_case_report(bench);
}

int main(int argc, char **argv)
{
	unsigned int rounds, live;
	uint64_t while_long;
	size_t size, max;

	if (argc != 5) {
		fprintf(stderr, "usage: %s DIRECTORY MAX-MEBIBYTES ROUNDS MILLISECONDS\n", argv[0]);
		return 2;
	}
	max = (size_t)strtoull(argv[2], NULL, 0) << 20;
	rounds = (unsigned int)atoi(argv[3]);
	while_long = strtoull(argv[4], NULL, 0) * 1000000;
	if (!rounds || rounds > BENCH_MAX_ROUNDS)
		bench_fail("that many rounds cannot be measured");

	bench_open(argv[1], "calls");
	bench_pin(0);
	pd = ibv_alloc_pd(NULL);
	if (!pd)
		bench_fail("no domain");
	for (size = 4096; size <= max; size *= 4)
		measure_allocations(size, false, rounds, while_long);
	for (size = 4096; size <= max; size *= 4)
		measure_allocations(size, true, rounds, while_long);
	for (live = 1; live <= 64 * 1024; live *= 256)
		measure_registrations(live, rounds, while_long);
	bench_close();
	return 0;
}
