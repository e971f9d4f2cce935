// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* ibv_free_buf(), and what a handle is that is not live, where the shim supplies them. */
#include "contract.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Freeing and registering and exporting that value do nothing at all. */
static void assert_unknown(struct ibv_pd *pd, uint64_t value)
{
	struct ibv_buf *buf = (struct ibv_buf *)(uintptr_t)value;
	uint64_t calls = standin_count(STANDIN_FUNCTIONS);

	ibv_free_buf(buf);
	assert_null_with(EINVAL, ibv_reg_buf_mr(pd, buf, buf, 0, 0));
	errno = 0;
	cr_assert_eq(ibv_export_buf_dmabuf_fd(buf), -1);
	cr_assert_eq(errno, EINVAL);
	cr_assert_eq(standin_count(STANDIN_FUNCTIONS), calls);
}

Test(supplied_free, null_does_nothing)
{
	capture_errors();
	ibv_free_buf(NULL);
	cr_assert_eq(standin_count(STANDIN_FUNCTIONS), 0);
	cr_assert_str_eq(captured_errors(), "");
}

Test(supplied_free, the_memory_goes)
{
	struct memory memory = make_buffer(KEPT_MOST + 1);

	ibv_free_buf(memory.buf);
	cr_assert(is_unmapped(memory.address, memory.size));
}

Test(supplied_free, the_neighbours_stay)
{
	struct ibv_pd *pd = make_domain();
	struct memory memory[9];
	size_t i;

	for (i = 0; i < 9; i++)
		memory[i] = make_buffer_in(pd, page_size() + 1);
	for (i = 0; i < 9; i += 2)
		ibv_free_buf(memory[i].buf);
	for (i = 1; i < 9; i += 2) {
		cr_assert(is_mapped(memory[i].address, 2 * page_size()));
		cr_assert(is_registrable(&memory[i]));
	}
}

Test(supplied_free, a_freed_handle_is_ignored_and_reported)
{
	capture_errors();
	free_twice();
	cr_assert_eq(CALLS(ibv_dofork_range), 1);
	cr_assert_eq(occurrences(captured_errors(), "freed before"), 1);
}

Test(supplied_free, a_freed_handle_stays_freed_although_its_memory_is_used_again)
{
	struct memory first = make_buffer(page_size());
	struct memory second;

	capture_errors();
	ibv_free_buf(first.buf);
	second = make_buffer_in(first.pd, page_size());
	ibv_free_buf(first.buf);
	cr_assert(is_mapped(second.address, page_size()));
	assert_null_with(EINVAL, ibv_reg_buf_mr(first.pd, first.buf, second.address, 1, 0));
	cr_assert(is_registrable(&second));
}

Test(supplied_free, a_foreign_handle_is_ignored_and_reported)
{
	capture_errors();
	ibv_free_buf((struct ibv_buf *)(uintptr_t)0x1000);
	cr_assert_eq(standin_count(STANDIN_FUNCTIONS), 0);
	cr_assert_eq(occurrences(captured_errors(), "never given out"), 1);
}

Test(supplied_free, addresses_are_no_handles)
{
	struct memory memory = make_buffer(page_size());
	char *heap = malloc(64);
	char stack[64];

	capture_errors();
	assert_unknown(memory.pd, WORD(memory.address));
	assert_unknown(memory.pd, WORD(memory.pd));
	assert_unknown(memory.pd, WORD(heap));
	assert_unknown(memory.pd, WORD(stack));
	assert_unknown(memory.pd, WORD(make_buffer));
	cr_assert(is_registrable(&memory));
	free(heap);
}

/* Each value of the upper 16 bits, over the lower ones of a live and of a freed handle. */
Test(supplied_free, no_other_upper_bits_make_a_handle)
{
	struct memory live = make_buffer(1);
	struct memory freed = make_buffer_in(live.pd, 1);
	uint64_t low = (UINT64_C(1) << 48) - 1;
	uint64_t high;

	capture_errors();
	ibv_free_buf(freed.buf);
	for (high = 0; high < 1 << 16; high += REPEATS_DIVISOR) {
		if ((high << 48 | (WORD(live.buf) & low)) != WORD(live.buf))
			assert_unknown(live.pd, high << 48 | (WORD(live.buf) & low));
		assert_unknown(live.pd, high << 48 | (WORD(freed.buf) & low));
		assert_unknown(live.pd, high << 48);
	}
	cr_assert(is_registrable(&live));
}

