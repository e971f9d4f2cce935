/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The protection domain of a connection.
 */
#ifndef RC_DOMAIN_H
#define RC_DOMAIN_H

struct rc_connection;

/**
 * rc_make_domain - make the protection domain of a connection whose device is open
 *
 * In a confidential guest a device may reach only memory that is shared with the host, and buffers
 * are that only for a domain that says so. What this program sends is no secret, so it does.
 *
 * Return: 0, or -1 after it has said on standard error what went wrong.
 */
int rc_make_domain(struct rc_connection *connection);

/**
 * rc_release_domain - release what rc_make_domain() made, also if it failed
 */
void rc_release_domain(struct rc_connection *connection);

#endif
