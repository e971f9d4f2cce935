// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which cause a failure is put down to. */
#include "../../trace/failures.h"

#include <criterion/criterion.h>

#include <errno.h>

#include "infiniband/verbs.h"

#define DOMAIN UINT64_C(0x1000)

static struct live_object buffer = {
	.pd = DOMAIN,
	.range = {.start = 0x100000, .end = 0x110000},
	.backing = IBVBUF_TRACE_BACKING_ANONYMOUS,
};
static struct failure_facts facts;

static struct ibvbuf_trace_record call_of(uint16_t call, int error)
{
	return (struct ibvbuf_trace_record){
		.call = call,
		.error = error,
		.pd = DOMAIN,
		.address = 0x100000,
		.length = 4096,
		.iova = 0x100000,
		.access = IBV_ACCESS_LOCAL_WRITE,
		.fd = -1,
	};
}

static void is(struct ibvbuf_trace_record record, const char *name)
{
	const struct failure_cause *cause = failure_cause_of(&record, &facts);

	cr_assert_str_eq(cause->name, name, "%s instead of %s", cause->name, name);
}

Test(failures, a_registration_without_memory_is_over_the_limit_of_locked_memory)
{
	is(call_of(IBVBUF_TRACE_REG_MR, ENOMEM), "memlock");
	is(call_of(IBVBUF_TRACE_REREG_MR, ENOMEM), "memlock");
}

Test(failures, with_very_many_mrs_it_may_be_the_count_of_mappings)
{
	facts.mrs = 30000;
	is(call_of(IBVBUF_TRACE_REG_MR, ENOMEM), "map-count");
}

Test(failures, a_buffer_without_memory_is_not_about_locked_memory)
{
	struct ibvbuf_trace_record record = call_of(IBVBUF_TRACE_ALLOC_BUF, ENOMEM);

	is(record, "no-memory");
	record.backing = IBVBUF_TRACE_BACKING_HUGETLB;
	is(record, "no-huge-pages");
	is(call_of(IBVBUF_TRACE_ALLOC_PD, ENOMEM), "no-memory-or-room");
}

Test(failures, memory_that_cannot_be_pinned_may_be_read_only_if_it_is_to_be_written)
{
	struct ibvbuf_trace_record record = call_of(IBVBUF_TRACE_REG_MR, EFAULT);

	is(record, "cannot-pin-for-writing");
	record.access = IBV_ACCESS_REMOTE_READ;
	is(record, "cannot-pin");
}

Test(failures, a_dmabufs_mapping_cannot_be_pinned)
{
	buffer.backing = IBVBUF_TRACE_BACKING_DMA_HEAP;
	facts.buffer = &buffer;
	is(call_of(IBVBUF_TRACE_REG_MR, EFAULT), "dmabuf-by-address");
}

Test(failures, remote_writes_need_local_ones)
{
	struct ibvbuf_trace_record record = call_of(IBVBUF_TRACE_REG_MR, EINVAL);

	record.access = IBV_ACCESS_REMOTE_WRITE;
	is(record, "remote-without-local");
	record.access = IBV_ACCESS_REMOTE_ATOMIC;
	is(record, "remote-without-local");
	record.call = IBVBUF_TRACE_REREG_MR;
	record.mask = IBV_REREG_MR_CHANGE_ACCESS;
	is(record, "remote-without-local");
}

Test(failures, access_bits_have_to_exist)
{
	struct ibvbuf_trace_record record = call_of(IBVBUF_TRACE_REG_MR, EINVAL);

	record.access |= 1u << 12;
	is(record, "unknown-access");
	record.access = IBV_ACCESS_LOCAL_WRITE | 1u << 25;
	is(record, "refused");
}

Test(failures, lengths_have_to_make_sense)
{
	struct ibvbuf_trace_record record = call_of(IBVBUF_TRACE_REG_MR, EINVAL);

	record.length = 0;
	is(record, "length-zero");
	record.length = UINT64_MAX - 5;
	is(record, "range-wraps");
}

Test(failures, iova_and_address_lie_at_the_same_place_of_a_page)
{
	struct ibvbuf_trace_record record = call_of(IBVBUF_TRACE_REG_MR_IOVA2, EINVAL);

	record.iova += 64;
	is(record, "iova-misaligned");
	/* this call has none */
	record.call = IBVBUF_TRACE_REG_MR;
	is(record, "refused");
}

Test(failures, on_demand_paging_is_not_everywhere)
{
	struct ibvbuf_trace_record record = call_of(IBVBUF_TRACE_REG_MR, EINVAL);

	record.access |= IBV_ACCESS_ON_DEMAND;
	is(record, "on-demand-refused");
	record.address = 0;
	record.length = UINT64_MAX;
	is(record, "on-demand-refused");
	record.error = EOPNOTSUPP;
	is(record, "on-demand-refused");
}

Test(failures, unusual_access_may_be_refused)
{
	struct ibvbuf_trace_record record = call_of(IBVBUF_TRACE_REG_MR, EINVAL);

	record.access |= IBV_ACCESS_MW_BIND;
	is(record, "access-refused");
}

Test(failures, a_descriptor_has_rules_of_its_own)
{
	struct ibvbuf_trace_record record = call_of(IBVBUF_TRACE_REG_DMABUF_MR, EINVAL);

	record.fd = 5;
	record.address = 0;
	is(record, "no-dmabuf");
	record.access |= IBV_ACCESS_MW_BIND;
	is(record, "dmabuf-access");
	record.offset = 8;
	is(record, "iova-misaligned");
	record.error = EBADF;
	is(record, "bad-descriptor");
	record.error = EOPNOTSUPP;
	is(record, "no-dmabuf-support");
	record.error = EFAULT;
	is(record, "cannot-attach");
}

