// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Over a library with buffers of its own every call goes to it, as it is; over 64, the export that
 * it lacks is supplied.
 */
#define _GNU_SOURCE
#include "registrations.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

Test(native_calls, alloc_buf_is_the_librarys)
{
	struct ibv_pd *pd = make_domain();
	struct ibv_buf *buf;
	void *address = ibv_alloc_buf(pd, 12345, &buf);

	cr_assert_not_null(address);
	cr_assert_eq(CALLS(ibv_alloc_buf), 1);
	cr_assert_eq(ARGUMENT(ibv_alloc_buf, 0), WORD(pd));
	cr_assert_eq(ARGUMENT(ibv_alloc_buf, 1), 12345);
	cr_assert_eq(ARGUMENT(ibv_alloc_buf, 2), WORD(&buf));
	cr_assert_eq(CALLS(ibv_dontfork_range), 0);
	ibv_free_buf(buf);
}

Test(native_calls, failures_of_alloc_buf_pass_through)
{
	struct ibv_buf *buf = (struct ibv_buf *)(uintptr_t)0x5eed;
	struct ibv_pd *pd = make_domain();

	assert_null_with(EINVAL, ibv_alloc_buf(pd, 0, &buf));
	assert_null_with(EINVAL, ibv_alloc_buf(NULL, 1, &buf));
	assert_null_with(EINVAL, ibv_alloc_buf(pd, 1, NULL));
	standin_fail(STANDIN_ibv_alloc_buf, ENOENT);
	assert_null_with(ENOENT, ibv_alloc_buf(pd, 1, &buf));
	cr_assert_eq(buf, (struct ibv_buf *)(uintptr_t)0x5eed);
	cr_assert_eq(CALLS(ibv_alloc_buf), 4);
}

Test(native_calls, free_buf_is_the_librarys)
{
	struct memory memory = make_buffer(100);

	ibv_free_buf(memory.buf);
	cr_assert_eq(CALLS(ibv_free_buf), 1);
	cr_assert_eq(ARGUMENT(ibv_free_buf, 0), WORD(memory.buf));
}

Test(native_calls, reg_buf_mr_is_the_librarys)
{
	struct memory memory = make_buffer(100);
	struct ibv_mr *mr = ibv_reg_buf_mr(memory.pd, memory.buf, memory.address + 3, 50, 7);

	cr_assert_not_null(mr);
	cr_assert_eq(CALLS(ibv_reg_buf_mr), 1);
	cr_assert_eq(ARGUMENT(ibv_reg_buf_mr, 0), WORD(memory.pd));
	cr_assert_eq(ARGUMENT(ibv_reg_buf_mr, 1), WORD(memory.buf));
	cr_assert_eq(ARGUMENT(ibv_reg_buf_mr, 2), WORD(memory.address + 3));
	cr_assert_eq(ARGUMENT(ibv_reg_buf_mr, 3), 50);
	cr_assert_eq(ARGUMENT(ibv_reg_buf_mr, 4), 7);
	/* The library's own, which goes the same way again. */
	cr_assert_eq(CALLS(ibv_reg_mr_ex), 1);
	ibv_dereg_mr(mr);
	ibv_free_buf(memory.buf);
}

Test(native_calls, reg_mr_ex_is_the_librarys_whatever_the_mask)
{
	struct ibv_pd *pd = make_domain();
	struct ibv_mr_init_attr attr;
	struct ibv_mr *mr;
	uint64_t mask;

	memset(&attr, 0x5a, sizeof(attr));
	for (mask = 0; mask < 1 << 7; mask++) {
		attr.comp_mask = mask;
		mr = ibv_reg_mr_ex(pd, &attr);
		cr_assert_not_null(mr);
		cr_assert_eq(CALLS(ibv_reg_mr_ex), mask + 1);
		cr_assert_eq(registrations(), mask + 1);
		cr_assert_eq(ARGUMENT(ibv_reg_mr_ex, 0), WORD(pd));
		cr_assert_eq(ARGUMENT(ibv_reg_mr_ex, 1), WORD(&attr));
		ibv_dereg_mr(mr);
	}
}

/* No older call is tried: a library that has it all knows what it cannot do. */
Test(native_calls, failures_of_registration_pass_through)
{
	static const int errors[] = {EPERM, ENOMEM, EFAULT, EOPNOTSUPP, EINVAL};
	struct memory memory = make_buffer(100);
	struct ibv_mr_init_attr attr = {
		.length = 100,
		.comp_mask = IBV_REG_MR_MASK_ADDR,
		.addr = memory.address,
	};
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		standin_fail(STANDIN_ibv_reg_mr_ex, errors[i]);
		assert_null_with(errors[i], ibv_reg_mr_ex(memory.pd, &attr));
		assert_null_with(errors[i],
				 ibv_reg_buf_mr(memory.pd, memory.buf, memory.address, 1, 0));
	}
	cr_assert_eq(registrations(), CALLS(ibv_reg_mr_ex));
	ibv_free_buf(memory.buf);
}

Test(native_calls, nothing_is_said)
{
	capture_errors();
	ibv_free_buf(make_buffer(10).buf);
	cr_assert_str_eq(captured_errors(), "");
}

