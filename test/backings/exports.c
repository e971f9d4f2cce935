// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The descriptor that a buffer is exported by. */
#define _GNU_SOURCE
#include "backings.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

EVERY_DMABUF(it_shows_the_bytes_of_the_buffer)
{
	struct memory memory = new_buffer(5000);
	int fd = ibv_export_buf_dmabuf_fd(memory.buf);
	const char *mapped;
	size_t size;

	(void)backing;
	cr_assert_geq(fd, 3);
	mapped = map_dmabuf(fd, &size);
	cr_assert_eq(size, 8192);
	memcpy(memory.address, "first", 6);
	memcpy(memory.address + 4994, "last", 5);
	cr_assert_str_eq(mapped, "first");
	cr_assert_str_eq(mapped + 4994, "last");
	ibv_free_buf(memory.buf);
}

EVERY_DMABUF(it_is_close_on_exec)
{
	struct memory memory = new_buffer(1);

	(void)backing;
	cr_assert_eq(fcntl(ibv_export_buf_dmabuf_fd(memory.buf), F_GETFD), FD_CLOEXEC);
	ibv_free_buf(memory.buf);
}

EVERY_DMABUF(it_is_never_below_three)
{
	struct memory memory;
	int fd;

	(void)backing;
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	memory = new_buffer(1);
	fd = ibv_export_buf_dmabuf_fd(memory.buf);
	cr_assert_geq(fd, 3);
	ibv_free_buf(memory.buf);
	cr_assert_geq(fcntl(fd, F_GETFD), 0);
}

EVERY_DMABUF(each_is_a_new_one)
{
	struct memory memory = new_buffer(1);
	int first = ibv_export_buf_dmabuf_fd(memory.buf);
	int second = ibv_export_buf_dmabuf_fd(memory.buf);

	(void)backing;
	cr_assert_geq(first, 3);
	cr_assert_geq(second, 3);
	cr_assert_neq(first, second);
	ibv_free_buf(memory.buf);
}

EVERY_DMABUF(closing_it_does_not_disturb_the_buffer)
{
	struct memory memory = new_buffer(5000);
	struct library_registration seen;

	(void)backing;
	cr_assert_eq(close(ibv_export_buf_dmabuf_fd(memory.buf)), 0);
	memset(memory.address, 1, 5000);
	cr_assert_not_null(ibv_reg_buf_mr(memory.pd, memory.buf, memory.address, 5000, 0));
	library_registrations(&seen);
	cr_assert_geq(fcntl(seen.fd, F_GETFD), 0);
	cr_assert_eq(close(ibv_export_buf_dmabuf_fd(memory.buf)), 0);
	ibv_free_buf(memory.buf);
}

EVERY_DMABUF(freeing_the_buffer_does_not_disturb_it)
{
	struct memory memory = new_buffer(5000);
	int fd = ibv_export_buf_dmabuf_fd(memory.buf);
	const char *mapped;
	size_t size;

	(void)backing;
	capture_errors();
	strcpy(memory.address + 4000, "still here");
	ibv_free_buf(memory.buf);
	mapped = map_dmabuf(fd, &size);
	cr_assert_str_eq(mapped + 4000, "still here");
	assert_fails_with(EINVAL, ibv_export_buf_dmabuf_fd(memory.buf) >= 0);
}

EVERY_DMABUF(without_a_free_descriptor_it_is_emfile)
{
	static struct possessions before;
	struct memory memory;

	(void)backing;
	warm_up();
	memory = new_buffer(1);
	note_possessions(&before);
	limit_descriptors(0);
	assert_fails_with(EMFILE, ibv_export_buf_dmabuf_fd(memory.buf) >= 0);
	assert_possessions(&before);
	limit_descriptors(1);
	cr_assert_geq(ibv_export_buf_dmabuf_fd(memory.buf), 3);
	ibv_free_buf(memory.buf);
}

EVERY_BACKING(ordinary_memory_has_none)
{
	struct memory memory = new_buffer(1);

	capture_errors();
	if (!backing->is_dmabuf)
		assert_fails_with(ENODATA, ibv_export_buf_dmabuf_fd(memory.buf) >= 0);
	ibv_free_buf(memory.buf);
	assert_fails_with(EINVAL, ibv_export_buf_dmabuf_fd(memory.buf) >= 0);
}