Test(failures, the_rules_of_buffers_are_told_in_their_order)
{
	struct ibvbuf_trace_record record = call_of(IBVBUF_TRACE_REG_MR_EX, EINVAL);

	record.mask = IBV_REG_MR_MASK_BUF | IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_IOVA;
	record.pd = 0x5000;
	record.length = 0x20000;
	is(record, "unknown-buffer");
	facts.buffer = &buffer;
	is(record, "other-domain");
	record.pd = DOMAIN;
	is(record, "buffer-without-address");
	record.mask |= IBV_REG_MR_MASK_ADDR;
	is(record, "outside-buffer");
	record.length = 0x10000;
	is(record, "buffer-with-descriptor");
	record.mask &= ~(uint32_t)IBV_REG_MR_MASK_FD;
	buffer.backing = IBVBUF_TRACE_BACKING_UDMABUF;
	is(record, "buffer-with-iova");
	record.mask &= ~(uint32_t)IBV_REG_MR_MASK_IOVA;
	record.length = 0;
	is(record, "length-zero");
}

Test(failures, a_range_may_not_leave_its_buffer)
{
	struct ibvbuf_trace_record record = call_of(IBVBUF_TRACE_REG_BUF_MR, EINVAL);

	facts.buffer = &buffer;
	record.address = 0x10f001;
	is(record, "outside-buffer");
	record.address = 0xff000;
	is(record, "outside-buffer");
	record.address = 0x100010;
	record.length = UINT64_MAX;
	is(record, "outside-buffer");
}

Test(failures, fields_of_reg_mr_ex_belong_together)
{
	struct ibvbuf_trace_record record = call_of(IBVBUF_TRACE_REG_MR_EX, EINVAL);

	record.mask = 0;
	is(record, "attributes-mixed");
	record.mask = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_IOVA;
	is(record, "attributes-mixed");
	record.mask = IBV_REG_MR_MASK_ADDR;
	is(record, "refused");
	record.error = EOPNOTSUPP;
	record.mask |= 1u << 20;
	is(record, "no-attribute");
}

Test(failures, memory_of_a_confidential_guest_may_not_be_shared)
{
	is(call_of(IBVBUF_TRACE_REG_MR, EOPNOTSUPP), "memory-not-shared");
	is(call_of(IBVBUF_TRACE_ALLOC_NULL_MR, EOPNOTSUPP), "not-supported");
	is(call_of(IBVBUF_TRACE_REREG_MR, ENOSYS), "not-supported");
}

Test(failures, a_domain_is_busy_with_its_mrs_or_with_others)
{
	struct live_object domain = {.mrs = 3};

	facts.domain = &domain;
	is(call_of(IBVBUF_TRACE_DEALLOC_PD, EBUSY), "mrs-in-domain");
	domain.mrs = 0;
	is(call_of(IBVBUF_TRACE_DEALLOC_PD, EBUSY), "in-use");
	is(call_of(IBVBUF_TRACE_DEREG_MR, EBUSY), "windows-of-mr");
}

Test(failures, what_does_not_live_cannot_be_released)
{
	is(call_of(IBVBUF_TRACE_DEREG_MR, EINVAL), "not-live");
	is(call_of(IBVBUF_TRACE_FREE_BUF, EINVAL), "unknown-buffer");
	is(call_of(IBVBUF_TRACE_EXPORT_BUF_DMABUF_FD, EINVAL), "unknown-buffer");
}

Test(failures, what_is_missing_or_forbidden_is_named)
{
	is(call_of(IBVBUF_TRACE_ALLOC_PARENT_DOMAIN, ENOENT), "no-heap");
	is(call_of(IBVBUF_TRACE_ALLOC_PARENT_DOMAIN, EACCES), "may-not-open");
	is(call_of(IBVBUF_TRACE_ALLOC_PARENT_DOMAIN, EINVAL), "domain-flags");
	is(call_of(IBVBUF_TRACE_ALLOC_BUF, EACCES), "may-not-open");
	is(call_of(IBVBUF_TRACE_IMPORT_MR, ENOENT), "no-such-handle");
	is(call_of(IBVBUF_TRACE_REG_MR, EPERM), "may-not-lock");
	is(call_of(IBVBUF_TRACE_EXPORT_BUF_DMABUF_FD, EMFILE), "too-many-descriptors");
	is(call_of(IBVBUF_TRACE_EXPORT_BUF_DMABUF_FD, ENODATA), "no-dmabuf-behind");
	is(call_of(IBVBUF_TRACE_REG_MR, EIO), "device-gone");
	is(call_of(IBVBUF_TRACE_REG_MR, -1), "no-errno");
	is(call_of(IBVBUF_TRACE_REG_MR, 4711), "other");
}

Test(failures, every_call_and_errno_has_a_cause)
{
	struct ibvbuf_trace_record record;
	uint32_t call;
	int error;

	for (call = 0; call < 64; call++) {
		for (error = -1; error < 200; error++) {
			record = call_of((uint16_t)call, error);
			cr_assert_not_null(failure_cause_of(&record, &facts)->why);
		}
	}
}

Test(failures, a_probe_is_answered_by_ebadf)
{
	cr_assert(failure_probe_supported(EBADF));
	cr_assert_not(failure_probe_supported(EOPNOTSUPP));
}
