// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Buffers and fork(), where the shim supplies them. A child tells by its exit status which of its
 * expectations failed: 0 for none.
 */
#define _GNU_SOURCE
#include "registrations.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* More than is kept for the next buffer; see small.c for less. */
#define SIZE (KEPT_MOST + 10000)

/* Names the line in the exit status, as far as 7 bits go: tests are short enough. */
#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return __LINE__ % 127 + 1;                                                 \
	} while (0)

static int use_own_buffers(void *argument)
{
	const struct memory *parents = argument;
	struct memory memory = {.pd = parents->pd, .size = SIZE};
	int i;

	for (i = 0; i < REPEATS(100); i++) {
		memory.address = ibv_alloc_buf(memory.pd, SIZE, &memory.buf);
		EXPECT(memory.address);
		EXPECT(memory.buf != parents->buf);
		memory.address[SIZE - 1] = 1;
		EXPECT(is_registrable(&memory));
		ibv_free_buf(memory.buf);
		EXPECT(is_unmapped(memory.address, SIZE));
	}
	return 0;
}

static int free_parents_buffer(void *argument)
{
	const struct memory *parents = argument;

	ibv_free_buf(parents->buf);
	errno = 0;
	EXPECT(!ibv_reg_buf_mr(parents->pd, parents->buf, parents->address, 1, 0));
	EXPECT(errno == EINVAL);
	return 0;
}

static int find_it_inherited(void *argument)
{
	const struct memory *parents = argument;

	EXPECT(is_mapped(parents->address, SIZE));
	EXPECT(parents->address[SIZE - 1] == 'p');
	parents->address[SIZE - 1] = 'c';
	return free_parents_buffer(argument);
}

static int find_it_kept_away(void *argument)
{
	const struct memory *parents = argument;

	EXPECT(is_unmapped(parents->address, SIZE));
	return free_parents_buffer(argument);
}

/* Something else, at the place of a buffer that was kept away, is not the shim's to unmap. */
static int put_something_else_there(void *argument)
{
	const struct memory *parents = argument;
	char *other;

	EXPECT(is_unmapped(parents->address, SIZE));
	other = mmap(parents->address, 3 * page_size(), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	EXPECT(other == parents->address);
	memset(other, 'o', 3 * page_size());
	ibv_free_buf(parents->buf);
	EXPECT(is_mapped(other, 3 * page_size()));
	EXPECT(other[0] == 'o' && other[3 * page_size() - 1] == 'o');
	return 0;
}

static int have_a_child(void *argument)
{
	int status = in_child(put_something_else_there, argument);

	return status ? status : put_something_else_there(argument);
}

static struct memory make_parents_buffer(bool fork_support)
{
	struct memory memory;

	standin_turn(STANDIN_FORK_SUPPORT, fork_support);
	memory = make_buffer(SIZE);
	memory.address[SIZE - 1] = 'p';
	return memory;
}

static void assert_intact(struct memory *memory)
{
	cr_assert(is_mapped(memory->address, SIZE));
	cr_assert_eq(memory->address[SIZE - 1], 'p');
	cr_assert(is_registrable(memory));
	ibv_free_buf(memory->buf);
	cr_assert(is_unmapped(memory->address, SIZE));
}

static void assert_child(bool fork_support, int (*run)(void *argument))
{
	struct memory memory = make_parents_buffer(fork_support);
	int status;

	capture_errors();
	status = in_child(run, &memory);
	cr_assert_eq(status, 0, "the child ended with %d", status);
	assert_intact(&memory);
}

Test(supplied_fork, a_child_has_buffers_of_its_own)
{
	assert_child(false, use_own_buffers);
}

Test(supplied_fork, a_child_has_buffers_of_its_own_with_fork_support)
{
	assert_child(true, use_own_buffers);
}

Test(supplied_fork, without_fork_support_a_buffer_is_inherited)
{
	assert_child(false, find_it_inherited);
}

Test(supplied_fork, with_fork_support_a_buffer_is_kept_from_the_child)
{
	assert_child(true, find_it_kept_away);
}

Test(supplied_fork, what_a_child_put_in_the_place_of_a_buffer_stays)
{
	assert_child(true, put_something_else_there);
}

Test(supplied_fork, so_it_does_in_a_grandchild)
{
	assert_child(true, have_a_child);
}

/* Before 35 nobody can tell whether there is fork support: then it stays, to be safe. */
static int free_its_copy(void *argument)
{
	const struct memory *parents = argument;

	ibv_free_buf(parents->buf);
	EXPECT(is_unmapped(parents->address, SIZE) ||
	       !library_has(STANDIN_ibv_is_fork_initialized));
	return 0;
}

Test(supplied_fork, a_childs_free_of_an_inherited_buffer_takes_its_copy)
{
	assert_child(false, free_its_copy);
}

/* A clone() that no handler of pthread_atfork() sees. */
Test(supplied_fork, a_raw_clone_is_a_child_too)
{
	struct memory memory = make_parents_buffer(true);
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	int status;

	if (!child)
		_exit(put_something_else_there(&memory));
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0, "the child ended with status %#x", (unsigned int)status);
	assert_intact(&memory);
}

