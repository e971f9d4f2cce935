// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "failures.h"

#include <errno.h>

#include "infiniband/verbs.h"

/* Bits 0 to 9 exist, and 20 to 29 are the ones that a device may ignore. */
#define ACCESS_KNOWN UINT32_C(0x3ff003ff)
/* What the kernel takes for a DMA-buf. */
#define ACCESS_OF_DMABUF                                                                           \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC | UINT32_C(0x3ff00000))
/* Pages are written to, so they must be writable. */
#define ACCESS_WRITES                                                                              \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC |             \
	 IBV_ACCESS_MW_BIND)
/* Not all devices have these; the last is for persistent memory, bits 8 and 9. */
#define ACCESS_SPECIAL                                                                             \
	(IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_HUGETLB | UINT32_C(0x300))
/* The smallest page of all machines: what lies at different places in it does so in larger ones. */
#define PAGE_MASK UINT64_C(4095)
/* A third of vm.max_map_count's default. */
#define MANY_MRS 20000

enum cause {
#define CAUSE(identifier, name, why, remedy) CAUSE_##identifier,
#include "failure_causes.def"
#undef CAUSE
};

static const struct failure_cause causes[] = {
#define CAUSE(identifier, name, why, remedy) {name, why, remedy},
#include "failure_causes.def"
#undef CAUSE
};

static bool is_on_dmabuf(const struct live_object *buffer)
{
	return buffer && (buffer->backing == IBVBUF_TRACE_BACKING_DMA_HEAP ||
			  buffer->backing == IBVBUF_TRACE_BACKING_UDMABUF);
}

static bool registers_buffer(const struct ibvbuf_trace_record *record)
{
	return record->call == IBVBUF_TRACE_REG_BUF_MR ||
	       (record->call == IBVBUF_TRACE_REG_MR_EX && (record->mask & IBV_REG_MR_MASK_BUF));
}

static bool registers_descriptor(const struct ibvbuf_trace_record *record)
{
	return record->call == IBVBUF_TRACE_REG_DMABUF_MR ||
	       (record->call == IBVBUF_TRACE_REG_MR_EX && (record->mask & IBV_REG_MR_MASK_FD));
}

static bool has_iova(const struct ibvbuf_trace_record *record)
{
	return record->call == IBVBUF_TRACE_REG_MR_IOVA ||
	       record->call == IBVBUF_TRACE_REG_MR_IOVA2 ||
	       (record->call == IBVBUF_TRACE_REG_MR_EX && (record->mask & IBV_REG_MR_MASK_IOVA));
}

static bool is_outside(const struct ibvbuf_trace_record *record, const struct live_object *buffer)
{
	uint64_t size = buffer->range.end - buffer->range.start;
	uint64_t offset = record->address - buffer->range.start;

	return record->address < buffer->range.start || offset > size ||
	       record->length > size - offset;
}

/* The rules of the buffer API, in the order in which they are checked; CAUSE_OTHER if all hold. */
static enum cause buffer_rule(const struct ibvbuf_trace_record *record,
			      const struct failure_facts *facts)
{
	const struct live_object *buffer = facts->buffer;
	bool extended = record->call == IBVBUF_TRACE_REG_MR_EX;

	if (!buffer)
		return CAUSE_UNKNOWN_BUFFER;
	if (buffer->pd && record->pd && buffer->pd != record->pd)
		return CAUSE_OTHER_DOMAIN;
	if (extended && !(record->mask & IBV_REG_MR_MASK_ADDR))
		return CAUSE_BUFFER_WITHOUT_ADDRESS;
	if (buffer->range.end && is_outside(record, buffer))
		return CAUSE_OUTSIDE_BUFFER;
	if (extended && (record->mask & (IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET)))
		return CAUSE_BUFFER_WITH_DESCRIPTOR;
	if (extended && (record->mask & IBV_REG_MR_MASK_IOVA) && is_on_dmabuf(buffer))
		return CAUSE_BUFFER_WITH_IOVA;
	return CAUSE_OTHER;
}

/* Whether the fields that comp_mask of ibv_reg_mr_ex() names belong together. */
static bool attributes_fit(uint32_t mask)
{
	const uint32_t by_descriptor = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET |
				       IBV_REG_MR_MASK_IOVA;

	if (mask & (IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET))
		return (mask & by_descriptor) == by_descriptor && !(mask & IBV_REG_MR_MASK_ADDR);
	return mask & IBV_REG_MR_MASK_ADDR;
}

/* What ib_uverbs checks of access bits; CAUSE_OTHER if they are as they should be. */
static enum cause access_rule(uint32_t access)
{
	if ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) &&
	    !(access & IBV_ACCESS_LOCAL_WRITE))
		return CAUSE_REMOTE_WITHOUT_LOCAL;
	if (access & ~ACCESS_KNOWN)
		return CAUSE_UNKNOWN_ACCESS;
	return CAUSE_OTHER;
}

