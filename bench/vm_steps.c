// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The life of a buffer on a real device, each step timed by itself:
 *
 *	vm_steps ROUND CONTENDER PAGES MAX-MEBIBYTES
 *
 * prints lines for collect.c. The same program meets the shim or a native library. CONTENDER and
 * PAGES are names for the lines only.
 */
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 16

enum step { ALLOCATE, TOUCH, REGISTER, DEREGISTER, FREE, STEPS };

static const char *const step_names[STEPS] = {"allocate", "touch", "register", "deregister",
					      "free"};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* A buffer, and when each of its steps began. */
struct life {
	struct ibv_buf *buf;
	struct ibv_mr *mr;
	uint64_t at[STEPS + 1];
};

static void begin(struct ibv_pd *pd, size_t size, struct life *life)
{
	char *address;
	size_t i;

	life->at[ALLOCATE] = now();
	address = ibv_alloc_buf(pd, size, &life->buf);
	if (!address)
		fail("ibv_alloc_buf");
	life->at[TOUCH] = now();
	for (i = 0; i < size; i += 4096)
		((volatile char *)address)[i] = 1;
	life->at[REGISTER] = now();
	life->mr = ibv_reg_buf_mr(pd, life->buf, address, size,
				  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!life->mr)
		fail("ibv_reg_buf_mr");
	life->at[REGISTER + 1] = now();
}

static void end(struct life *life)
{
	/* What went on between is not part of it. */
	uint64_t away = now() - life->at[DEREGISTER];

	if (ibv_dereg_mr(life->mr))
		fail("ibv_dereg_mr");
	life->at[FREE] = now() - away;
	ibv_free_buf(life->buf);
	life->at[STEPS] = now() - away;
}

/* The first process finds the emulator cold: it had another contender's code to translate. */
static bool is_warming_up = true;

static void put(const char *step, const char *which, size_t size, char **argv, double value)
{
	if (is_warming_up)
		return;
	printf("vm-%s-%s\t%zu KiB, %s\tus\t%s\t%s\t%.3f\n", step, argv[3], size >> 10, which,
	       argv[2], argv[1], value);
}

/* Small buffers live several at a time, as they do in programs. */
static void measure(struct ibv_pd *pd, size_t size, const char *which, char **argv)
{
	unsigned int count = size < (1 << 20) ? MOST : size < (16 << 20) ? 4 : 1;
	struct life lives[MOST];
	double sum = 0;
	unsigned int step, i;

	for (i = 0; i < count; i++)
		begin(pd, size, &lives[i]);
	for (i = 0; i < count; i++)
		end(&lives[i]);
	for (step = 0; step < STEPS; step++) {
		double value = 0;

		for (i = 0; i < count; i++)
			value += (double)(lives[i].at[step + 1] - lives[i].at[step]) / count / 1000;
		put(step_names[step], which, size, argv, value);
		if (step <= REGISTER)
			sum += value;
	}
	put("sum", which, size, argv, sum);
}

/* In a process of its own, so that nothing is left of other sizes. */
static void measure_in_child(size_t size, char **argv)
{
	struct ibv_context *context;
	struct ibv_device **list;
	struct ibv_pd *pd;
	struct life life;
	pid_t child = fork();
	int status;

	if (child < 0)
		fail("fork");
	if (child) {
		if (waitpid(child, &status, 0) != child || status)
			fail("a size");
		return;
	}
	list = ibv_get_device_list(NULL);
	context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	pd = context ? ibv_alloc_pd(context) : NULL;
	if (!pd)
		fail("no device, or no domain");
	/* Binds the symbols. */
	begin(pd, 4096, &life);
	end(&life);
	measure(pd, size, "first", argv);
	measure(pd, size, "again", argv);
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	size_t size, max;

	if (argc != 5)
		return 2;
	max = (size_t)strtoull(argv[4], NULL, 0) << 20;
	measure_in_child(4096, argv);
	is_warming_up = false;
	for (size = 4096; size <= max; size *= size < (64 << 20) ? 4 : 2)
		measure_in_child(size, argv);
	return 0;
}
