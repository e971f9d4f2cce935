// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Buffers of up to 64 KiB, whose memory is kept when they are freed.
 *
 * A device is not to be had here; but pages in a pipe are held as those of a registration are, and
 * read what is written to them later. So a pipe tells whether a new buffer has the pages of the
 * old.
 */
#define _GNU_SOURCE
#include "configuration.h"
#include "registrations.h"

#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define ACCESS	 IBV_ACCESS_LOCAL_WRITE
#define PER_SIZE 64 /* buffers of a size that are kept */

/* The first page at an address, held. */
struct held_page {
	int pipe[2];
};

static struct held_page hold_page(char *address)
{
	struct iovec page = {address, page_size()};
	struct held_page held;

	cr_assert_eq(pipe(held.pipe), 0);
	cr_assert_eq(vmsplice(held.pipe[1], &page, 1, 0), (ssize_t)page_size());
	return held;
}

static char first_byte(const struct held_page *held)
{
	char byte;

	cr_assert_eq(read(held->pipe[0], &byte, 1), 1);
	close(held->pipe[0]);
	close(held->pipe[1]);
	return byte;
}

static bool is_zero(const char *address, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		if (address[i])
			return false;
	return true;
}

/* What became of a buffer's place and of its pages. */
enum fate {
	KEPT, /* the next buffer has both */
	NEW,  /* it has the place, with new pages */
	AWAY, /* it is elsewhere */
};

static enum fate fate_of_next(const struct memory *memory, struct held_page held)
{
	struct memory next = make_buffer_in(memory->pd, memory->size);
	bool is_there = next.address == memory->address;
	bool has_pages;

	cr_assert(is_zero(next.address, next.size));
	next.address[0] = 'n';
	ibv_free_buf(next.buf);
	has_pages = first_byte(&held) == 'n';
	cr_assert(is_there || !has_pages);
	return !is_there ? AWAY : has_pages ? KEPT : NEW;
}

/* Free a buffer, and allocate another. */
static enum fate fate(const struct memory *memory)
{
	struct held_page held;

	memory->address[0] = 'o';
	held = hold_page(memory->address);
	ibv_free_buf(memory->buf);
	return fate_of_next(memory, held);
}

/* Free a buffer, then deregister what was registered of it, and allocate another. */
static enum fate fate_after(const struct memory *memory, struct ibv_mr *mr)
{
	struct held_page held;

	memory->address[0] = 'o';
	held = hold_page(memory->address);
	ibv_free_buf(memory->buf);
	cr_assert_eq(ibv_dereg_mr(mr), 0);
	return fate_of_next(memory, held);
}

Test(supplied_small, freed_memory_is_the_next_ones)
{
	size_t size;

	for (size = 1; size <= KEPT_MOST; size = size * 2 + 1) {
		struct memory memory = make_buffer(size);

		cr_assert_eq(fate(&memory), KEPT, "%zu bytes", size);
	}
}

Test(supplied_small, from_64_kib_on_it_goes)
{
	struct memory most = make_buffer(KEPT_MOST), more = make_buffer(KEPT_MOST + 1);

	ibv_free_buf(more.buf);
	cr_assert(is_unmapped(more.address, more.size));
	ibv_free_buf(most.buf);
	cr_assert(is_mapped(most.address, most.size));
}

Test(supplied_small, it_goes_where_it_is_not_to_be_kept)
{
	struct memory memory;

	configure("keep_small_buffers = no\n");
	memory = make_buffer(1);
	ibv_free_buf(memory.buf);
	cr_assert(is_unmapped(memory.address, page_size()));
}

Test(supplied_small, all_of_it_is_zero_again)
{
	struct ibv_pd *pd = make_domain();
	size_t sizes[] = {4, 3, 4, 1, 4, 2};
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct memory memory = make_buffer_in(pd, sizes[i] * page_size());

		cr_assert(is_zero(memory.address, memory.size));
		memset(memory.address, 'x', memory.size);
		ibv_free_buf(memory.buf);
	}
}

