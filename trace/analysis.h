/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * All that the summary tells, from one pass over the events. Takes memory for what lives, for call
 * sites and for pairs of them, not for the number of records.
 */
#ifndef IBVBUF_TRACE_ANALYSIS_H
#define IBVBUF_TRACE_ANALYSIS_H

#include "command.h"
#include "failures.h"
#include "histogram.h"

/**
 * struct analysis_level - registered memory over time, in bytes and MRs
 * @bytes: now
 * @mrs: now
 * @most_bytes: at most, at the time @most_bytes_at (nanoseconds since 1970)
 * @most_mrs: at most, at the time @most_mrs_at
 */
struct analysis_level {
	uint64_t bytes;
	uint64_t mrs;
	uint64_t most_bytes;
	uint64_t most_bytes_at;
	uint64_t most_mrs;
	uint64_t most_mrs_at;
};

/* Different ones that are counted apart for a call; Linux has some 130. */
#define ANALYSIS_MOST_ERRORS 256

/**
 * struct analysis_error - how often a call failed with an errno
 */
struct analysis_error {
	int32_t error;
	uint64_t count;
};

/**
 * struct analysis_call - a call: all of that name
 * @count: how often
 * @failed: of these, how many failed, without probes
 * @probes: of these, how many were probes that failed
 * @bytes: that were registered, or allocated
 * @time: how long they took, in nanoseconds
 * @errors: @error_count of them, in the order in which they came, without those of probes
 */
struct analysis_call {
	uint64_t count;
	uint64_t failed;
	uint64_t probes;
	uint64_t bytes;
	struct histogram time;
	struct analysis_error *errors;
	size_t error_count;
};

/**
 * struct analysis_site - a call site
 * @site: where
 * @calls: made there
 * @failed: of these
 * @bytes: registered there, in total
 * @time: that all its calls took, in nanoseconds
 * @made: objects of each kind that were made there
 * @live: of these, how many live
 * @live_bytes: bytes of these
 * @most_bytes: bytes of its MRs that lived at the same time, at most
 */
struct analysis_site {
	struct object_entry entry;
	const struct call_site *site;
	uint64_t calls;
	uint64_t failed;
	uint64_t bytes;
	uint64_t time;
	uint64_t made[LIVE_KINDS];
	uint64_t live[LIVE_KINDS];
	uint64_t live_bytes[LIVE_KINDS];
	uint64_t most_bytes;
};

/**
 * struct analysis_failure - calls that failed in the same way at the same site
 * @least_bytes: registered in the process when one of them failed, at least
 * @least_mrs: MRs at that moment
 * @first: the record of the first of them
 * @first_end: when it ended
 * @first_file: the process
 */
struct analysis_failure {
	struct object_entry entry;
	uint16_t call;
	int32_t error;
	const struct failure_cause *cause;
	const struct call_site *site;
	uint64_t count;
	uint64_t least_bytes;
	uint64_t least_mrs;
	struct ibvbuf_trace_record first;
	uint64_t first_end;
	const struct trace_file *first_file;
};

enum analysis_pair_kind {
	ANALYSIS_REPEAT,  /* a range that is registered already, in the same domain */
	ANALYSIS_OVERLAP, /* a part of it is */
	ANALYSIS_AGAIN,	  /* a range that was registered before, and deregistered in between */
	ANALYSIS_ORPHAN,  /* MRs of a buffer that was freed */
	ANALYSIS_PAIR_KINDS,
};

/**
 * struct analysis_pair - what two call sites did to each other
 * @site: of the registration; of an orphan, where its buffer was freed
 * @other: of the registration that was there; of an orphan, where it was registered; of
 *	ANALYSIS_AGAIN the same as @site
 * @count: how often; of orphans, MRs
 * @bytes: that were registered twice; of ANALYSIS_AGAIN, registered again; of orphans, of the MRs
 * @time: that the registrations took; of ANALYSIS_AGAIN, and the deregistrations before them
 * @on_dmabuf: of these, orphans of buffers made of a DMA-buf
 * @at_least: @bytes, and @count of orphans, may be more
 */
struct analysis_pair {
	struct object_entry entry;
	enum analysis_pair_kind kind;
	const struct call_site *site;
	const struct call_site *other;
	uint64_t count;
	uint64_t bytes;
	uint64_t time;
	uint64_t on_dmabuf;
	bool at_least;
};

/**
 * struct analysis_totals - of a process, or of all
 * @calls: that returned
 * @failed: of these, without probes
 * @bytes: registered, in total
 * @time: that the calls took, in nanoseconds
 * @live: objects of each kind that live at the end
 * @live_bytes: bytes of these
 * @made: objects of each kind that were made
 * @unknown: objects of each kind that ended and were not known to live
 * @level: its MRs
 * @begin: when its first call began; 0 if there is none
 * @end: when its last one ended
 */
struct analysis_totals {
	uint64_t calls;
	uint64_t failed;
	uint64_t bytes;
	uint64_t time;
	uint64_t made[LIVE_KINDS];
	uint64_t live[LIVE_KINDS];
	uint64_t live_bytes[LIVE_KINDS];
	uint64_t unknown[LIVE_KINDS];
	struct analysis_level level;
	uint64_t begin;
	uint64_t end;
};

#define ANALYSIS_CALLS 32

/**
 * struct analysis - what was found
 * @calls: by number
 * @probes: what probes were answered, @probe_count of them
 * @unknown_calls: of a number that this program does not know
 * @passed_by: registrations by libibverbs itself, which are made and live nowhere
 * @sites: in the order in which they came, as are the next two
 * @failures: other than probes
 * @pairs: of all kinds
 * @processes: of each file, at its index
 * @all: the sum, in which levels are those of all processes together
 * @devices: names of those that were used
 */
struct analysis {
	struct analysis_call calls[ANALYSIS_CALLS];
	struct analysis_error *probes;
	size_t probe_count;
	uint64_t unknown_calls;
	uint64_t passed_by;
	struct analysis_site **sites;
	size_t site_count;
	struct analysis_failure **failures;
	size_t failure_count;
	struct analysis_pair **pairs;
	size_t pair_count;
	struct analysis_totals *processes;
	size_t process_count;
	struct analysis_totals all;
	const char **devices;
	size_t device_count;
};

/*
 * Takes all events of the input. Those that its filter refuses count for what lives alone. Without
 * `with_pairs` there are no pairs, which take half of the time, and causes are less exact.
 */
struct analysis *analysis_of(struct trace_input *input, bool with_pairs);
void analysis_free(struct analysis *analysis);

#endif
