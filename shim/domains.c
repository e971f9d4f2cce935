// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "domains.h"
#include "config.h"
#include "handle_table.h"
#include "originals.h"

#include <errno.h>

/* From the address of a domain to its serial. */
static struct handle_table domains = HANDLE_TABLE_INITIALIZER(1);

static uint64_t last_serial;

/* Without memory for the record, the domain is known by its address alone. */
static void remember(const struct ibv_pd *pd, uint64_t serial)
{
	int saved_errno = errno;
	uint64_t old;

	/* One that was deallocated behind our back, by the library itself, is still there. */
	handle_table_remove(&domains, (uintptr_t)pd, &old);
	handle_table_insert(&domains, (uintptr_t)pd, &serial);
	errno = saved_errno;
}

uint64_t domain_serial(const struct ibv_pd *pd)
{
	uint64_t serial;

	return handle_table_lookup(&domains, (uintptr_t)pd, &serial) ? serial : 0;
}

struct ibv_pd *domain_alloc(struct ibv_context *context)
{
	original_ibv_alloc_pd_function *alloc_pd = original(ibv_alloc_pd);
	struct ibv_pd *pd;

	config_get();
	if (!alloc_pd) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	pd = alloc_pd(context);
	/* A library with buffers of its own looks after its domains, too. */
	if (pd && !original(ibv_alloc_buf))
		remember(pd, __atomic_add_fetch(&last_serial, 1, __ATOMIC_RELAXED));
	return pd;
}

int domain_dealloc(struct ibv_pd *pd)
{
	original_ibv_dealloc_pd_function *dealloc_pd = original(ibv_dealloc_pd);
	uint64_t serial;
	bool known;
	int result;

	config_get();
	if (!dealloc_pd)
		return EOPNOTSUPP;
	/* Before the call: after it, another thread may be given the address. */
	known = handle_table_remove(&domains, (uintptr_t)pd, &serial);
	result = dealloc_pd(pd);
	if (result && known)
		remember(pd, serial);
	return result;
}