/* More than are kept, of all sizes: none shares a page with another. */
Test(supplied_small, no_two_buffers_share_a_page)
{
	enum { COUNT = PER_SIZE * 2 };
	static struct memory memories[16][COUNT];
	struct ibv_pd *pd = make_domain();
	size_t pages, i, k;

	for (pages = 1; pages <= 16; pages++)
		for (i = 0; i < COUNT; i++)
			memories[pages - 1][i] = make_buffer_in(pd, pages * page_size());
	for (pages = 1; pages <= 16; pages++)
		for (i = 0; i < COUNT; i++) {
			const struct memory *memory = &memories[pages - 1][i];

			cr_assert_eq(WORD(memory->address) % page_size(), 0);
			for (k = 0; k < pages; k++) {
				cr_assert_eq(memory->address[k * page_size()], 0);
				memory->address[k * page_size()] = 1;
			}
		}
	for (pages = 1; pages <= 16; pages++)
		for (i = 0; i < COUNT; i++) {
			cr_assert(is_registrable(&memories[pages - 1][i]));
			ibv_free_buf(memories[pages - 1][i].buf);
		}
}

/* The ways to register memory by its address. */
static struct ibv_mr *by_buffer(const struct memory *memory)
{
	return ibv_reg_buf_mr(memory->pd, memory->buf, memory->address, memory->size, ACCESS);
}

static struct ibv_mr *by_attributes(const struct memory *memory)
{
	struct ibv_mr_init_attr attr = {
		.length = memory->size,
		.access = ACCESS,
		.comp_mask = IBV_REG_MR_MASK_ADDR,
		.addr = memory->address,
	};

	return ibv_reg_mr_ex(memory->pd, &attr);
}

static struct ibv_mr *by_address(const struct memory *memory)
{
	return ibv_reg_mr(memory->pd, memory->address, memory->size, ACCESS);
}

static struct ibv_mr *by_iova(const struct memory *memory)
{
	return ibv_reg_mr_iova(memory->pd, memory->address, memory->size, WORD(memory->address),
			       ACCESS);
}

static struct ibv_mr *by_iova2(const struct memory *memory)
{
	return ibv_reg_mr_iova2(memory->pd, memory->address, memory->size, WORD(memory->address),
				ACCESS);
}

/* One that begins before the memory and ends behind it. */
static struct ibv_mr *by_wider_range(const struct memory *memory)
{
	return ibv_reg_mr(memory->pd, memory->address - page_size(), memory->size + 2 * page_size(),
			  ACCESS);
}

static struct ibv_mr *by_registering_anew(const struct memory *memory)
{
	static char other[100];
	struct ibv_mr *mr = ibv_reg_mr(memory->pd, other, sizeof(other), ACCESS);

	cr_assert_not_null(mr);
	cr_assert_eq(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, memory->address,
				  memory->size, 0),
		     0);
	return mr;
}

typedef struct ibv_mr *registering(const struct memory *memory);

static registering *const ways[] = {by_buffer, by_attributes,  by_address,	   by_iova,
				    by_iova2,  by_wider_range, by_registering_anew};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

Test(supplied_small, pages_of_a_registration_that_lives_are_nobody_elses)
{
	size_t i;

	for (i = 0; i < WAYS; i++) {
		struct memory memory = make_buffer(2 * page_size());
		struct ibv_mr *mr = ways[i](&memory);

		cr_assert_eq(fate(&memory), AWAY, "way %zu", i);
		cr_assert_eq(ibv_dereg_mr(mr), 0);
	}
}

Test(supplied_small, after_it_was_deregistered_they_are_kept)
{
	size_t i;

	for (i = 0; i < WAYS; i++) {
		struct memory memory = make_buffer(2 * page_size());

		cr_assert_eq(ibv_dereg_mr(ways[i](&memory)), 0);
		cr_assert_eq(fate(&memory), KEPT, "way %zu", i);
	}
}

Test(supplied_small, when_the_last_registration_ends_the_place_is_free_with_new_pages)
{
	size_t i;

	for (i = 0; i < WAYS; i++) {
		struct memory memory = make_buffer(2 * page_size());
		struct ibv_mr *first = by_buffer(&memory), *second = ways[i](&memory);

		cr_assert_eq(ibv_dereg_mr(first), 0);
		cr_assert_eq(fate_after(&memory, second), NEW, "way %zu", i);
	}
}

Test(supplied_small, what_fails_does_not_count)
{
	struct memory memory = make_buffer(2 * page_size());
	struct ibv_mr *mr = by_buffer(&memory);
	enum standin_function via = last_registration().via;

	standin_fail(via, ENOMEM);
	cr_assert_null(by_buffer(&memory));
	standin_fail(via, 0);

	standin_fail(STANDIN_ibv_dereg_mr, EBUSY);
	cr_assert_eq(ibv_dereg_mr(mr), EBUSY);
	standin_fail(STANDIN_ibv_dereg_mr, 0);
	cr_assert_eq(fate_after(&memory, mr), NEW);
}

