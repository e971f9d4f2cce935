// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <err.h>
#include <stdbool.h>

#include "rc_connection.h"
#include "rc_domain.h"

/* Whether the device can reach only memory that is shared with the host. */
static bool needs_shared_memory(struct ibv_context *context)
{
	struct ibv_device_attr_ex attr;

	return !ibv_query_device_ex(context, NULL, &attr) &&
	       (attr.device_cap_flags_ex & IBV_DEVICE_CC_DMA_BOUNCE);
}

int rc_make_domain(struct rc_connection *connection)
{
	struct ibv_parent_domain_init_attr attr = {
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC,
	};

	connection->pd = ibv_alloc_pd(connection->context);
	if (!connection->pd) {
		warn("cannot allocate a protection domain");
		return -1;
	}
	if (!needs_shared_memory(connection->context))
		return 0;

	attr.pd = connection->pd;
	connection->plain_pd = connection->pd;
	connection->pd = ibv_alloc_parent_domain(connection->context, &attr);
	if (!connection->pd) {
		warn("cannot allocate a parent domain with memory that is shared with the host");
		return -1;
	}
	return 0;
}

void rc_release_domain(struct rc_connection *connection)
{
	if (connection->pd)
		ibv_dealloc_pd(connection->pd);
	if (connection->plain_pd)
		ibv_dealloc_pd(connection->plain_pd);
}