static enum cause descriptor_rule(const struct ibvbuf_trace_record *record)
{
	if ((record->offset & PAGE_MASK) != (record->iova & PAGE_MASK))
		return CAUSE_IOVA_MISALIGNED;
	if (record->access & ~ACCESS_OF_DMABUF)
		return CAUSE_DMABUF_ACCESS;
	return CAUSE_NO_DMABUF;
}

static enum cause invalid_registration(const struct ibvbuf_trace_record *record,
				       const struct failure_facts *facts)
{
	enum cause cause;

	if (registers_buffer(record)) {
		cause = buffer_rule(record, facts);
		if (cause != CAUSE_OTHER)
			return cause;
	} else if (record->call == IBVBUF_TRACE_REG_MR_EX && !attributes_fit(record->mask)) {
		return CAUSE_ATTRIBUTES_MIXED;
	}
	if (!record->length)
		return CAUSE_LENGTH_ZERO;
	cause = access_rule(record->access);
	if (cause != CAUSE_OTHER)
		return cause;
	if (registers_descriptor(record))
		return descriptor_rule(record);
	/* Address 0 and the largest length stand for the whole address space, on demand. */
	if (record->access & IBV_ACCESS_ON_DEMAND)
		return CAUSE_ON_DEMAND_REFUSED;
	if (record->address > UINT64_MAX - record->length)
		return CAUSE_RANGE_WRAPS;
	if (has_iova(record) && (record->iova & PAGE_MASK) != (record->address & PAGE_MASK))
		return CAUSE_IOVA_MISALIGNED;
	if (record->access & ACCESS_SPECIAL)
		return CAUSE_ACCESS_REFUSED;
	return CAUSE_REFUSED;
}

static enum cause invalid(const struct ibvbuf_trace_record *record,
			  const struct failure_facts *facts)
{
	const uint32_t changes = IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD |
				 IBV_REREG_MR_CHANGE_ACCESS;
	enum cause cause;

	switch (record->call) {
	case IBVBUF_TRACE_REG_MR:
	case IBVBUF_TRACE_REG_MR_IOVA:
	case IBVBUF_TRACE_REG_MR_IOVA2:
	case IBVBUF_TRACE_REG_DMABUF_MR:
	case IBVBUF_TRACE_REG_MR_EX:
	case IBVBUF_TRACE_REG_BUF_MR:
		return invalid_registration(record, facts);
	case IBVBUF_TRACE_REREG_MR:
		if (!(record->mask & changes) || (record->mask & ~changes))
			return CAUSE_REREG_FLAGS;
		if ((record->mask & IBV_REREG_MR_CHANGE_TRANSLATION) && !record->length)
			return CAUSE_LENGTH_ZERO;
		cause = (record->mask & IBV_REREG_MR_CHANGE_ACCESS) ? access_rule(record->access)
								    : CAUSE_OTHER;
		return cause == CAUSE_OTHER ? CAUSE_REFUSED : cause;
	case IBVBUF_TRACE_DEREG_MR:
	case IBVBUF_TRACE_UNIMPORT_MR:
		return facts->mr ? CAUSE_REFUSED : CAUSE_NOT_LIVE;
	case IBVBUF_TRACE_DEALLOC_PD:
	case IBVBUF_TRACE_UNIMPORT_PD:
		return facts->domain ? CAUSE_REFUSED : CAUSE_NOT_LIVE;
	case IBVBUF_TRACE_DEALLOC_MW:
		return CAUSE_NOT_LIVE;
	case IBVBUF_TRACE_ALLOC_BUF:
		return CAUSE_BUFFER_SIZE_ZERO;
	case IBVBUF_TRACE_FREE_BUF:
	case IBVBUF_TRACE_EXPORT_BUF_DMABUF_FD:
		return facts->buffer ? CAUSE_REFUSED : CAUSE_UNKNOWN_BUFFER;
	case IBVBUF_TRACE_ALLOC_PARENT_DOMAIN:
		return CAUSE_DOMAIN_FLAGS;
	default:
		return CAUSE_REFUSED;
	}
}

static bool registers(const struct ibvbuf_trace_record *record)
{
	return trace_call_effect(record->call) == TRACE_EFFECT_REGISTERS ||
	       trace_call_effect(record->call) == TRACE_EFFECT_REREGISTERS;
}

/* Memory of the process that has to be pinned, and not device memory, none or another's. */
static bool pins(const struct ibvbuf_trace_record *record)
{
	return registers(record) && record->call != IBVBUF_TRACE_REG_DM_MR &&
	       record->call != IBVBUF_TRACE_ALLOC_NULL_MR && record->call != IBVBUF_TRACE_IMPORT_MR;
}