/* Until there is a small buffer, a registration does not concern the shim. */
Test(supplied_small, calls_that_went_straight_are_seen_from_then_on)
{
	static char other[100];
	struct ibv_pd *pd = make_domain();
	struct ibv_mr *before = ibv_reg_mr(pd, other, sizeof(other), ACCESS), *mr;
	struct memory memory;

	cr_assert_eq(ibv_dereg_mr(before), 0);
	before = ibv_reg_mr(pd, other, sizeof(other), ACCESS);
	memory = make_buffer_in(pd, page_size());
	mr = by_address(&memory);
	cr_assert_eq(fate(&memory), AWAY);
	cr_assert_eq(ibv_dereg_mr(mr), 0);
	cr_assert_eq(ibv_dereg_mr(before), 0);
}

/*
 * A region of addresses that were something else's before there was small memory: nobody counted
 * it, so its end counts for nothing.
 */
static struct ibv_mr *register_before(struct ibv_pd *pd)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, (void *)1, SIZE_MAX - 1, ACCESS);

	cr_assert_not_null(mr);
	return mr;
}

Test(supplied_small, a_registration_of_before_is_not_counted_when_it_ends)
{
	struct ibv_pd *pd = make_domain();
	struct ibv_mr *before = register_before(pd);
	struct memory memory = make_buffer_in(pd, page_size());
	struct ibv_mr *mr = by_buffer(&memory);

	cr_assert_eq(ibv_dereg_mr(before), 0);
	cr_assert_eq(fate_after(&memory, mr), NEW);
}

/* Where four in a row are, so that the addresses of the outer and of the inner two add up alike. */
static struct ibv_mr **find_equidistant(struct ibv_mr **mr, size_t count)
{
	uint64_t distance;
	size_t i;

	for (i = 0; i + 3 < count; i++) {
		distance = WORD(mr[i + 1]) - WORD(mr[i]);
		if (WORD(mr[i + 2]) - WORD(mr[i + 1]) == distance &&
		    WORD(mr[i + 3]) - WORD(mr[i + 2]) == distance)
			return mr + i;
	}
	return NULL;
}

Test(supplied_small, two_registrations_of_before_are_not_taken_for_two_others)
{
	struct ibv_pd *pd = make_domain();
	struct ibv_mr *before[64], **four;
	struct memory memory;
	struct ibv_mr *mr[2];
	size_t i;

	for (i = 0; i < 64; i++)
		before[i] = register_before(pd);
	four = find_equidistant(before, 64);
	if (!four)
		cr_skip_test("the allocator scatters what it hands out");
	for (i = 0; i < 64; i++)
		if (before + i < four || before + i > four + 3)
			cr_assert_eq(ibv_dereg_mr(before[i]), 0);
	/* The next two have the places of these, where the allocator begins with the latest. */
	cr_assert_eq(ibv_dereg_mr(four[1]), 0);
	cr_assert_eq(ibv_dereg_mr(four[2]), 0);
	memory = make_buffer_in(pd, page_size());
	for (i = 0; i < 2; i++)
		mr[i] = by_buffer(&memory);
	cr_assert_eq(ibv_dereg_mr(four[0]), 0);
	cr_assert_eq(ibv_dereg_mr(four[3]), 0);
	cr_assert_eq(fate(&memory), AWAY);
	for (i = 0; i < 2; i++)
		cr_assert_eq(ibv_dereg_mr(mr[i]), 0);
}

Test(supplied_small, a_registration_of_before_that_is_registered_anew_counts)
{
	struct ibv_pd *pd = make_domain();
	struct ibv_mr *before = register_before(pd);
	struct memory memory = make_buffer_in(pd, page_size());

	cr_assert_eq(ibv_rereg_mr(before, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, memory.address,
				  memory.size, 0),
		     0);
	cr_assert_eq(fate(&memory), AWAY);
	cr_assert_eq(ibv_dereg_mr(before), 0);
}

Test(supplied_small, registering_anew_in_vain_changes_nothing)
{
	struct memory memory = make_buffer(page_size());
	struct ibv_mr *mr = by_buffer(&memory);

	standin_fail(STANDIN_ibv_rereg_mr, ENOMEM);
	cr_assert_neq(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, &memory, 1, 0), 0);
	standin_fail(STANDIN_ibv_rereg_mr, 0);
	cr_assert_eq(fate_after(&memory, mr), NEW);
}

