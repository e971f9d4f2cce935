// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What lives after each call. */
#include "image.h"
#include "../../trace/live_objects.h"

#include <criterion/criterion.h>

#include <errno.h>

#include "infiniband/verbs.h"

#define DOMAIN	     UINT64_C(0x1000)
#define OTHER_DOMAIN UINT64_C(0x2000)

static struct trace_file file;
static struct live *live;
static struct live_change change;
static const struct call_site here;
static uint64_t bytes[LIVE_KINDS], count[LIVE_KINDS];

static void begin(void)
{
	live = live_new(true);
}

static void end(void)
{
	live_free(live);
}

TestSuite(live, .init = begin, .fini = end);

static void take_at(const struct ibvbuf_trace_record *record, const struct call_site *site)
{
	const struct trace_event event = {.file = &file, .record = record};

	live_take(live, &event, site, &change);
	if (change.kind != LIVE_NOTHING && !change.unknown) {
		count[change.kind] += (uint64_t)(int64_t)change.count;
		bytes[change.kind] += (uint64_t)change.bytes;
	}
}

static void take(struct ibvbuf_trace_record record)
{
	if (!record.pd)
		record.pd = DOMAIN;
	take_at(&record, &here);
}

static struct ibvbuf_trace_record registration(uint64_t object, uint32_t key, uint64_t address,
					       uint64_t length)
{
	return (struct ibvbuf_trace_record){
		.call = IBVBUF_TRACE_REG_MR,
		.object = object,
		.lkey = key,
		.address = address,
		.length = length,
	};
}

static struct ibvbuf_trace_record deregistration(uint64_t object, uint32_t key)
{
	return (struct ibvbuf_trace_record){
		.call = IBVBUF_TRACE_DEREG_MR,
		.object = object,
		.lkey = key,
		.duration = 7,
	};
}

Test(live, mrs_and_their_bytes_come_and_go)
{
	take(registration(0x10, 1, 0x100000, 4096));
	take(registration(0x20, 2, 0x200000, 8192));
	cr_assert_eq(count[LIVE_MR], 2);
	cr_assert_eq(bytes[LIVE_MR], 12288);

	take(deregistration(0x10, 1));
	cr_assert_eq(count[LIVE_MR], 1);
	cr_assert_eq(bytes[LIVE_MR], 8192);
	cr_assert_eq(change.site, &here);
}

Test(live, a_failed_call_changes_nothing)
{
	struct ibvbuf_trace_record failed = deregistration(0x10, 1);

	failed.error = EBUSY;
	take(registration(0x10, 1, 0x100000, 4096));
	take(failed);

	cr_assert_eq(change.kind, LIVE_NOTHING);
	cr_assert_eq(count[LIVE_MR], 1);
}

Test(live, an_address_that_is_used_again_is_told_apart_by_the_key)
{
	take(registration(0x10, 1, 0x100000, 4096));
	/* recorded before the deregistration that made room for it */
	take(registration(0x10, 2, 0x200000, 8192));
	take(deregistration(0x10, 1));

	cr_assert_eq(count[LIVE_MR], 1);
	cr_assert_eq(bytes[LIVE_MR], 8192);
}

Test(live, of_equal_names_the_oldest_ends_first)
{
	take(registration(0x10, 1, 0x100000, 4096));
	take(registration(0x10, 1, 0x200000, 8192));
	take(deregistration(0x10, 1));
	cr_assert_eq(bytes[LIVE_MR], 8192);

	take(deregistration(0x10, 1));
	cr_assert_eq(bytes[LIVE_MR], 0);
	take(deregistration(0x10, 1));
	cr_assert(change.unknown);
}

Test(live, an_unknown_mr_is_told_to_be_unknown)
{
	take(deregistration(0x10, 1));

	cr_assert_eq(change.kind, LIVE_MR);
	cr_assert(change.unknown);
}

Test(live, processes_do_not_share_addresses)
{
	static struct trace_file other = {.index = 1};
	const struct ibvbuf_trace_record record = deregistration(0x10, 1);
	const struct trace_event event = {.file = &other, .record = &record};

	take(registration(0x10, 1, 0x100000, 4096));
	live_take(live, &event, &here, &change);

	cr_assert(change.unknown);
}

Test(live, many_mrs_can_be_told_apart)
{
	uint32_t i;

	for (i = 1; i <= 20000; i++)
		take(registration((uint64_t)i * 64, i, (uint64_t)i << 20, 4096));
	for (i = 20000; i >= 1; i--) {
		take(deregistration((uint64_t)i * 64, i));
		cr_assert_not(change.unknown);
	}
	cr_assert_eq(count[LIVE_MR], 0);
	cr_assert_eq(bytes[LIVE_MR], 0);
}

/* No more than two are there if records are true; and all of a million would be looked at. */
Test(live, of_many_at_one_address_only_the_last_are_looked_at)
{
	uint32_t i;

	for (i = 1; i <= 1000; i++)
		take(registration(0x10, i, (uint64_t)i << 20, 4096));
	take(deregistration(0x10, 1000));
	cr_assert_not(change.unknown);
	take(deregistration(0x10, 900));
	cr_assert_not(change.unknown);

	take(deregistration(0x10, 1));
	cr_assert(change.unknown);
}

