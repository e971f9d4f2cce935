// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Allocation and release at the limits of the process, where the shim supplies them. */
#define _GNU_SOURCE
#include "contract.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define MIB ((size_t)1 << 20)

/* What *buf holds before a call that must not touch it. */
#define UNTOUCHED ((struct ibv_buf *)(uintptr_t)0x5eed)

/* Neither what is cut off to align a buffer, nor the buffer itself. */
Test(supplied_limits, nothing_is_left_mapped_of_aligned_buffers)
{
	struct memory memory[16];
	struct ibv_pd *pd = make_domain();
	size_t before, i;

	memory[0] = make_buffer_in(pd, 1);
	before = address_space();
	for (i = 0; i < 16; i++)
		memory[i] = make_buffer_in(pd, 2 * MIB);
	cr_assert_lt(address_space(), before + 32 * MIB + page_size());
	for (i = 0; i < 16; i++)
		ibv_free_buf(memory[i].buf);
	cr_assert_lt(address_space(), before + page_size());
}

Test(supplied_limits, a_size_over_the_limit_of_the_address_space_cannot_be_had)
{
	struct ibv_pd *pd = make_domain();
	struct ibv_buf *buf = UNTOUCHED;

	make_buffer_in(pd, 1);
	limit_address_space(16 * MIB);
	assert_null_with(ENOMEM, ibv_alloc_buf(pd, 64 * MIB, &buf));
	cr_assert_eq(buf, UNTOUCHED);
	cr_assert_not_null(make_buffer_in(pd, 1).address);
}

Test(supplied_limits, without_room_for_alignment_there_is_still_a_buffer)
{
	struct ibv_pd *pd = make_domain();

	make_buffer_in(pd, 1);
	limit_address_space(8 * MIB + MIB);
	cr_assert_not_null(make_buffer_in(pd, 8 * MIB).address);
}

/*
 * The first insertion maps memory for the table. With room for the buffer but not for that, the
 * buffer goes again.
 */
Test(supplied_limits, failing_insertion_leaves_nothing_behind)
{
	struct ibv_pd *pd = make_domain();
	struct ibv_buf *buf = UNTOUCHED;
	unsigned int failed_insertions = 0;
	uint64_t mapped;
	size_t room;

	standin_turn(STANDIN_FORK_SUPPORT, true);
	for (room = page_size(); room < 256 * MIB; room *= 2) {
		limit_address_space(room);
		mapped = CALLS(ibv_dontfork_range);
		errno = 0;
		if (ibv_alloc_buf(pd, 1, &buf))
			break;
		cr_assert_eq(errno, ENOMEM);
		cr_assert_eq(buf, UNTOUCHED);
		if (CALLS(ibv_dontfork_range) == mapped)
			continue;
		failed_insertions++;
		cr_assert(is_unmapped((void *)ARGUMENT(ibv_dontfork_range, 0), page_size()));
		cr_assert_eq(ARGUMENT(ibv_dofork_range, 0), ARGUMENT(ibv_dontfork_range, 0));
	}
	cr_assert_neq(buf, UNTOUCHED, "no buffer, however much room there is");
	cr_assert_gt(failed_insertions, 0, "no insertion failed: the test tests nothing");
}

static size_t most_mappings(void)
{
	FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
	size_t most = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%zu", &most) != 1)
		most = 0;
	fclose(file);
	return most;
}

static bool is_resident(const void *address)
{
	unsigned char state = 0;

	return !mincore((void *)(uintptr_t)address, page_size(), &state) && (state & 1);
}

/*
 * Each free in the middle of a mapping makes two of one, until there are as many as the kernel
 * allows; then it cannot be unmapped. The memory still has to be given back.
 */
Test(supplied_limits, memory_is_given_back_although_there_are_too_many_mappings)
{
	size_t most = most_mappings();
	size_t count = 2 * most + 200;
	struct memory *memory;
	struct ibv_pd *pd = make_domain();
	size_t i, kept = 0;

	if (!most || most > 70000)
		cr_skip_test("vm.max_map_count is %zu: it would take too long to get there", most);
	memory = calloc(count, sizeof(*memory));
	cr_assert_not_null(memory);
	for (i = 0; i < count; i++)
		memory[i] = make_buffer_in(pd, 1);
	for (i = count - 100; i < count; i++)
		memory[i].address[0] = 1;
	for (i = 0; i < count; i += 2)
		ibv_free_buf(memory[i].buf);
	for (i = count - 100; i < count; i += 2)
		kept += is_resident(memory[i].address);
	cr_assert_eq(kept, 0, "%zu of 50 pages are still there", kept);
	free(memory);
}

/* As many mappings as the kernel allows: each second page differs. To be unmapped. */
static char *use_up_mappings(size_t most)
{
	size_t length = 2 * most * page_size(), i;
	char *pages =
		mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	cr_assert_neq(pages, MAP_FAILED);
	for (i = 0; i < most; i++)
		if (mprotect(pages + 2 * i * page_size(), page_size(), PROT_READ))
			break;
	cr_assert_lt(i, most);
	/* One may still be left for what adds a single one. */
	mmap(NULL, page_size(), PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return pages;
}

/* A small buffer that is registered loses its pages when it is freed, which takes mappings. */
Test(supplied_limits, a_registered_small_buffer_is_given_back_although_there_are_too_many_mappings)
{
	size_t most = most_mappings();
	struct memory memory = make_buffer(page_size()), next;
	struct ibv_mr *mr;
	char *pages;

	if (!most || most > 70000)
		cr_skip_test("vm.max_map_count is %zu: it would take too long to get there", most);
	memory.address[0] = 1;
	mr = ibv_reg_buf_mr(memory.pd, memory.buf, memory.address, memory.size, 0);
	cr_assert_not_null(mr);

	pages = use_up_mappings(most);
	ibv_free_buf(memory.buf);
	cr_assert(!is_resident(memory.address));
	cr_assert_eq(ibv_dereg_mr(mr), 0);
	munmap(pages, 2 * most * page_size());

	next = make_buffer_in(memory.pd, memory.size);
	cr_assert_eq(next.address, memory.address);
	cr_assert_eq(next.address[0], 0);
	ibv_free_buf(next.buf);
}