/* A null region, which the provider makes, has these addresses; and one that is paged on demand. */
Test(supplied_small, a_region_of_everything_holds_nothing)
{
	struct memory memory = make_buffer(page_size());
	struct ibv_mr *mr = by_buffer(&memory), *everything;

	everything = ibv_reg_mr(memory.pd, NULL, SIZE_MAX, ACCESS);
	cr_assert_eq(ibv_dereg_mr(mr), 0);
	cr_assert_eq(fate(&memory), KEPT);

	memory = make_buffer_in(memory.pd, page_size());
	mr = by_buffer(&memory);
	cr_assert_eq(ibv_dereg_mr(everything), 0);
	cr_assert_eq(fate_after(&memory, mr), NEW);
}

static int use_what_is_freed(void *argument)
{
	struct memory memory = make_buffer_in(argument, page_size());

	cr_assert_not_null(by_buffer(&memory));
	ibv_free_buf(memory.buf);
	*(volatile char *)memory.address = 1;
	return 0;
}

/* By a signal, or by what a tool makes of that. */
Test(supplied_small, a_program_that_uses_what_is_freed_and_held_is_stopped)
{
	capture_errors();
	cr_assert_neq(in_child(use_what_is_freed, make_domain()), 0);
}

Test(supplied_small, failing_fork_protection_leaves_nothing_behind)
{
	struct ibv_pd *pd = make_domain();
	struct ibv_buf *buf;
	char *address;

	standin_turn(STANDIN_FORK_SUPPORT, true);
	standin_fail(STANDIN_ibv_dontfork_range, ENOMEM);
	assert_null_with(ENOMEM, ibv_alloc_buf(pd, 1, &buf));
	standin_fail(STANDIN_ibv_dontfork_range, 0);
	address = make_buffer_in(pd, 1).address;
	cr_assert_eq(WORD(address), ARGUMENT(ibv_dontfork_range, 0));
}

/* Where there is no room to keep anything, there may be for a buffer. */
Test(supplied_limits, a_small_buffer_needs_no_room_for_others)
{
	struct ibv_pd *pd = make_domain();
	struct memory memory;

	/* What is done at a first time. */
	ibv_free_buf(make_buffer_in(pd, KEPT_MOST + 1).buf);
	limit_address_space(16 * page_size());
	memory = make_buffer_in(pd, 1);
	ibv_free_buf(memory.buf);
	cr_assert(is_unmapped(memory.address, page_size()));
}

static int use_small_buffers(void *argument)
{
	const struct memory *parents = argument;
	struct memory memories[PER_SIZE + 1];
	bool is_inherited = is_mapped(parents->address, 1);
	size_t i;

	for (i = 0; i <= PER_SIZE; i++) {
		memories[i] = make_buffer_in(parents->pd, parents->size);
		if (memories[i].address[0])
			return 1;
		/* Where what was kept away left a gap, something else may be. */
		if (memories[i].address == parents->address && is_inherited)
			return 2;
		memories[i].address[0] = 'c';
	}
	for (i = 0; i <= PER_SIZE; i++)
		ibv_free_buf(memories[i].buf);
	if (make_buffer_in(parents->pd, parents->size).address != memories[0].address)
		return 3;
	return 0;
}

static int free_parents(void *argument)
{
	const struct memory *parents = argument;

	ibv_free_buf(parents->buf);
	return use_small_buffers(argument);
}

/* The child meets a buffer, a free place and, with fork support, a gap in what it inherited. */
static void assert_apart(bool fork_support, int (*run)(void *argument))
{
	struct memory memory, freed;
	int status;

	standin_turn(STANDIN_FORK_SUPPORT, fork_support);
	memory = make_buffer(page_size());
	freed = make_buffer_in(memory.pd, page_size());
	memory.address[0] = 'p';
	freed.address[0] = 'f';
	ibv_free_buf(freed.buf);

	status = in_child(run, &memory);
	cr_assert_eq(status, 0, "the child ended with %d", status);
	cr_assert_eq(memory.address[0], 'p');
	cr_assert(is_registrable(&memory));
	cr_assert_eq(fate(&memory), KEPT);
}

Test(supplied_small, a_child_keeps_memory_of_its_own)
{
	assert_apart(false, use_small_buffers);
}

Test(supplied_small, a_child_keeps_memory_of_its_own_with_fork_support)
{
	assert_apart(true, use_small_buffers);
}

Test(supplied_small, a_child_frees_what_it_inherited)
{
	assert_apart(false, free_parents);
}

Test(supplied_small, a_child_frees_what_was_kept_from_it)
{
	assert_apart(true, free_parents);
}