Test(live, what_would_take_too_long_is_counted_in_part)
{
	const uint32_t most = 20000;
	const uint64_t length = (uint64_t)most << 20;
	uint32_t key;

	for (key = 1; key <= most; key++)
		take(registration((uint64_t)key * 64, key, (uint64_t)key << 20, 4096));
	take(registration((uint64_t)key * 64, key, 1 << 20, length));
	cr_assert_not(change.at_least);
	cr_assert_eq(change.shared, (uint64_t)most * 4096);

	while (!change.at_least && key < 2 * most) {
		take(deregistration((uint64_t)key * 64, key));
		key++;
		take(registration((uint64_t)key * 64, key, 1 << 20, length));
	}
	cr_assert(change.at_least);
	cr_assert_lt(change.shared, (uint64_t)most * 4096);
}

Test(live, the_whole_address_space_on_demand_has_no_bytes)
{
	take(registration(0x10, 1, 0, UINT64_MAX));

	cr_assert_eq(count[LIVE_MR], 1);
	cr_assert_eq(bytes[LIVE_MR], 0);
}

Test(live, rereg_changes_length_and_key)
{
	struct ibvbuf_trace_record record = registration(0x10, 9, 0x100000, 65536);

	record.call = IBVBUF_TRACE_REREG_MR;
	record.mask = IBV_REREG_MR_CHANGE_TRANSLATION;
	take(registration(0x10, 1, 0x100000, 4096));
	take(record);
	cr_assert_eq(bytes[LIVE_MR], 65536);

	take(deregistration(0x10, 9));
	cr_assert_eq(count[LIVE_MR], 0);
	cr_assert_eq(bytes[LIVE_MR], 0);
}

Test(live, rereg_moves_an_mr_to_another_domain)
{
	struct ibvbuf_trace_record record = registration(0x10, 1, 0, 0);
	const struct trace_event event = {
		.file = &file,
		.record = &(struct ibvbuf_trace_record){.pd = OTHER_DOMAIN},
	};

	record.call = IBVBUF_TRACE_REREG_MR;
	record.mask = IBV_REREG_MR_CHANGE_PD;
	record.pd = OTHER_DOMAIN;
	take(registration(0x10, 1, 0x100000, 4096));
	take(record);

	cr_assert_eq(live_domain_of(live, &event)->mrs, 1);
	cr_assert_eq(bytes[LIVE_MR], 4096);
}

Test(live, the_same_range_of_a_domain_is_a_repeat)
{
	take(registration(0x10, 1, 0x100000, 4096));
	take(registration(0x20, 2, 0x100000, 4096));

	cr_assert_not_null(change.same);
	cr_assert_eq(change.same->address, 0x10);
	cr_assert_eq(change.shared, 4096);
}

Test(live, the_same_range_of_another_domain_is_none)
{
	struct ibvbuf_trace_record record = registration(0x20, 2, 0x100000, 4096);

	record.pd = OTHER_DOMAIN;
	take(registration(0x10, 1, 0x100000, 4096));
	take(record);

	cr_assert_null(change.same);
	cr_assert_null(change.overlaps);
}

Test(live, shared_bytes_are_counted_once)
{
	take(registration(0x10, 1, 0x100000, 0x2000));
	take(registration(0x20, 2, 0x101000, 0x2000));
	cr_assert_null(change.same);
	cr_assert_eq(change.overlaps->address, 0x10);
	cr_assert_eq(change.shared, 0x1000);

	take(registration(0x30, 3, 0x100000, 0x4000));
	cr_assert_eq(change.shared, 0x3000);
}

Test(live, neighbours_share_nothing)
{
	take(registration(0x10, 1, 0x100000, 4096));
	take(registration(0x20, 2, 0x101000, 4096));

	cr_assert_null(change.overlaps);
}

Test(live, a_range_that_is_registered_again_tells_what_its_deregistration_took)
{
	take(registration(0x10, 1, 0x100000, 4096));
	cr_assert_not(change.again);
	take(deregistration(0x10, 1));
	take(registration(0x20, 2, 0x100000, 4096));

	cr_assert(change.again);
	cr_assert_eq(change.again_time, 7);
}

Test(live, another_length_is_not_registered_again)
{
	take(registration(0x10, 1, 0x100000, 4096));
	take(deregistration(0x10, 1));
	take(registration(0x20, 2, 0x100000, 8192));

	cr_assert_not(change.again);
}

static struct ibvbuf_trace_record buffer_call(uint16_t call, uint16_t backing)
{
	return (struct ibvbuf_trace_record){
		.call = call,
		.buffer = 0xb00,
		.address = 0x100000,
		.length = 0x10000,
		.backing = backing,
	};
}

