// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A child has what its parent had, and gives back its own. */
#include "backings.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is not so in a child. */
#define EXPECT(what)                                                                               \
	do {                                                                                       \
		if (!(what))                                                                       \
			_exit(__LINE__ & 0x7f);                                                    \
	} while (0)

static int in_child(void (*run)(struct memory *memory), struct memory *memory)
{
	pid_t child = fork();
	int status;

	cr_assert_geq(child, 0);
	if (child == 0) {
		run(memory);
		_exit(0);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	return status;
}

static void free_it(struct memory *memory)
{
	unsigned int descriptors = count_descriptors();
	bool is_dmabuf;
	int fd;

	fd = ibv_export_buf_dmabuf_fd(memory->buf);
	is_dmabuf = fd >= 0;
	EXPECT(!is_dmabuf || !close(fd));

	EXPECT(memory->address[0] == 7);
	ibv_free_buf(memory->buf);
	EXPECT(!ibv_reg_buf_mr(memory->pd, memory->buf, memory->address, 1, 0));
	/* Its own copy of the descriptor is closed. */
	EXPECT(count_descriptors() == descriptors - is_dmabuf);
	ibv_free_buf(memory->buf);
}

EVERY_BACKING(a_child_that_frees_does_not_disturb_its_parent)
{
	static struct possessions before;
	struct memory memory;
	int fd;

	warm_up();
	capture_errors();
	memory = new_buffer(5000);
	memset(memory.address, 7, 5000);
	note_possessions(&before);
	cr_assert_eq(in_child(free_it, &memory), 0);
	assert_possessions(&before);
	cr_assert_eq(memory.address[4999], 7);
	memset(memory.address, 8, 5000);
	cr_assert_not_null(ibv_reg_buf_mr(memory.pd, memory.buf, memory.address, 5000, 0));
	fd = ibv_export_buf_dmabuf_fd(memory.buf);
	if (backing->is_dmabuf) {
		size_t size;

		cr_assert_eq(map_dmabuf(fd, &size)[4999], 8);
	}
	ibv_free_buf(memory.buf);
}

static void make_another(struct memory *memory)
{
	struct memory other = {.pd = memory->pd};

	other.address = ibv_alloc_buf(other.pd, 5000, &other.buf);
	EXPECT(other.address);
	EXPECT(other.address != memory->address);
	EXPECT(other.buf != memory->buf);
	memset(other.address, 9, 5000);
	EXPECT(memory->address[0] == 7);
	EXPECT(ibv_reg_buf_mr(other.pd, other.buf, other.address, 5000, 0));
	ibv_free_buf(other.buf);
	EXPECT(memory->address[0] == 7);
}

EVERY_BACKING(a_child_allocates_its_own)
{
	struct memory memory = new_buffer(5000);

	(void)backing;
	memset(memory.address, 7, 5000);
	cr_assert_eq(in_child(make_another, &memory), 0);
	cr_assert_eq(memory.address[0], 7);
	ibv_free_buf(memory.buf);
}
