// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* ibv_alloc_buf(), where the shim supplies it. */
#include "contract.h"
#include "registrations.h"

#include <stdlib.h>
#include <string.h>

#define MIB	  ((size_t)1 << 20)
#define HUGE_PAGE (2 * MIB)

/* What *buf holds before a call that must not touch it. */
#define UNTOUCHED ((struct ibv_buf *)(uintptr_t)0x5eed)

static void assert_refused(struct ibv_pd *pd, size_t size, int error)
{
	uint64_t mapped = CALLS(ibv_dontfork_range);
	struct ibv_buf *buf = UNTOUCHED;

	assert_null_with(error, ibv_alloc_buf(pd, size, &buf));
	cr_assert_eq(buf, UNTOUCHED);
	cr_assert_eq(CALLS(ibv_dontfork_range), mapped);
}

Test(supplied_alloc, size_0_is_refused)
{
	assert_refused(make_domain(), 0, EINVAL);
}

Test(supplied_alloc, a_null_domain_is_refused)
{
	assert_refused(NULL, 1, EINVAL);
}

Test(supplied_alloc, a_null_result_is_refused)
{
	assert_null_with(EINVAL, ibv_alloc_buf(make_domain(), 1, NULL));
}

Test(supplied_alloc, size_max_cannot_be_had)
{
	assert_refused(make_domain(), SIZE_MAX, ENOMEM);
}

Test(supplied_alloc, sizes_near_size_max_do_not_wrap)
{
	struct ibv_pd *pd = make_domain();
	size_t less;

	for (less = 1; less < SIZE_MAX / 2; less *= 2) {
		assert_refused(pd, SIZE_MAX - less, ENOMEM);
		assert_refused(pd, SIZE_MAX - less + 1, ENOMEM);
	}
}

Test(supplied_alloc, sizes_near_ptrdiff_max_cannot_be_had)
{
	struct ibv_pd *pd = make_domain();

	assert_refused(pd, PTRDIFF_MAX, ENOMEM);
	assert_refused(pd, (size_t)PTRDIFF_MAX + 1, ENOMEM);
	assert_refused(pd, PTRDIFF_MAX - page_size(), ENOMEM);
	assert_refused(pd, PTRDIFF_MAX - page_size() + 1, ENOMEM);
	assert_refused(pd, PTRDIFF_MAX - HUGE_PAGE, ENOMEM);
	assert_refused(pd, PTRDIFF_MAX - 2 * HUGE_PAGE, ENOMEM);
}

/* Page aligned, and the first and the last byte can be used. */
static void assert_usable(size_t size)
{
	struct memory memory = make_buffer(size);

	cr_assert_eq(WORD(memory.address) % page_size(), 0);
	cr_assert_eq(memory.address[0], 0);
	cr_assert_eq(memory.address[size - 1], 0);
	memory.address[0] = 1;
	memory.address[size - 1] = 1;
	cr_assert(is_registrable(&memory));
	ibv_free_buf(memory.buf);
	cr_assert_eq(is_unmapped(memory.address, page_size()), size > KEPT_MOST);
}

Test(supplied_alloc, one_byte)
{
	assert_usable(1);
}

Test(supplied_alloc, sizes_around_a_page)
{
	assert_usable(page_size() - 1);
	assert_usable(page_size());
	assert_usable(page_size() + 1);
}

Test(supplied_alloc, sizes_around_a_huge_page)
{
	assert_usable(HUGE_PAGE - 1);
	assert_usable(HUGE_PAGE);
	assert_usable(HUGE_PAGE + 1);
}

Test(supplied_alloc, one_gibibyte)
{
	assert_usable(1024 * MIB);
}

Test(supplied_alloc, from_a_huge_page_on_it_is_aligned_to_one)
{
	static const size_t sizes[] = {HUGE_PAGE, HUGE_PAGE + 1, 5 * MIB, 64 * MIB};
	struct ibv_pd *pd = make_domain();
	size_t i, round;

	for (round = 0; round < 3; round++)
		for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			cr_assert_eq(WORD(make_buffer_in(pd, sizes[i]).address) % HUGE_PAGE, 0);
}

