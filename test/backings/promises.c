// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a buffer of every kind of memory is like. */
#include "backings.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static bool is_filled_with(const char *bytes, char value, size_t length)
{
	return bytes[0] == value && !memcmp(bytes, bytes + 1, length - 1);
}

EVERY_BACKING(it_starts_at_a_page)
{
	size_t sizes[] = {1, 4096, 4097, 1 << 20};
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct memory memory = new_buffer(sizes[i]);

		cr_assert_eq((uintptr_t)memory.address % backing->page_size, 0);
		ibv_free_buf(memory.buf);
	}
}

EVERY_BACKING(it_is_whole_pages_filled_with_zeroes)
{
	struct memory memory = new_buffer(backing->page_size + 1);

	cr_assert(is_filled_with(memory.address, 0, 2 * backing->page_size));
	memset(memory.address, 0x5a, 2 * backing->page_size);
	ibv_free_buf(memory.buf);
}

EVERY_BACKING(it_is_filled_with_zeroes_where_memory_is_used_again)
{
	int i;

	(void)backing;
	for (i = 0; i < 20; i++) {
		struct memory memory = new_buffer(1 << 20);

		cr_assert(is_filled_with(memory.address, 0, memory.size), "round %d", i);
		memset(memory.address, 0x5a, memory.size);
		ibv_free_buf(memory.buf);
	}
}

EVERY_BACKING(the_size_that_was_asked_for_is_what_is_checked)
{
	struct memory memory = new_buffer(5000);
	struct ibv_mr *mr;

	(void)backing;
	mr = ibv_reg_buf_mr(memory.pd, memory.buf, memory.address, 5000, 0);
	cr_assert_not_null(mr);
	cr_assert_eq(ibv_dereg_mr(mr), 0);
	assert_fails_with(EINVAL, ibv_reg_buf_mr(memory.pd, memory.buf, memory.address, 5001, 0));
	assert_fails_with(EINVAL,
			  ibv_reg_buf_mr(memory.pd, memory.buf, memory.address + 4999, 2, 0));
	cr_assert_eq(library_registrations(NULL), 1);
	ibv_free_buf(memory.buf);
}

EVERY_BACKING(it_is_registered_through_its_descriptor_if_it_has_one)
{
	struct memory memory = new_buffer(9000);
	struct library_registration seen;

	cr_assert_not_null(ibv_reg_buf_mr(memory.pd, memory.buf, memory.address + 4096, 4000, 0));
	cr_assert_eq(library_registrations(&seen), 1);
	cr_assert_eq(seen.pd, memory.pd);
	cr_assert_eq(seen.length, 4000);
	cr_assert_eq(seen.iova, (uintptr_t)memory.address + 4096);
	if (backing->is_dmabuf) {
		cr_assert_geq(seen.fd, 0);
		cr_assert_eq(seen.offset, 4096);
	} else {
		cr_assert_eq(seen.fd, -1);
		cr_assert_eq(seen.addr, memory.address + 4096);
	}
	ibv_free_buf(memory.buf);
}

EVERY_BACKING(where_descriptors_cannot_be_registered_what_can_be_pinned_is)
{
	struct memory memory = new_buffer(9000);
	struct library_registration seen;
	struct ibv_mr *mr;

	library_refuse_dmabuf(EOPNOTSUPP);
	errno = 4242;
	mr = ibv_reg_buf_mr(memory.pd, memory.buf, memory.address + 4096, 4000, 0);
	if (backing->is_pinnable) {
		cr_assert_not_null(mr);
		cr_assert_eq(errno, 4242);
		cr_assert_eq(library_registrations(&seen), 1);
		cr_assert_eq(seen.fd, -1);
		cr_assert_eq(seen.addr, memory.address + 4096);
		cr_assert_eq(seen.length, 4000);
	} else {
		cr_assert_null(mr);
		cr_assert_eq(errno, EOPNOTSUPP);
		cr_assert_eq(library_registrations(NULL), 0);
	}
	ibv_free_buf(memory.buf);
}

EVERY_DMABUF(another_reason_to_refuse_its_descriptor_stands)
{
	struct memory memory = new_buffer(9000);

	(void)backing;
	library_refuse_dmabuf(EPERM);
	assert_fails_with(EPERM, ibv_reg_buf_mr(memory.pd, memory.buf, memory.address, 9000, 0));
	cr_assert_eq(library_registrations(NULL), 0);
	ibv_free_buf(memory.buf);
}

static void use(size_t size)
{
	struct memory memory = new_buffer(size);
	struct ibv_mr *mr = ibv_reg_buf_mr(memory.pd, memory.buf, memory.address, size, 0);
	int fd = ibv_export_buf_dmabuf_fd(memory.buf);

	cr_assert_not_null(mr);
	memset(memory.address, 1, size);
	cr_assert_eq(ibv_dereg_mr(mr), 0);
	ibv_free_buf(memory.buf);
	if (fd >= 0)
		close(fd);
}

EVERY_BACKING(nothing_is_left_when_it_is_freed)
{
	static struct possessions before;
	int i;

	(void)backing;
	warm_up();
	use(100);
	note_possessions(&before);
	for (i = 0; i < 20; i++) {
		use(1);
		use(300000);
		use(3 << 20);
	}
	assert_possessions(&before);
}

EVERY_BACKING(no_program_inherits_its_descriptors)
{
	struct memory memory;
	bool was_open[100];
	int fd;

	(void)backing;
	warm_up();
	for (fd = 0; fd < 100; fd++)
		was_open[fd] = fcntl(fd, F_GETFD) >= 0;
	memory = new_buffer(100);
	for (fd = 0; fd < 100; fd++)
		if (!was_open[fd] && fcntl(fd, F_GETFD) >= 0)
			cr_assert_eq(fcntl(fd, F_GETFD), FD_CLOEXEC, "descriptor %d", fd);
	ibv_free_buf(memory.buf);
}

EVERY_BACKING(many_live_at_once)
{
	static struct possessions before;
	struct memory memory[20];
	int i;

	(void)backing;
	warm_up();
	note_possessions(&before);
	for (i = 0; i < 20; i++) {
		memory[i] = new_buffer(5000);
		memset(memory[i].address, i + 1, 5000);
	}
	for (i = 0; i < 20; i++) {
		cr_assert(is_filled_with(memory[i].address, (char)(i + 1), 5000), "%d", i);
		ibv_free_buf(memory[i].buf);
	}
	assert_possessions(&before);
}

EVERY_BACKING(errno_is_kept_on_success)
{
	struct memory memory;
	int fd;

	warm_up();
	errno = 4242;
	memory = new_buffer(100);
	cr_assert_eq(errno, 4242);
	fd = ibv_export_buf_dmabuf_fd(memory.buf);
	cr_assert_eq(errno, backing->is_dmabuf ? 4242 : ENODATA);
	errno = 4242;
	ibv_free_buf(memory.buf);
	cr_assert_eq(errno, 4242);
	if (fd >= 0)
		close(fd);
}
