// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A program with phases, for a trace to look at; it needs nothing but an ordinary libibverbs. A
 * model is loaded and unloaded, a cache grows and is evicted, requests come and go, checkpoints are
 * written. It has faults to be found: two error paths forget to deregister, and one registration
 * asks for more than its memory allows.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* Each place that registers is a function of its own in the trace. */
#define PLACE static __attribute__((noinline))

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

#define MODEL_PARTS    10
#define CACHE_CAPACITY 24
#define CACHE_KEPT     5
#define CHECKPOINTS    3

static struct ibv_pd *pd;
static atomic_bool is_done;

static void fail(const char *what)
{
	fprintf(stderr, "registrations: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void pause_for(unsigned int milliseconds)
{
	struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};

	nanosleep(&time, NULL);
}

static void *map(size_t size, int protection)
{
	void *memory = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		fail("mmap");
	return memory;
}

static struct ibv_mr *registered(struct ibv_mr *mr)
{
	if (!mr)
		fail("ibv_reg_mr");
	return mr;
}

static void drop(struct ibv_mr *mr)
{
	void *memory = mr->addr;
	size_t size = mr->length;

	if (ibv_dereg_mr(mr))
		fail("ibv_dereg_mr");
	munmap(memory, size);
}

PLACE void load_model(struct ibv_mr *model[MODEL_PARTS])
{
	const size_t size = 8 * MIB;
	int i;

	for (i = 0; i < MODEL_PARTS; i++) {
		model[i] = registered(ibv_reg_mr(pd, map(size, PROT_READ | PROT_WRITE), size,
						 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ));
		pause_for(90);
	}
}

static void unload_model(struct ibv_mr *model[MODEL_PARTS])
{
	int i;

	for (i = 0; i < MODEL_PARTS; i++) {
		drop(model[i]);
		pause_for(40);
	}
}

PLACE void write_checkpoint(void)
{
	const size_t size = 32 * MIB;
	struct ibv_mr *mr = registered(
		ibv_reg_mr(pd, map(size, PROT_READ | PROT_WRITE), size, IBV_ACCESS_LOCAL_WRITE));

	pause_for(350);
	drop(mr);
}

PLACE struct ibv_mr *register_block(void)
{
	const size_t size = 3 * MIB;

	return registered(ibv_reg_mr(pd, map(size, PROT_READ | PROT_WRITE), size,
				     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
}

static void *run_cache(void *unused)
{
	struct ibv_mr *cache[CACHE_CAPACITY];
	unsigned int seed = 5;
	int count = 0, round;

	for (round = 0; round < 3; round++) {
		while (count < 10 + 7 * round) {
			cache[count++] = register_block();
			pause_for(60 + (unsigned int)rand_r(&seed) % 40);
		}
		pause_for(200);
		while (count > CACHE_KEPT) {
			drop(cache[--count]);
			pause_for(15);
		}
	}
	while (count)
		drop(cache[--count]);
	return unused;
}

PLACE struct ibv_mr *register_request(unsigned int *seed)
{
	size_t size = (64 + (size_t)rand_r(seed) % 1024) * 4 * KIB;

	return registered(ibv_reg_mr(pd, map(size, PROT_READ | PROT_WRITE), size,
				     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ));
}

PLACE struct ibv_mr *register_reply(unsigned int *seed)
{
	size_t size = (1 + (size_t)rand_r(seed) % 8) * 256 * KIB;

	return registered(
		ibv_reg_mr(pd, map(size, PROT_READ | PROT_WRITE), size, IBV_ACCESS_LOCAL_WRITE));
}

static void *serve(void *unused)
{
	unsigned int seed = 1, served;

	for (served = 1; !atomic_load_explicit(&is_done, memory_order_relaxed); served++) {
		struct ibv_mr *request = register_request(&seed);
		struct ibv_mr *reply = register_reply(&seed);

		pause_for(20 + (unsigned int)rand_r(&seed) % 50);
		/* Two faults. */
		if (served % 31)
			drop(request);
		if (served % 47)
			drop(reply);
	}
	return unused;
}

/* Another fault: what can only be read is registered for writing. */
PLACE void register_constants(void)
{
	void *constants = map(MIB, PROT_READ);

	if (!ibv_reg_mr(pd, constants, MIB, IBV_ACCESS_LOCAL_WRITE))
		fprintf(stderr, "registrations: constants: %s\n", strerror(errno));
}

int main(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context;
	struct ibv_mr *model[MODEL_PARTS];
	pthread_t server, cache;
	int i;

	if (!devices || !*devices) {
		fputs("registrations: there is no RDMA device\n", stderr);
		return 1;
	}
	context = ibv_open_device(*devices);
	ibv_free_device_list(devices);
	if (!context)
		fail("ibv_open_device");
	pd = ibv_alloc_pd(context);
	if (!pd)
		fail("ibv_alloc_pd");

	load_model(model);
	if (pthread_create(&server, NULL, serve, NULL) ||
	    pthread_create(&cache, NULL, run_cache, NULL))
		fail("pthread_create");
	for (i = 0; i < CHECKPOINTS; i++) {
		pause_for(900);
		write_checkpoint();
	}
	register_constants();
	pthread_join(cache, NULL);
	atomic_store_explicit(&is_done, true, memory_order_relaxed);
	pthread_join(server, NULL);
	unload_model(model);
	return 0;
}