Test(supplied_alloc, memory_is_zero)
{
	static const char zeroes[65536];
	struct memory memory = make_buffer(sizeof(zeroes));

	cr_assert_eq(memcmp(memory.address, zeroes, sizeof(zeroes)), 0);
}

Test(supplied_alloc, memory_is_zero_although_it_was_used_before)
{
	static const char zeroes[65536];
	struct ibv_pd *pd = make_domain();
	struct memory memory;
	size_t reused = 0;
	char *address;
	int round;

	for (round = 0; round < 8; round++) {
		memory = make_buffer_in(pd, sizeof(zeroes));
		cr_assert_eq(memcmp(memory.address, zeroes, sizeof(zeroes)), 0);
		memset(memory.address, 0xff, sizeof(zeroes));
		address = memory.address;
		ibv_free_buf(memory.buf);
		memory = make_buffer_in(pd, sizeof(zeroes));
		reused += memory.address == address;
		cr_assert_eq(memcmp(memory.address, zeroes, sizeof(zeroes)), 0);
		ibv_free_buf(memory.buf);
	}
	cr_assert_gt(reused, 0, "no address came again: the test tests nothing");
}

Test(supplied_alloc, no_page_is_shared)
{
	struct ibv_pd *pd = make_domain();
	struct memory first = make_buffer_in(pd, 1);
	char *heap = malloc(1);
	struct memory second = make_buffer_in(pd, 1);

	/* All of the page is the buffer's. */
	memset(first.address, 0x11, page_size());
	memset(second.address, 0x22, page_size());
	cr_assert_geq(labs(second.address - first.address), (long)page_size());
	cr_assert_neq(WORD(heap) / page_size(), WORD(first.address) / page_size());
	cr_assert_neq(WORD(heap) / page_size(), WORD(second.address) / page_size());
	cr_assert_eq(first.address[page_size() - 1], 0x11);
	free(heap);
}

Test(supplied_alloc, a_handle_never_comes_again)
{
	enum { COUNT = REPEATS(2000) };
	static struct ibv_buf *handles[COUNT];
	struct ibv_pd *pd = make_domain();
	size_t i, k;

	for (i = 0; i < COUNT; i++) {
		handles[i] = make_buffer_in(pd, 1).buf;
		if (i % 2)
			ibv_free_buf(handles[i]);
	}
	for (i = 0; i < COUNT; i++)
		for (k = 0; k < i; k++)
			cr_assert_neq(handles[i], handles[k]);
}

Test(supplied_alloc, failing_fork_protection_leaves_nothing_behind)
{
	static const int errors[] = {ENOMEM, EINVAL, EPERM};
	struct ibv_pd *pd = make_domain();
	size_t size = KEPT_MOST + page_size();
	struct ibv_buf *buf = UNTOUCHED;
	size_t i;

	standin_turn(STANDIN_FORK_SUPPORT, true);
	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		standin_fail(STANDIN_ibv_dontfork_range, errors[i]);
		assert_null_with(errors[i], ibv_alloc_buf(pd, size, &buf));
		cr_assert_eq(buf, UNTOUCHED);
		cr_assert(is_unmapped((void *)ARGUMENT(ibv_dontfork_range, 0), size));
	}
}

/* It would take the call for a registration, and refuse ibv_fork_init() afterwards. */
Test(supplied_alloc, a_library_without_fork_support_is_not_called_for_it)
{
	if (!library_has(STANDIN_ibv_is_fork_initialized))
		return;
	ibv_free_buf(make_buffer(1).buf);
	cr_assert_eq(CALLS(ibv_dontfork_range), 0);
	cr_assert_eq(CALLS(ibv_dofork_range), 0);
}

Test(supplied_alloc, whole_pages_of_its_own_are_protected_from_fork)
{
	struct memory memory;

	standin_turn(STANDIN_FORK_SUPPORT, true);
	memory = make_buffer(page_size() + 1);
	cr_assert_eq(ARGUMENT(ibv_dontfork_range, 0), WORD(memory.address));
	cr_assert_eq(ARGUMENT(ibv_dontfork_range, 1), 2 * page_size());
	ibv_free_buf(memory.buf);
	cr_assert_eq(ARGUMENT(ibv_dofork_range, 0), WORD(memory.address));
	cr_assert_eq(ARGUMENT(ibv_dofork_range, 1), 2 * page_size());
}
