// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <err.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>

#include "rc_connection.h"
#include "rc_gid.h"

/* Read from sysfs, since ibv_query_gid_ex() is missing before rdma-core 32. */
static bool is_roce_v2(const struct rc_connection *connection, int index)
{
	char path[sizeof(connection->context->device->ibdev_path) + 64];
	char type[16] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/ports/%u/gid_attrs/types/%d",
		 connection->context->device->ibdev_path, connection->port, index);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (!fgets(type, sizeof(type), file)) /* an empty entry answers EINVAL */
		type[0] = '\0';
	fclose(file);
	return strcmp(type, "RoCE v2\n") == 0;
}

static int preference(const union ibv_gid *gid)
{
	struct in6_addr address;

	memcpy(&address, gid, sizeof(address));
	if (IN6_IS_ADDR_UNSPECIFIED(&address))
		return 0;
	if (IN6_IS_ADDR_V4MAPPED(&address))
		return 3;
	return IN6_IS_ADDR_LINKLOCAL(&address) ? 1 : 2;
}

int rc_choose_gid(struct rc_connection *connection)
{
	union ibv_gid gid;
	int index, best = 0;

	if (connection->gid_index < 0 &&
	    connection->port_attr.link_layer == IBV_LINK_LAYER_INFINIBAND)
		connection->gid_index = 0;

	if (connection->gid_index >= 0) {
		if (ibv_query_gid(connection->context, connection->port, connection->gid_index,
				  &connection->gid)) {
			warnx("port %u has no GID %d", connection->port, connection->gid_index);
			return -1;
		}
		return 0;
	}

	for (index = 0; index < connection->port_attr.gid_tbl_len; index++) {
		if (ibv_query_gid(connection->context, connection->port, index, &gid) ||
		    preference(&gid) <= best || !is_roce_v2(connection, index))
			continue;
		best = preference(&gid);
		connection->gid = gid;
		connection->gid_index = index;
	}
	if (!best) {
		warnx("port %u has no RoCE v2 GID: give its network interface an address, "
		      "or name a GID with -g",
		      connection->port);
		return -1;
	}
	return 0;
}