Test(live, an_mr_by_its_buffers_handle_is_an_orphan_when_that_is_freed)
{
	struct ibvbuf_trace_record record = registration(0x10, 1, 0x100000, 4096);

	record.call = IBVBUF_TRACE_REG_BUF_MR;
	record.buffer = 0xb00;
	take(buffer_call(IBVBUF_TRACE_ALLOC_BUF, IBVBUF_TRACE_BACKING_ANONYMOUS));
	take(record);
	take(buffer_call(IBVBUF_TRACE_FREE_BUF, 0));
	cr_assert_eq(change.orphans, 1);
	cr_assert_eq(change.orphan_bytes, 4096);
	cr_assert_eq(change.orphan->address, 0x10);
	cr_assert_eq(change.backing, IBVBUF_TRACE_BACKING_ANONYMOUS);

	take(deregistration(0x10, 1));
	cr_assert_eq(count[LIVE_MR], 0);
	cr_assert_eq(count[LIVE_BUFFER], 0);
}

Test(live, an_mr_by_its_address_is_an_orphan_when_that_is_freed)
{
	take(buffer_call(IBVBUF_TRACE_ALLOC_BUF, IBVBUF_TRACE_BACKING_ANONYMOUS));
	take(registration(0x10, 1, 0x10f000, 0x1000));
	take(registration(0x20, 2, 0x110000, 0x1000));
	take(buffer_call(IBVBUF_TRACE_FREE_BUF, 0));

	cr_assert_eq(change.orphans, 1);
	cr_assert_eq(change.orphan->address, 0x10);
}

Test(live, an_mr_that_went_before_its_buffer_is_no_orphan)
{
	struct ibvbuf_trace_record record = registration(0x10, 1, 0x100000, 4096);

	record.call = IBVBUF_TRACE_REG_BUF_MR;
	record.buffer = 0xb00;
	take(buffer_call(IBVBUF_TRACE_ALLOC_BUF, IBVBUF_TRACE_BACKING_ANONYMOUS));
	take(record);
	take(deregistration(0x10, 1));
	take(buffer_call(IBVBUF_TRACE_FREE_BUF, 0));

	cr_assert_eq(change.orphans, 0);
}

Test(live, an_mr_of_a_descriptor_keeps_its_memory)
{
	struct ibvbuf_trace_record record = registration(0x10, 1, 0, 4096);

	record.call = IBVBUF_TRACE_REG_DMABUF_MR;
	record.iova = 0x100000;
	take(buffer_call(IBVBUF_TRACE_ALLOC_BUF, IBVBUF_TRACE_BACKING_UDMABUF));
	take(record);
	take(buffer_call(IBVBUF_TRACE_FREE_BUF, 0));

	cr_assert_eq(change.orphans, 0);
}

static struct ibvbuf_trace_record domain_call(uint16_t call)
{
	return (struct ibvbuf_trace_record){.call = call, .object = DOMAIN, .pd = DOMAIN};
}

Test(live, a_domain_is_closed_as_often_as_it_was_opened)
{
	take(domain_call(IBVBUF_TRACE_ALLOC_PD));
	take(domain_call(IBVBUF_TRACE_ALLOC_PARENT_DOMAIN));
	take(domain_call(IBVBUF_TRACE_DEALLOC_PD));
	cr_assert_not(change.unknown);
	take(domain_call(IBVBUF_TRACE_DEALLOC_PD));
	cr_assert_not(change.unknown);
	cr_assert_eq(count[LIVE_DOMAIN], 0);

	take(domain_call(IBVBUF_TRACE_DEALLOC_PD));
	cr_assert(change.unknown);
}

Test(live, mrs_may_outlive_the_record_of_their_domain)
{
	take(domain_call(IBVBUF_TRACE_ALLOC_PD));
	take(registration(0x10, 1, 0x100000, 4096));
	take(domain_call(IBVBUF_TRACE_DEALLOC_PD));
	take(deregistration(0x10, 1));

	cr_assert_not(change.unknown);
	cr_assert_eq(count[LIVE_MR], 0);
}

Test(live, windows_and_imported_mrs_are_kinds_of_their_own)
{
	struct ibvbuf_trace_record record = {.call = IBVBUF_TRACE_ALLOC_MW, .object = 0x30};

	take(record);
	record.call = IBVBUF_TRACE_IMPORT_MR;
	record.length = 4096;
	take(record);
	cr_assert_eq(count[LIVE_WINDOW], 1);
	cr_assert_eq(count[LIVE_IMPORTED_MR], 1);
	cr_assert_eq(bytes[LIVE_IMPORTED_MR], 0);
	cr_assert_eq(count[LIVE_MR], 0);

	record.call = IBVBUF_TRACE_DEALLOC_MW;
	take(record);
	record.call = IBVBUF_TRACE_UNIMPORT_MR;
	take(record);
	cr_assert_eq(count[LIVE_WINDOW], 0);
	cr_assert_eq(count[LIVE_IMPORTED_MR], 0);
}

Test(live, what_is_not_wanted_lives_without_a_site)
{
	const struct ibvbuf_trace_record record = registration(0x10, 1, 0x100000, 4096);

	take_at(&record, NULL);
	cr_assert_null(change.site);
	take(deregistration(0x10, 1));
	cr_assert_null(change.site);
	cr_assert_not(change.unknown);
}
