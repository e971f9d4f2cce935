// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A heap that cannot be opened, or has no memory. */
#define _GNU_SOURCE
#include "domains.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct provider_device device;

/* A domain in a guest, with all done that is done once in a process. */
static struct ibv_pd *warmed_up_domain(void)
{
	struct ibv_pd *pd = domain_in_guest(&device);
	struct ibv_pd *parent = parent_with(&device, pd, ALLOW_UNPROTECTED);
	struct ibv_buf *buf;

	cr_assert_not_null(ibv_alloc_buf(parent, 4096, &buf));
	ibv_free_buf(buf);
	cr_assert_eq(ibv_dealloc_pd(parent), 0);
	device.parents_made = 0;
	return pd;
}

Test(heaps, a_missing_one_is_enoent)
{
	static struct possessions before;
	struct ibv_pd *pd = warmed_up_domain();

	heap_offer(NULL);
	note_possessions(&before);
	assert_fails_with(ENOENT, parent_with(&device, pd, ALLOW_UNPROTECTED));
	cr_assert_eq(device.parents_made, 0);
	assert_possessions(&before);
	/* Nothing is wrong with a parent domain that does not ask for it. */
	cr_assert_not_null(parent_with(&device, pd, 0));
}

Test(heaps, one_that_may_not_be_opened_is_eacces)
{
	static struct possessions before;
	struct ibv_pd *pd = warmed_up_domain();
	int fd;

	if (geteuid() != 0)
		cr_skip_test("only root can make a heap that a user may not open");
	cr_assert_eq(unshare(CLONE_NEWNS), 0);
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		cr_skip_test("the root is no mount of its own, as in a chroot");
	cr_assert_eq(mount("none", "/dev", "tmpfs", 0, "mode=755"), 0);
	cr_assert_eq(mkdir("/dev/dma_heap", 0755), 0);
	heap_offer(NULL);
	fd = open("/dev/dma_heap/" HEAP_OF_GUESTS, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	cr_assert_geq(fd, 0);
	close(fd);
	cr_assert_eq(setresuid(65534, 65534, 65534), 0);

	note_possessions(&before);
	assert_fails_with(EACCES, parent_with(&device, pd, ALLOW_UNPROTECTED));
	cr_assert_eq(device.parents_made, 0);
	assert_possessions(&before);
}

static void allow_descriptors(unsigned int count)
{
	struct rlimit limit;

	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = count;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Descriptors are given out from the lowest on; so many are open below the first free one. */
static unsigned int lowest_free(void)
{
	int fd = dup(STDERR_FILENO);

	cr_assert_geq(fd, 0);
	close(fd);
	return (unsigned int)fd;
}

Test(heaps, no_descriptor_for_the_heap_is_emfile)
{
	static struct possessions before;
	struct ibv_pd *pd = warmed_up_domain();

	note_possessions(&before);
	allow_descriptors(lowest_free());
	assert_fails_with(EMFILE, parent_with(&device, pd, ALLOW_UNPROTECTED));
	cr_assert_eq(device.parents_made, 0);
	assert_possessions(&before);
}

Test(heaps, no_descriptor_for_the_memory_is_emfile)
{
	static struct possessions before;
	struct ibv_pd *parent = parent_with(&device, warmed_up_domain(), ALLOW_UNPROTECTED);
	unsigned int free_one = lowest_free();
	struct ibv_buf *buf;

	note_possessions(&before);
	allow_descriptors(free_one);
	assert_fails_with(EMFILE, ibv_alloc_buf(parent, 4096, &buf));
	assert_possessions(&before);
	allow_descriptors(free_one + 1);
	cr_assert_not_null(ibv_alloc_buf(parent, 4096, &buf));
	ibv_free_buf(buf);
}

Test(heaps, one_without_memory_is_enomem)
{
	static struct possessions before;
	struct ibv_pd *parent = parent_with(&device, warmed_up_domain(), ALLOW_UNPROTECTED);
	struct ibv_buf *buf = (struct ibv_buf *)&device;

	note_possessions(&before);
	heap_fail(ENOMEM);
	assert_fails_with(ENOMEM, ibv_alloc_buf(parent, 4096, &buf));
	cr_assert_eq(buf, (struct ibv_buf *)&device);
	assert_possessions(&before);
}

Test(heaps, a_refusal_by_the_provider_gives_the_heap_back)
{
	static struct possessions before;
	struct ibv_pd *pd = warmed_up_domain();

	note_possessions(&before);
	providers_fail(EPERM);
	assert_fails_with(EPERM, parent_with(&device, pd, ALLOW_UNPROTECTED));
	assert_possessions(&before);
}

Test(heaps, the_descriptor_of_one_is_close_on_exec)
{
	struct ibv_pd *pd = warmed_up_domain();
	int fd = (int)lowest_free();

	cr_assert_not_null(parent_with(&device, pd, ALLOW_UNPROTECTED));
	cr_assert_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
}

static void close_standard_descriptors(void)
{
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
}

static void assert_heap_is_no_standard_descriptor(struct ibv_pd *pd)
{
	static struct possessions before;
	struct ibv_pd *parent;

	close_standard_descriptors();
	note_possessions(&before);
	parent = parent_with(&device, pd, ALLOW_UNPROTECTED);
	cr_assert_not_null(parent);
	cr_assert_lt(fcntl(STDIN_FILENO, F_GETFD), 0);
	cr_assert_lt(fcntl(STDOUT_FILENO, F_GETFD), 0);
	cr_assert_eq(ibv_dealloc_pd(parent), 0);
	assert_possessions(&before);
}

Test(heaps, the_descriptor_of_one_is_no_standard_one)
{
	assert_heap_is_no_standard_descriptor(warmed_up_domain());
}

/* As a second thread does that had kept the first off them. */
Test(heaps, the_descriptor_of_one_is_none_that_becomes_free_meanwhile)
{
	struct ibv_pd *pd = warmed_up_domain();

	heap_while_opened(close_standard_descriptors);
	assert_heap_is_no_standard_descriptor(pd);
}

/* In a thread that is to be cancelled at its next cancellation point. */
static void *come_and_go(void *pd)
{
	struct ibv_pd *parent;

	pthread_cancel(pthread_self());
	parent = parent_with(&device, pd, ALLOW_UNPROTECTED);
	if (parent)
		ibv_dealloc_pd(parent);
	/* The provider refuses, and the heap that was opened before is closed. */
	providers_fail(EPERM);
	parent_with(&device, pd, ALLOW_UNPROTECTED);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	return parent;
}

Test(heaps, no_thread_is_cancelled_with_one)
{
	struct ibv_pd *pd = warmed_up_domain();
	unsigned int before = count_descriptors();
	pthread_t thread;
	void *result;

	cr_assert_eq(pthread_create(&thread, NULL, come_and_go, pd), 0);
	cr_assert_eq(pthread_join(thread, &result), 0);
	cr_assert_neq(result, PTHREAD_CANCELED);
	cr_assert_not_null(result);
	cr_assert_eq(count_descriptors(), before);
}
