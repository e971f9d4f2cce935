// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "rehearsal.h"
#include "buffers.h"
#include "domains.h"
#include "handle_table.h"
#include "originals.h"
#include "report.h"
#include "unsupported.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

/* IBV_CQ_INIT_ATTR_MASK_PD, which verbs.h has since 27. */
#define QUEUE_OF_PARENT_DOMAIN (1U << 1)

int rehearsal_query_device(query_device_function *provider, struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t size)
{
	original_ibv_query_device_function *query_device = original(ibv_query_device);
	int result = provider(context, input, attr, size);

	if (size < offsetof(struct ibv_device_attr_ex, device_cap_flags_ex) +
			   sizeof(attr->device_cap_flags_ex))
		return result;
	/* Up to 28 many have only that; verbs.h falls back on it, and then there are no bits. */
	if (is_unsupported(result) && query_device) {
		memset(attr, 0, size);
		result = query_device(context, &attr->orig_attr);
	}
	if (!result)
		attr->device_cap_flags_ex |= IBV_DEVICE_CC_DMA_BOUNCE;
	return result;
}

struct ibv_cq_ex *rehearsal_create_cq(create_cq_function *provider, struct ibv_context *context,
				      struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_cq_init_attr_ex plain;

	if (!(attr->comp_mask & QUEUE_OF_PARENT_DOMAIN) || !domain_is_stand_in(attr->parent_domain))
		return provider(context, attr);
	plain = *attr;
	plain.comp_mask &= ~QUEUE_OF_PARENT_DOMAIN;
	plain.parent_domain = NULL;
	/* cppcheck-suppress returnDanglingLifetime ; a queue does not point to it */
	return provider(context, &plain);
}

bool rehearsal_refuses_now(const void *addr, size_t length, const void *caller)
{
	/* The places that have been named. */
	static struct handle_table named = HANDLE_TABLE_INITIALIZER(1);
	int saved_errno = errno;
	uint64_t nothing = 0;

	if (buffer_is_shared_memory(addr, length))
		return false;
	/*
	 * Two threads at the same place at the same time may both name it. Then the table has it
	 * twice, which only a removal would bring out, and nothing is ever removed.
	 */
	if (!handle_table_lookup(&named, (uintptr_t)caller, &nothing)) {
		handle_table_insert(&named, (uintptr_t)caller, &nothing);
		errno = saved_errno;
		report_problem(PROBLEM_PROTECTED_MEMORY, (uintptr_t)addr, caller);
	}
	errno = EOPNOTSUPP;
	return true;
}
