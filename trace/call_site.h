/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Where a call was made: the module and the place in it. The same place of the same module is the
 * same call site, in whichever file and at whichever address: sites can be compared as pointers.
 * After CALL_SITES_MOST sites, which only a damaged file has, all others are one.
 */
#ifndef IBVBUF_TRACE_CALL_SITE_H
#define IBVBUF_TRACE_CALL_SITE_H

#include "trace_event.h"

#define CALL_SITES_MOST (1 << 18)

/**
 * struct call_site - a return address, without the process
 * @module: path of the program or library; "" if it is not known
 * @name: the last part of it
 * @library: "librdmacm", "libmlx5": the module is a part of rdma-core, which made the call by
 *	itself; NULL for a call of the application
 * @offset: address in the module, as addr2line takes it; where the module is not known, the address
 * @text: "libucm.so.0+0x1f3a", behind "[librdmacm] " for a call of @library
 */
struct call_site {
	const char *module;
	const char *name;
	const char *library;
	uint64_t offset;
	const char *text;
};

struct call_sites;

struct call_sites *call_sites_new(void);
void call_sites_free(struct call_sites *sites);

/* An address of the process, at a time by CLOCK_MONOTONIC. Never NULL. */
const struct call_site *call_site_find(struct call_sites *sites, const struct trace_file *file,
				       uint64_t address, uint64_t time);
/* Where the event's call came from. */
const struct call_site *call_site_of(struct call_sites *sites, const struct trace_event *event);

/*
 * Whether libibverbs made the call by itself. What it does in a call that was recorded is a part of
 * that one, so the application's call was not recorded: the program opened libibverbs for itself.
 */
bool call_site_is_of_libibverbs(const struct call_site *site);

/*
 * "ucm_rcache_region+0x1f" from the symbols of the module, if its file is there and is the one that
 * ran (its build-id agrees); otherwise NULL.
 */
const char *call_site_function(struct call_sites *sites, const struct call_site *site);

/* "libucm.so.0+0x1f3a (ucm_rcache_region+0x1f)", as much of it as is known. Kept by `sites`. */
const char *call_site_text(struct call_sites *sites, const struct call_site *site);

#endif
