/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What lives in the recorded processes after each call: MRs, buffers, domains, memory windows.
 * Takes memory for what lives, not for what was recorded.
 *
 * An address is used again as soon as its object is gone, and a call that ended earlier may be
 * recorded later: an MR can be recorded before the deregistration of the one that had its address.
 * So an MR is known by its address and its key, and of several the oldest ends first.
 */
#ifndef IBVBUF_TRACE_LIVE_OBJECTS_H
#define IBVBUF_TRACE_LIVE_OBJECTS_H

#include "call_site.h"
#include "interval_tree.h"
#include "object_map.h"

enum live_kind {
	LIVE_NOTHING = -1,
	LIVE_MR,
	LIVE_IMPORTED_MR,
	LIVE_BUFFER,
	LIVE_DOMAIN,
	LIVE_WINDOW,
	LIVE_KINDS,
};

/**
 * struct live_object - what lives
 * @kind: what it is
 * @file: the process
 * @site: where it was made; NULL if that call is not wanted
 * @address: of the object
 * @key: lkey of an MR, rkey of a window, else 0
 * @length: bytes of an MR or a buffer that count, else 0
 * @range: of an MR or a buffer: where its bytes lie, if that is known; else @range.end is 0
 * @by_descriptor: an MR of a DMA-buf, which keeps that memory
 * @backing: of a buffer
 * @domain: of an MR, or NULL
 * @pd: of a buffer, the address of its domain
 * @buffer: of an MR, the live buffer that it was registered with, or NULL
 * @mrs: of a domain or a buffer, the MRs that live in it
 *
 * The rest is this module's own: @open tells how often a domain was opened, @ranges are those of
 * its MRs; @next and @previous chain the domains of a process, and the MRs of a buffer behind it.
 *
 * What is looked at to find one is in its first cache line, and what the tree looks at in the
 * second.
 */
struct live_object {
	struct object_entry entry;
	uint64_t address;
	uint64_t key;
	const struct trace_file *file;
	const struct call_site *site;
	uint64_t length;
	struct live_object *domain;
	struct interval range;
	enum live_kind kind;
	unsigned int open;
	uint16_t backing;
	bool by_descriptor;
	uint64_t pd;
	struct live_object *buffer;
	uint64_t mrs;
	struct interval_tree ranges;
	struct live_object *next;
	struct live_object *previous;
} __attribute__((aligned(64)));

/**
 * struct live_change - what a call changed
 * @kind: of what began or ended; LIVE_NOTHING if nothing did
 * @count: 1: one began; -1: one ended; 0: its length changed
 * @bytes: by how much its kind's bytes grew
 * @site: where what began, ended or changed was made; NULL if that is not wanted or not known
 * @unknown: what ended was not known to live
 * @same: an older MR of the same domain and range that lives, beside the new one, or NULL
 * @overlaps: the first MR of the domain that shares bytes with the new one, or NULL
 * @shared: bytes of the new MR that lie in others of its domain
 * @again: the new MR's range was registered in its domain before, and deregistered in between
 * @again_time: nanoseconds that the last deregistration of it took
 * @orphans: MRs that lived when their buffer was freed, or the range that they lie in
 * @orphan_bytes: bytes of them
 * @orphan: the first of them
 * @at_least: there may be more @shared or @orphans: not all was looked at, which would take too
 * long
 * @backing: of the buffer that was freed
 *
 * What it points to is there until the next call.
 */
struct live_change {
	enum live_kind kind;
	int count;
	int64_t bytes;
	const struct call_site *site;
	bool unknown;
	const struct live_object *same;
	const struct live_object *overlaps;
	uint64_t shared;
	bool again;
	uint64_t again_time;
	uint64_t orphans;
	uint64_t orphan_bytes;
	const struct live_object *orphan;
	bool at_least;
	uint16_t backing;
};

struct live;

/* `with_ranges`: whether to find out which MRs share bytes, and which lose their memory. */
struct live *live_new(bool with_ranges);
void live_free(struct live *live);

/*
 * False for what libibverbs registered by itself: as the application's call was not recorded, its
 * deregistration will not be either, so that it is not known how long the MR lives.
 */
bool live_can_follow(struct call_sites *sites, const struct trace_event *event);

/*
 * Takes the next event, one that can be followed. `site` is where it was called, or NULL if what it
 * makes is not wanted: it then lives without a site.
 */
void live_take(struct live *live, const struct trace_event *event, const struct call_site *site,
	       struct live_change *change);

/*
 * What lives of what the event was given; before it is taken. NULL if that is not known. The buffer
 * is the one that was named, or the one that the range begins in.
 */
const struct live_object *live_domain_of(const struct live *live, const struct trace_event *event);
const struct live_object *live_buffer_of(const struct live *live, const struct trace_event *event);
const struct live_object *live_mr_of(const struct live *live, const struct trace_event *event);

/* The bytes of a registration that count: none of those that register the whole address space. */
uint64_t live_bytes_of(const struct ibvbuf_trace_record *record);

#endif