static int free_own_with_fork_support(void *argument)
{
	struct memory *parents = argument;
	struct memory memory = {.pd = parents->pd, .size = SIZE};

	memory.address = ibv_alloc_buf(memory.pd, SIZE, &memory.buf);
	EXPECT(memory.address);
	ibv_free_buf(memory.buf);
	EXPECT(is_unmapped(memory.address, SIZE));
	return 0;
}

Test(supplied_fork, a_childs_own_buffer_goes_when_it_is_freed)
{
	assert_child(true, free_own_with_fork_support);
}

/*
 * Where the kernel copies for children, the library says so, whether or not it keeps from them what
 * is registered: it does from 35 to 50, after ibv_fork_init().
 */
Test(supplied_fork, a_child_frees_what_a_registration_kept_from_it)
{
	struct memory memory;
	int status;

	standin_turn(STANDIN_FORK_SUPPORT, true);
	standin_turn(STANDIN_FORK_UNNEEDED, true);
	memory = make_buffer(SIZE);
	madvise(memory.address, SIZE, MADV_DONTFORK);
	status = in_child(put_something_else_there, &memory);
	if (library_has(STANDIN_ibv_reg_mr_ex))
		cr_assert_neq(status, 0,
			      "from 51 on nothing is kept, so what is freed is unmapped");
	else
		cr_assert_eq(status, 0, "the child ended with %d", status);
	madvise(memory.address, SIZE, MADV_DOFORK);
	ibv_free_buf(memory.buf);
}

/* Made in a signal handler, when the memory is already kept from children. */
static pid_t child_of_handler = -1;
static char *in_the_gap;

static void fork_where_it_is_kept(const struct standin_call *call)
{
	char *address = (char *)(uintptr_t)call->arguments[0];
	size_t length = (size_t)call->arguments[1];

	if (child_of_handler >= 0)
		return;
	madvise(address, length, MADV_DONTFORK);
	child_of_handler = fork();
	if (child_of_handler == 0)
		in_the_gap = mmap(address, length, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

Test(supplied_fork, in_the_middle_of_an_allocation)
{
	struct memory memory;
	int status;

	standin_turn(STANDIN_FORK_SUPPORT, true);
	standin_interrupt(STANDIN_ibv_dontfork_range, fork_where_it_is_kept);
	memory = make_buffer(SIZE);
	ibv_free_buf(memory.buf);
	if (child_of_handler == 0)
		_exit(in_the_gap == memory.address && is_mapped(in_the_gap, SIZE) ? 0 : 1);
	cr_assert(is_unmapped(memory.address, SIZE));
	cr_assert_eq(waitpid(child_of_handler, &status, 0), child_of_handler);
	cr_assert_eq(status, 0);
}

static bool stop;

static void *churn(void *argument)
{
	struct ibv_pd *pd = argument;
	struct ibv_buf *buf;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		if (ibv_alloc_buf(pd, 1, &buf))
			ibv_free_buf(buf);
		sched_yield();
	}
	return NULL;
}

Test(supplied_fork, in_the_middle_of_other_threads_work)
{
	struct memory memory = make_parents_buffer(true);
	pthread_t threads[2];
	int i, status;

	capture_errors();
	for (i = 0; i < 2; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, churn, memory.pd), 0);
	for (i = 0; i < REPEATS(50); i++) {
		status = in_child(use_own_buffers, &memory);
		cr_assert_eq(status, 0, "child %d ended with %d", i, status);
		status = in_child(put_something_else_there, &memory);
		cr_assert_eq(status, 0, "child %d ended with %d", i, status);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_intact(&memory);
}
