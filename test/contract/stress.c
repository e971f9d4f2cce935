// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * stress THREADS LIVE
 *
 * Threads that allocate, register and free one another's buffers, while the number of live ones
 * grows from 16 to LIVE and shrinks again. Each answer is checked. Buffers are of one byte and are
 * not touched: their mappings, side by side, are one to the kernel, which has a limit of 65530.
 *
 * Ends with "N passed, N failed": one for each stage.
 */
#include <infiniband/verbs.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "standin.h"

#define MAX_THREADS 64
#define SMALLEST    16
#define USES	    20000

struct slot {
	struct ibv_buf *buf;
	char *address;
};

enum stage { GROW, USE, SHRINK };

static struct ibv_context context;
static struct ibv_pd *pd, *other_pd;
static struct slot *slots;
static size_t page;

static enum stage stage;
static size_t level, next_slot;
static uint64_t faults;

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	/* The first few tell enough. */
	if (__atomic_fetch_add(&faults, 1, __ATOMIC_RELAXED) < 10)
		fprintf(stderr, "stress: %s (errno %d)\n", what, errno);
}

static struct slot make(void)
{
	struct slot slot = {.buf = NULL};

	slot.address = ibv_alloc_buf(pd, 1, &slot.buf);
	check(slot.address, "no buffer");
	check((uintptr_t)slot.address % page == 0, "an address that is not page aligned");
	return slot;
}

static bool is_registrable(struct ibv_pd *domain, struct ibv_buf *buf, char *address, size_t length)
{
	struct ibv_mr *mr;
	bool right;

	errno = 0;
	mr = ibv_reg_buf_mr(domain, buf, address, length, 0);
	if (!mr) {
		check(errno == EINVAL, "refused for another reason than EINVAL");
		return false;
	}
	right = mr->addr == address && mr->length == length;
	check(right, "registered other memory than was asked for");
	ibv_dereg_mr(mr);
	return true;
}

static void grow(void)
{
	size_t i;

	while ((i = __atomic_fetch_add(&next_slot, 1, __ATOMIC_RELAXED)) < level)
		slots[i] = make();
}

static void use(unsigned int seed)
{
	struct slot passing;
	unsigned int i;

	for (i = 0; i < USES; i++) {
		const struct slot *slot = &slots[(size_t)rand_r(&seed) % level];

		switch (rand_r(&seed) % 6) {
		case 0:
			check(!is_registrable(other_pd, slot->buf, slot->address, 1),
			      "registered in another domain");
			break;
		case 1:
			check(!is_registrable(pd, slot->buf, slot->address + 1, 1),
			      "registered what follows a buffer");
			break;
		case 2:
			passing = make();
			check(is_registrable(pd, passing.buf, passing.address, 1),
			      "a buffer of its own cannot be registered");
			ibv_free_buf(passing.buf);
			check(!is_registrable(pd, passing.buf, passing.address, 1),
			      "registered what was freed");
			break;
		case 3:
			errno = 0;
			check(ibv_export_buf_dmabuf_fd(slot->buf) == -1 && errno == ENODATA,
			      "a live buffer is not known to the export");
			break;
		default:
			check(is_registrable(pd, slot->buf, slot->address, 1),
			      "a live buffer cannot be registered");
		}
	}
}

/* The latest first: then what is left stays one mapping. */
static void shrink(void)
{
	size_t i;

	while ((i = __atomic_fetch_add(&next_slot, 1, __ATOMIC_RELAXED)) < level - SMALLEST) {
		struct slot slot = slots[level - 1 - i];

		ibv_free_buf(slot.buf);
		check(!is_registrable(pd, slot.buf, slot.address, 1), "registered what was freed");
	}
}

static void *work(void *argument)
{
	if (stage == GROW)
		grow();
	else if (stage == USE)
		use((unsigned int)(uintptr_t)argument + 1);
	else
		shrink();
	return NULL;
}

static int compare(const void *one, const void *other)
{
	const struct slot *a = one, *b = other;

	return (a->address > b->address) - (a->address < b->address);
}

static void check_all_differ(void)
{
	struct slot *sorted = malloc(level * sizeof(*sorted));
	size_t i;

	if (!sorted) {
		check(false, "no memory for the test itself");
		return;
	}
	for (i = 0; i < level; i++)
		sorted[i] = slots[i];
	qsort(sorted, level, sizeof(*sorted), compare);
	for (i = 1; i < level; i++)
		check((size_t)(sorted[i].address - sorted[i - 1].address) >= page,
		      "two buffers share a page");
	free(sorted);
}

/* Whether nothing was wrong in it. */
static bool run_stage(enum stage which, size_t to, size_t threads)
{
	static const char *const names[] = {"grown to", "used at", "shrunk from"};
	uint64_t before = faults;
	pthread_t ids[MAX_THREADS];
	size_t i;

	if (which == GROW)
		next_slot = level;
	else
		next_slot = 0;
	stage = which;
	level = to;
	for (i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, work, (void *)i)) {
			perror("pthread_create");
			exit(2);
		}
	for (i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	if (which == GROW)
		check_all_differ();
	printf("  %s %zu live buffers\n", names[which], to);
	fflush(stdout);
	return faults == before;
}

int main(int argc, char **argv)
{
	size_t threads = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
	size_t live = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	unsigned int stages = 0, passed = 0;
	size_t to;

	if (!threads || threads > MAX_THREADS || live < SMALLEST) {
		fprintf(stderr, "usage: %s THREADS LIVE\n", argv[0]);
		return 2;
	}
	setenv("IBVBUF_DIAGNOSTICS", "off", 1);
	standin_turn(STANDIN_KEEPS_NO_LOG, true);
	page = (size_t)sysconf(_SC_PAGESIZE);
	slots = calloc(live, sizeof(*slots));
	pd = ibv_alloc_pd(&context);
	other_pd = ibv_alloc_pd(&context);
	if (!slots || !pd || !other_pd)
		return 2;

	for (to = SMALLEST;; to = to < live / 8 ? to * 8 : live) {
		passed += run_stage(GROW, to, threads);
		passed += run_stage(USE, to, threads);
		stages += 2;
		if (to == live)
			break;
	}
	passed += run_stage(SHRINK, live, threads);
	passed += run_stage(USE, SMALLEST, threads);
	stages += 2;

	printf("%u passed, %u failed\n", passed, stages - passed);
	free(slots);
	return passed != stages;
}