Test(supplied_free, no_bit_may_be_flipped)
{
	struct memory memory = make_buffer(1);
	unsigned int bit;

	capture_errors();
	for (bit = 0; bit < 64; bit++)
		assert_unknown(memory.pd, WORD(memory.buf) ^ UINT64_C(1) << bit);
	assert_unknown(memory.pd, ~WORD(memory.buf));
	cr_assert(is_registrable(&memory));
}

Test(supplied_free, random_values_are_no_handles)
{
	struct memory memory = make_buffer(1);
	uint64_t value = 1;
	int i;

	capture_errors();
	for (i = 0; i < REPEATS(100000); i++) {
		/* Numerical Recipes' 64-bit linear congruential generator. */
		value = value * UINT64_C(2862933555777941757) + UINT64_C(3037000493);
		assert_unknown(memory.pd, value);
		/* Near what was given out, too. */
		if ((value >> 32) % 4096)
			assert_unknown(memory.pd, WORD(memory.buf) + (value >> 32) % 4096);
	}
	cr_assert(is_registrable(&memory));
}

static struct ibv_buf *contended;
static pthread_barrier_t barrier;

static void *free_contended(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&barrier);
	ibv_free_buf(__atomic_load_n(&contended, __ATOMIC_ACQUIRE));
	return NULL;
}

Test(supplied_free, of_two_threads_one_frees_and_the_other_is_reported)
{
	enum { ROUNDS = REPEATS(200) };
	struct ibv_pd *pd = make_domain();
	pthread_t threads[2];
	int round;

	standin_turn(STANDIN_FORK_SUPPORT, true);
	capture_errors();
	pthread_barrier_init(&barrier, NULL, 2);
	for (round = 1; round <= ROUNDS; round++) {
		__atomic_store_n(&contended, make_buffer_in(pd, 1).buf, __ATOMIC_RELEASE);
		cr_assert_eq(pthread_create(&threads[0], NULL, free_contended, NULL), 0);
		cr_assert_eq(pthread_create(&threads[1], NULL, free_contended, NULL), 0);
		pthread_join(threads[0], NULL);
		pthread_join(threads[1], NULL);
		cr_assert_eq(CALLS(ibv_dofork_range), (uint64_t)round);
		cr_assert_eq(occurrences(captured_errors(), "\n"), 1);
	}
	cr_assert_eq(occurrences(captured_errors(), "freed before"), 1);
	pthread_barrier_destroy(&barrier);
}

Test(supplied_export, an_ordinary_buffer_has_no_dmabuf)
{
	struct memory memory = make_buffer(1);

	errno = 0;
	cr_assert_eq(ibv_export_buf_dmabuf_fd(memory.buf), -1);
	cr_assert_eq(errno, ENODATA);
}

Test(supplied_export, null_is_refused)
{
	capture_errors();
	errno = 0;
	cr_assert_eq(ibv_export_buf_dmabuf_fd(NULL), -1);
	cr_assert_eq(errno, EINVAL);
}

Test(supplied_export, a_freed_handle_is_refused_and_reported)
{
	struct memory memory = make_buffer(1);

	capture_errors();
	ibv_free_buf(memory.buf);
	errno = 0;
	cr_assert_eq(ibv_export_buf_dmabuf_fd(memory.buf), -1);
	cr_assert_eq(errno, EINVAL);
	cr_assert_eq(occurrences(captured_errors(), "ibv_export_buf_dmabuf_fd"), 1);
	cr_assert_eq(occurrences(captured_errors(), "freed before"), 1);
}

Test(supplied_export, a_foreign_handle_is_refused_and_reported)
{
	capture_errors();
	errno = 0;
	cr_assert_eq(ibv_export_buf_dmabuf_fd((struct ibv_buf *)(uintptr_t)0x1000), -1);
	cr_assert_eq(errno, EINVAL);
	cr_assert_eq(occurrences(captured_errors(), "never given out"), 1);
}
