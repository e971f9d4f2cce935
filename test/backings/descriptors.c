// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The descriptors behind a buffer, which the program that has it is not to notice. */
#define _GNU_SOURCE
#include "backings.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

/* In a thread that is to be cancelled at its next cancellation point. */
static void *allocate_cancelled(void *argument)
{
	struct memory *memory = argument;

	pthread_cancel(pthread_self());
	memory->address = ibv_alloc_buf(memory->pd, memory->size, &memory->buf);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	return NULL;
}

static void *free_cancelled(void *argument)
{
	struct memory *memory = argument;

	pthread_cancel(pthread_self());
	ibv_free_buf(memory->buf);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	return NULL;
}

static void assert_not_cancelled(void *(*function)(void *), struct memory *memory)
{
	pthread_t thread;
	void *result;

	cr_assert_eq(pthread_create(&thread, NULL, function, memory), 0);
	cr_assert_eq(pthread_join(thread, &result), 0);
	cr_assert_null(result, "the thread was cancelled in the call");
}

EVERY_BACKING(allocation_is_no_cancellation_point)
{
	struct memory memory = {.pd = the_domain(), .size = 5000};

	(void)backing;
	assert_not_cancelled(allocate_cancelled, &memory);
	cr_assert_not_null(memory.address);
	ibv_free_buf(memory.buf);
}

EVERY_BACKING(a_failing_allocation_is_no_cancellation_point)
{
	struct memory memory = {.pd = the_domain(), .size = 5000};
	unsigned int before;

	warm_up();
	before = count_descriptors();
	if (backing->is_dmabuf)
		heap_fail(ENOMEM);
	else
		memory.size = SIZE_MAX;
	assert_not_cancelled(allocate_cancelled, &memory);
	cr_assert_null(memory.address);
	cr_assert_eq(count_descriptors(), before);
}

EVERY_BACKING(release_is_no_cancellation_point)
{
	struct memory memory;
	unsigned int before;

	(void)backing;
	warm_up();
	before = count_descriptors();
	memory = new_buffer(5000);
	assert_not_cancelled(free_cancelled, &memory);
	cr_assert_eq(count_descriptors(), before);
}

static void close_standard_descriptors(void)
{
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
}

static void assert_standard_descriptors_are_closed(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		cr_assert_lt(fcntl(fd, F_GETFD), 0, "descriptor %d is in use", fd);
}

EVERY_BACKING(none_is_one_of_the_standard_descriptors)
{
	static struct possessions before;
	struct memory memory;

	(void)backing;
	warm_up();
	close_standard_descriptors();
	note_possessions(&before);
	memory = new_buffer(5000);
	assert_standard_descriptors_are_closed();
	ibv_free_buf(memory.buf);
	assert_possessions(&before);
}

EVERY_BACKING(standard_output_that_was_opened_since_stays_open)
{
	int fd, file = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct memory memory;

	(void)backing;
	close_standard_descriptors();
	memory = new_buffer(5000);
	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		cr_assert_eq(dup2(file, fd), fd);
	ibv_free_buf(memory.buf);
	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		cr_assert_eq(write(fd, "hello", 5), 5, "descriptor %d", fd);
}

EVERY_BACKING(where_only_the_standard_descriptors_are_free_it_is_emfile)
{
	struct memory memory;
	unsigned int allowed;

	warm_up();
	close_standard_descriptors();
	for (allowed = 0; allowed < 3 + backing->descriptors; allowed++) {
		limit_descriptors(allowed);
		if (backing->descriptors)
			assert_no_buffer(EMFILE, 5000);
	}
	limit_descriptors(allowed);
	memory = new_buffer(5000);
	assert_standard_descriptors_are_closed();
	ibv_free_buf(memory.buf);
}

EVERY_BACKING(where_no_number_from_three_on_may_be_used_it_is_emfile)
{
	struct rlimit limit;

	warm_up();
	close_standard_descriptors();
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = 3;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	if (backing->descriptors)
		assert_no_buffer(EMFILE, 5000);
}

/* As another thread does that has put up what kept us from them. */
static void test_meanwhile(const struct backing_case *backing)
{
	static struct possessions before;
	struct memory memory;

	choose_backing(backing);
	warm_up();
	close_standard_descriptors();
	note_possessions(&before);
	heap_while_opened(close_standard_descriptors);
	memory = new_buffer(5000);
	assert_standard_descriptors_are_closed();
	ibv_free_buf(memory.buf);
	assert_possessions(&before);
	cr_assert_eq(heap_vain_closes(), 0, "what another thread has opened may be closed");
}

Test(here_dma_heap, what_is_closed_meanwhile_is_not_closed_again)
{
	test_meanwhile(&here_dma_heap);
}

Test(here_udmabuf, what_is_closed_meanwhile_is_not_closed_again)
{
	test_meanwhile(&here_udmabuf);
}
