/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The local GID of a connection.
 */
#ifndef RC_GID_H
#define RC_GID_H

struct rc_connection;

/**
 * rc_choose_gid - fill in the GID of a connection whose device is open
 * @connection: gid_index is an index, or -1 to choose one
 *
 * On Ethernet, of the RoCE v2 GIDs, one with an IPv4 address is taken first, then one with
 * a routed IPv6 address, then a link-local one. On InfiniBand it is the first GID.
 *
 * Return: 0, or -1 after it has said on standard error what went wrong.
 */
int rc_choose_gid(struct rc_connection *connection);

#endif
