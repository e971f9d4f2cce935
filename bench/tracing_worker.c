// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A program that registers and deregisters, for traced_calls:
 *
 *	tracing_worker calls|clocks|event|events
 *
 * calls: the calls as they are; who traces them does it from outside. clocks: no call, but the two
 * readings of the clock that tell how long one took. event, events: the calls, and LTTng-UST's
 * events of them.
 *
 * Reads bursts from standard input, and writes what each took to standard output.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "tracing_lttng.h"
#include "tracing_worker.h"

#include "ibvbuf/trace.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#undef ibv_reg_mr

#define ACCESS IBV_ACCESS_LOCAL_WRITE

static struct ibv_pd *pd;
static struct ibv_mr *mr;
static char memory[4096];
static uint32_t thread;

static inline void call_reg_mr(void)
{
	ibv_reg_mr(pd, memory, sizeof(memory), ACCESS);
}

static inline void call_dereg_mr(void)
{
	ibv_dereg_mr(mr);
}

static inline void read_clocks(void)
{
	uint64_t begin = bench_now(), end = bench_now();

	/* Else the compiler could see that nobody wants them. */
	__asm__ volatile("" : : "r"(begin), "r"(end));
}

/* The record's fields, less its times, which LTTng has of its own. */
static inline void emit(uint16_t call, int error, const struct ibv_mr *region, uint32_t access)
{
	const struct ibvbuf_trace_record record = {
		.thread = thread,
		.call = call,
		.error = error,
		.device = 0,
		.pd = (uintptr_t)region->pd,
		.object = (uintptr_t)region,
		.address = (uintptr_t)memory,
		.length = sizeof(memory),
		.iova = (uintptr_t)memory,
		.fd = -1,
		.access = access,
		.lkey = region->lkey,
		.rkey = region->rkey,
		.handle = region->handle,
		.caller = (uintptr_t)__builtin_return_address(0),
	};

	lttng_ust_tracepoint(ibvbuf_bench, call, &record);
}

static inline void event_reg_mr(void)
{
	struct ibv_mr *region = ibv_reg_mr(pd, memory, sizeof(memory), ACCESS);

	emit(IBVBUF_TRACE_REG_MR, region ? 0 : errno, region, ACCESS);
}

static inline void event_dereg_mr(void)
{
	int result = ibv_dereg_mr(mr);

	emit(IBVBUF_TRACE_DEREG_MR, result, mr, 0);
}

static inline void events_reg_mr(void)
{
	lttng_ust_tracepoint(ibvbuf_bench, begin, IBVBUF_TRACE_REG_MR);
	event_reg_mr();
}

static inline void events_dereg_mr(void)
{
	lttng_ust_tracepoint(ibvbuf_bench, begin, IBVBUF_TRACE_DEREG_MR);
	event_dereg_mr();
}

/* Inlined for each: a call through a pointer would be measured as well. */
static inline __attribute__((always_inline)) double measure(uint32_t count, void (*one)(void))
{
	uint64_t begin = bench_now();
	uint32_t i;

	for (i = 0; i < count; i++)
		one();
	return (double)(bench_now() - begin) / count;
}

static double run(char way, const struct burst *burst)
{
	bool registers = burst->call == TRACED_REG_MR;

	switch (way) {
	case 'c':
		return registers ? measure(burst->count, call_reg_mr)
				 : measure(burst->count, call_dereg_mr);
	case '1':
		return registers ? measure(burst->count, event_reg_mr)
				 : measure(burst->count, event_dereg_mr);
	case '2':
		return registers ? measure(burst->count, events_reg_mr)
				 : measure(burst->count, events_dereg_mr);
	default:
		return measure(burst->count, read_clocks);
	}
}

static char way_of(const char *name)
{
	if (!strcmp(name, "calls"))
		return 'c';
	if (!strcmp(name, "event"))
		return '1';
	if (!strcmp(name, "events"))
		return '2';
	if (strcmp(name, "clocks"))
		bench_fail("there is no way '%s'", name);
	return 't';
}

int main(int argc, char **argv)
{
	struct burst burst;
	double taken;
	char way;

	if (argc != 2)
		bench_fail("usage: %s calls|clocks|event|events", argv[0]);
	way = way_of(argv[1]);
	thread = (uint32_t)syscall(SYS_gettid);
	pd = ibv_alloc_pd(NULL);
	mr = pd ? ibv_reg_mr(pd, memory, sizeof(memory), ACCESS) : NULL;
	if (!mr)
		bench_fail("nothing can be registered");
	while (read(STDIN_FILENO, &burst, sizeof(burst)) == sizeof(burst)) {
		taken = run(way, &burst);
		if (write(STDOUT_FILENO, &taken, sizeof(taken)) != sizeof(taken))
			bench_fail("nobody reads");
	}
	return 0;
}
