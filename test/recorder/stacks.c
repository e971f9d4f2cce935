// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The return addresses of records. */
#define _GNU_SOURCE
#include "recorder.h"
#include "frames.h"

#include <stdlib.h>

static struct ibv_pd *pd;

static void begin(const char *depth)
{
	setenv("IBVBUF_TRACE_STACK", depth, 1);
	trace_this_process();
	pd = make_domain();
}

static bool is_in(uint64_t address, frame_function *function)
{
	return address > (uintptr_t)function && address < (uintptr_t)function + FRAME_SIZE;
}

static const struct entry *latest(void)
{
	struct trace *trace = trace_now();

	return &trace->entries[trace->count - 1];
}

Test(any_stacks, frames_with_frame_pointers)
{
	const struct entry *entry;

	begin("16");
	with_pointers_first(pd, NULL);
	entry = latest();
	cr_assert_geq(entry->record.stack_used, 5);
	cr_assert_eq(entry->stack[0], entry->record.caller);
	cr_assert(is_in(entry->stack[0], with_pointers_fourth));
	cr_assert(is_in(entry->stack[1], with_pointers_third));
	cr_assert(is_in(entry->stack[2], with_pointers_second));
	cr_assert(is_in(entry->stack[3], with_pointers_first));
}

Test(any_stacks, frames_without_frame_pointers)
{
	const struct entry *entry;

	begin("16");
	without_pointers_first(pd, NULL);
	entry = latest();
	cr_assert_geq(entry->record.stack_used, 5);
	cr_assert_eq(entry->stack[0], entry->record.caller);
	cr_assert(is_in(entry->stack[0], without_pointers_fourth));
	cr_assert(is_in(entry->stack[1], without_pointers_third));
	cr_assert(is_in(entry->stack[2], without_pointers_second));
	cr_assert(is_in(entry->stack[3], without_pointers_first));
}

Test(any_stacks, no_more_than_was_asked_for)
{
	const struct entry *entry;

	begin("2");
	without_pointers_first(pd, NULL);
	entry = latest();
	cr_assert_eq(entry->record.stack_used, 2);
	cr_assert(is_in(entry->stack[0], without_pointers_fourth));
	cr_assert(is_in(entry->stack[1], without_pointers_third));
}

Test(any_stacks, one_is_the_caller)
{
	const struct entry *entry;

	begin("1");
	without_pointers_first(pd, NULL);
	entry = latest();
	cr_assert_eq(entry->record.stack_used, 1);
	cr_assert_eq(entry->stack[0], entry->record.caller);
}

__attribute__((noinline)) static struct ibv_mr *register_at_depth(int depth)
{
	struct ibv_mr *mr = depth ? register_at_depth(depth - 1) : with_pointers_first(pd, NULL);

	__asm__ volatile("" ::: "memory");
	return mr;
}

Test(any_stacks, the_deepest_that_can_be_asked_for)
{
	const struct entry *entry;
	int i;

	begin("64");
	register_at_depth(100);
	entry = latest();
	cr_assert_eq(entry->record.stack_used, 64);
	cr_assert(is_in(entry->stack[3], with_pointers_first));
	for (i = 6; i < 60; i++)
		cr_assert_eq(entry->stack[i], entry->stack[5]);
}

/* Each frame's module is in the table, as the caller's is. */
Test(any_stacks, modules_of_all_frames)
{
	struct trace *trace;
	const struct entry *entry;
	int i;

	begin("16");
	without_pointers_first(pd, NULL);
	trace = trace_now();
	entry = &trace->entries[trace->count - 1];
	for (i = 0; i < entry->record.stack_used; i++)
		cr_assert_not_null(trace_module_of(trace, entry->stack[i], entry->record.time));
}

Test(any_stacks, a_ring_of_records_with_stacks)
{
	const struct entry *entry;
	int i;

	setenv("IBVBUF_TRACE_LIMIT", SMALLEST, 1);
	begin("8");
	for (i = 0; i < 1000; i++)
		without_pointers_first(pd, NULL);
	entry = latest();
	cr_assert_eq(entry->number, 1000);
	cr_assert(is_in(entry->stack[0], without_pointers_fourth));
	cr_assert_eq(trace_now()->count, (64 << 10) / 192);
}