static enum cause no_memory(const struct ibvbuf_trace_record *record,
			    const struct failure_facts *facts)
{
	if (record->call == IBVBUF_TRACE_ALLOC_BUF)
		return record->backing == IBVBUF_TRACE_BACKING_HUGETLB ? CAUSE_NO_HUGE_PAGES
								       : CAUSE_NO_BUFFER_MEMORY;
	if (!pins(record))
		return CAUSE_NO_MEMORY;
	return facts->mrs >= MANY_MRS ? CAUSE_MAP_COUNT : CAUSE_MEMLOCK;
}

static enum cause bad_address(const struct ibvbuf_trace_record *record,
			      const struct failure_facts *facts)
{
	if (!pins(record))
		return CAUSE_BAD_ADDRESS;
	if (registers_descriptor(record))
		return CAUSE_CANNOT_ATTACH;
	if (is_on_dmabuf(facts->buffer))
		return registers_buffer(record) ? CAUSE_CANNOT_ATTACH : CAUSE_DMABUF_BY_ADDRESS;
	return (record->access & ACCESS_WRITES) ? CAUSE_CANNOT_PIN_FOR_WRITING : CAUSE_CANNOT_PIN;
}

static enum cause not_supported(const struct ibvbuf_trace_record *record,
				const struct failure_facts *facts)
{
	const uint32_t known = IBV_REG_MR_MASK_IOVA | IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_FD |
			       IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_BUF;

	if (record->call == IBVBUF_TRACE_REG_MR_EX && (record->mask & ~known))
		return CAUSE_NO_ATTRIBUTE;
	if (registers_descriptor(record) ||
	    (registers_buffer(record) && is_on_dmabuf(facts->buffer)))
		return CAUSE_NO_DMABUF_SUPPORT;
	if (!pins(record) || record->call == IBVBUF_TRACE_REREG_MR)
		return CAUSE_NOT_SUPPORTED;
	return (record->access & IBV_ACCESS_ON_DEMAND) ? CAUSE_ON_DEMAND_REFUSED
						       : CAUSE_MEMORY_NOT_SHARED;
}

static bool makes_buffers(const struct ibvbuf_trace_record *record)
{
	return record->call == IBVBUF_TRACE_ALLOC_BUF ||
	       record->call == IBVBUF_TRACE_ALLOC_PARENT_DOMAIN;
}

static enum cause busy(const struct ibvbuf_trace_record *record, const struct failure_facts *facts)
{
	switch (trace_call_effect(record->call)) {
	case TRACE_EFFECT_DEREGISTERS:
		return CAUSE_WINDOWS_OF_MR;
	case TRACE_EFFECT_CLOSES:
		return facts->domain && facts->domain->mrs ? CAUSE_MRS_IN_DOMAIN : CAUSE_IN_USE;
	default:
		return CAUSE_IN_USE;
	}
}

static enum cause cause_of(const struct ibvbuf_trace_record *record,
			   const struct failure_facts *facts)
{
	switch (record->error) {
	case ENOMEM:
		return no_memory(record, facts);
	case EFAULT:
		return bad_address(record, facts);
	case EINVAL:
		return invalid(record, facts);
	case EOPNOTSUPP:
	case ENOSYS:
	case EPROTONOSUPPORT:
	case ENOTTY:
		return not_supported(record, facts);
	case EBADF:
		return CAUSE_BAD_DESCRIPTOR;
	case EPERM:
		return pins(record) ? CAUSE_MAY_NOT_LOCK : CAUSE_NO_ACCESS;
	case EACCES:
		return makes_buffers(record) ? CAUSE_MAY_NOT_OPEN : CAUSE_NO_ACCESS;
	case ENOENT:
		return makes_buffers(record) ? CAUSE_NO_HEAP : CAUSE_NO_SUCH_HANDLE;
	case EBUSY:
		return busy(record, facts);
	case EMFILE:
	case ENFILE:
		return CAUSE_TOO_MANY_DESCRIPTORS;
	case ENODATA:
		return CAUSE_NO_DMABUF_BEHIND;
	case ENOSPC:
		return CAUSE_DEVICE_FULL;
	case EIO:
	case ENODEV:
	case ENXIO:
	case ETIMEDOUT:
		return CAUSE_DEVICE_GONE;
	case E2BIG:
		return CAUSE_TOO_LARGE;
	case EAGAIN:
	case EINTR:
		return CAUSE_INTERRUPTED;
	case -1:
		return CAUSE_NO_ERRNO;
	default:
		return CAUSE_OTHER;
	}
}

const struct failure_cause *failure_cause_of(const struct ibvbuf_trace_record *record,
					     const struct failure_facts *facts)
{
	return &causes[cause_of(record, facts)];
}

bool failure_probe_supported(int32_t error)
{
	return error == EBADF;
}