Test(native_export, of_an_ordinary_buffer_is_refused)
{
	struct memory memory = make_buffer(100);

	errno = 0;
	cr_assert_eq(ibv_export_buf_dmabuf_fd(memory.buf), -1);
	cr_assert_eq(errno, ENODATA);
	ibv_free_buf(memory.buf);
}

Test(native_export, is_the_librarys_where_it_has_it)
{
	struct memory memory;

	if (!library_has(STANDIN_ibv_export_buf_dmabuf_fd))
		return;
	memory = make_buffer(100);
	standin_fail(STANDIN_ibv_export_buf_dmabuf_fd, EPERM);
	errno = 0;
	cr_assert_eq(ibv_export_buf_dmabuf_fd(memory.buf), -1);
	cr_assert_eq(errno, EPERM);
	cr_assert_eq(CALLS(ibv_export_buf_dmabuf_fd), 1);
	cr_assert_eq(ARGUMENT(ibv_export_buf_dmabuf_fd, 0), WORD(memory.buf));
	ibv_free_buf(memory.buf);
}

static struct memory make_file_buffer(size_t size)
{
	standin_turn(STANDIN_BUFFERS_ARE_FILES, true);
	return make_buffer(size);
}

/* Whether what is written at the address is read from the fd. */
static bool is_file_of(int fd, char *address, size_t offset)
{
	char byte = (char)(address[offset] + 1);
	char got = 0;

	address[offset] = byte;
	return pread(fd, &got, 1, (off_t)offset) == 1 && got == byte;
}

Test(native_export, gives_the_memory_of_the_buffer)
{
	struct memory memory = make_file_buffer(3 * page_size());
	int fd = ibv_export_buf_dmabuf_fd(memory.buf);

	cr_assert_geq(fd, 3, "fd %d, errno %d", fd, errno);
	cr_assert(is_file_of(fd, memory.address, 0));
	cr_assert(is_file_of(fd, memory.address, memory.size - 1));
	cr_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	ibv_free_buf(memory.buf);
}

Test(native_export, keeps_errno)
{
	struct memory memory = make_file_buffer(1);
	int fd;

	errno = ERRNO_BEFORE;
	fd = ibv_export_buf_dmabuf_fd(memory.buf);
	cr_assert_geq(fd, 3);
	cr_assert_eq(errno, ERRNO_BEFORE);
	close(fd);
	ibv_free_buf(memory.buf);
}

Test(native_export, gives_a_new_descriptor_each_time)
{
	struct memory memory = make_file_buffer(page_size());
	int first = ibv_export_buf_dmabuf_fd(memory.buf);
	int second = ibv_export_buf_dmabuf_fd(memory.buf);
	struct stat one, other;

	cr_assert_geq(first, 3);
	cr_assert_geq(second, 3);
	cr_assert_neq(first, second);
	cr_assert_eq(fstat(first, &one), 0);
	cr_assert_eq(fstat(second, &other), 0);
	cr_assert_eq(one.st_ino, other.st_ino);
	cr_assert_eq(one.st_dev, other.st_dev);
	close(first);
	cr_assert(is_file_of(second, memory.address, 0));
	close(second);
	cr_assert_geq(first = ibv_export_buf_dmabuf_fd(memory.buf), 3);
	close(first);
	ibv_free_buf(memory.buf);
}

Test(native_export, tells_one_buffer_from_another)
{
	struct memory memory[5];
	char byte;
	size_t i;
	int fd;

	for (i = 0; i < 5; i++) {
		memory[i] = make_file_buffer(page_size());
		memory[i].address[7] = (char)('a' + i);
	}
	for (i = 0; i < 5; i++) {
		fd = ibv_export_buf_dmabuf_fd(memory[i].buf);
		cr_assert_geq(fd, 3);
		cr_assert_eq(pread(fd, &byte, 1, 7), 1);
		cr_assert_eq(byte, (char)('a' + i));
		close(fd);
	}
	for (i = 0; i < 5; i++)
		ibv_free_buf(memory[i].buf);
}

Test(native_export, outlives_the_buffer)
{
	struct memory memory = make_file_buffer(page_size());
	int fd = ibv_export_buf_dmabuf_fd(memory.buf);
	struct stat status;
	char byte;

	memory.address[5] = 'x';
	ibv_free_buf(memory.buf);
	cr_assert_eq(fstat(fd, &status), 0);
	cr_assert_eq(pread(fd, &byte, 1, 5), 1);
	cr_assert_eq(byte, 'x');
	close(fd);
}

Test(native_export, never_gives_0_1_or_2)
{
	struct memory memory = make_file_buffer(page_size());
	int fd;

	close(0);
	close(1);
	close(2);
	fd = ibv_export_buf_dmabuf_fd(memory.buf);
	cr_assert_geq(fd, 3);
	cr_assert_lt(fcntl(0, F_GETFD), 0);
	cr_assert_lt(fcntl(1, F_GETFD), 0);
	close(fd);
	ibv_free_buf(memory.buf);
}

static int open_descriptors(void)
{
	int count = 0;
	int fd;

	for (fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

Test(native_export, leaves_no_other_descriptor_open)
{
	struct memory memory = make_file_buffer(page_size());
	int before = open_descriptors();
	int fd = ibv_export_buf_dmabuf_fd(memory.buf);

	cr_assert_geq(fd, 3);
	cr_assert_eq(open_descriptors(), before + 1);
	close(fd);
	ibv_free_buf(memory.buf);
}

Test(native_export, without_a_descriptor_left_is_emfile)
{
	struct memory memory = make_file_buffer(page_size());
	struct rlimit limit;
	int next = dup(1);

	close(next);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = (rlim_t)next;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	errno = 0;
	cr_assert_eq(ibv_export_buf_dmabuf_fd(memory.buf), -1);
	cr_assert_eq(errno, EMFILE);

	limit.rlim_cur = (rlim_t)next + 16;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_assert_geq(ibv_export_buf_dmabuf_fd(memory.buf), 3);
	ibv_free_buf(memory.buf);
}

enum { TRIES = REPEATS(1000) };

/* A number that is a descriptor of the buffer at one moment, and of something else at the next. */
struct changing {
	int number;
	int buffer, other;
	bool is_over;
};

static void *change(void *argument)
{
	struct changing *changing = argument;

	while (!__atomic_load_n(&changing->is_over, __ATOMIC_RELAXED)) {
		dup2(changing->buffer, changing->number);
		dup2(changing->other, changing->number);
	}
	return NULL;
}

Test(native_export, never_gives_what_a_number_has_become)
{
	/* Before the buffer's own, and so found before it. */
	struct changing changing = {.number = dup(1), .other = open("/dev/null", O_RDWR)};
	struct memory memory = make_file_buffer(page_size());
	struct stat wanted, got;
	pthread_t thread;
	int i, fd;

	changing.buffer = ibv_export_buf_dmabuf_fd(memory.buf);
	cr_assert_eq(fstat(changing.buffer, &wanted), 0);
	cr_assert_eq(pthread_create(&thread, NULL, change, &changing), 0);
	for (i = 0; i < TRIES; i++) {
		fd = ibv_export_buf_dmabuf_fd(memory.buf);
		cr_assert_eq(fstat(fd, &got), 0, "fd %d, errno %d", fd, errno);
		cr_assert_eq(got.st_ino, wanted.st_ino, "another file after %d tries", i);
		close(fd);
	}
	__atomic_store_n(&changing.is_over, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	ibv_free_buf(memory.buf);
}

/* One descriptor is left: enough for the answer, if nothing else needs one. */
Test(native_export, with_one_descriptor_left_gives_it_or_is_emfile)
{
	struct memory memory = make_file_buffer(page_size());
	struct rlimit limit;
	int next = dup(1);
	int fd;

	close(next);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = (rlim_t)next + 1;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	errno = 0;
	fd = ibv_export_buf_dmabuf_fd(memory.buf);
	cr_assert(fd == next || (fd == -1 && errno == EMFILE), "fd %d, errno %d", fd, errno);
	ibv_free_buf(memory.buf);
}

Test(native_export, of_a_freed_or_unknown_handle_is_refused)
{
	struct memory memory;

	if (library_has(STANDIN_ibv_export_buf_dmabuf_fd))
		return;
	memory = make_file_buffer(page_size());
	ibv_free_buf(memory.buf);
	capture_errors();
	errno = 0;
	cr_assert_eq(ibv_export_buf_dmabuf_fd(memory.buf), -1);
	cr_assert_eq(errno, EINVAL);
	errno = 0;
	cr_assert_eq(ibv_export_buf_dmabuf_fd((struct ibv_buf *)(uintptr_t)0x1000), -1);
	cr_assert_eq(errno, EINVAL);
	errno = 0;
	cr_assert_eq(ibv_export_buf_dmabuf_fd(NULL), -1);
	cr_assert_eq(errno, EINVAL);
	cr_assert_eq(occurrences(captured_errors(), "ibv_export_buf_dmabuf_fd"), 1);
}

enum { EXPORTERS = 4, EXPORTS = REPEATS(200) };

static void *export_and_free(void *argument)
{
	struct ibv_pd *pd = argument;
	struct memory memory;
	size_t wrong = 0;
	int i, fd;

	for (i = 0; i < EXPORTS; i++) {
		memory = make_buffer_in(pd, page_size());
		fd = ibv_export_buf_dmabuf_fd(memory.buf);
		wrong += fd < 3 || !is_file_of(fd, memory.address, 1);
		close(fd);
		ibv_free_buf(memory.buf);
	}
	return (void *)wrong;
}

Test(native_export, works_in_threads)
{
	pthread_t threads[EXPORTERS];
	struct ibv_pd *pd = make_domain();
	void *wrong;
	size_t i;

	standin_turn(STANDIN_BUFFERS_ARE_FILES, true);
	for (i = 0; i < EXPORTERS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, export_and_free, pd), 0);
	for (i = 0; i < EXPORTERS; i++) {
		pthread_join(threads[i], &wrong);
		cr_assert_null(wrong, "%zu wrong descriptors", (size_t)wrong);
	}
}
