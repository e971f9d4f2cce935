/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One record, in its file, and what its numbers are called. */
#ifndef IBVBUF_TRACE_TRACE_EVENT_H
#define IBVBUF_TRACE_TRACE_EVENT_H

#include "trace_file.h"

/**
 * struct trace_event - a call that has returned
 * @file: where it is recorded
 * @number: of the call in its file; from 0 on
 * @begin: when it began, in nanoseconds since 1970 by the host's clock
 * @end: when it returned
 * @record: what is recorded; until the next event is asked for
 * @stack: @stack_used return addresses, the caller's first; as long as @record
 */
struct trace_event {
	struct trace_file *file;
	uint64_t number;
	uint64_t begin;
	uint64_t end;
	const struct ibvbuf_trace_record *record;
	const uint64_t *stack;
	unsigned int stack_used;
};

/* "ibv_reg_mr"; of a call that is not known, NULL. */
const char *trace_call_name(uint16_t call);
/* The number of a call, with or without "ibv_"; 0 if there is none of that name. */
uint16_t trace_call_number(const char *name);
/* "anonymous", "hugetlb", "DMA heap", "udmabuf", "native"; NULL for none. */
const char *trace_backing_name(uint16_t backing);

/* "ENOMEM"; NULL if it has no name. */
const char *trace_errno_name(int error);
/* By name or number, -1 for failures that set none; 0 if it is none. */
int trace_errno_number(const char *text);

/* Long enough for what the next two make; they return that, or words that need no room. */
#define TRACE_WORDS_SIZE 384
/* "LOCAL_WRITE|REMOTE_READ"; bits without a name as a number; "0" for none. */
const char *trace_access_words(uint32_t access, char words[TRACE_WORDS_SIZE]);
/* "ok", "ENOMEM", "errno 4711", or "failed" for a call that set no errno. */
const char *trace_result_words(int32_t error, char words[TRACE_WORDS_SIZE]);

/* What a call does, if it succeeds. */
enum trace_effect {
	TRACE_EFFECT_NONE,
	TRACE_EFFECT_REGISTERS,	  /* an MR begins: ibv_reg_*, ibv_import_mr, ibv_alloc_null_mr */
	TRACE_EFFECT_REREGISTERS, /* an MR changes */
	TRACE_EFFECT_DEREGISTERS, /* an MR ends: ibv_dereg_mr, ibv_unimport_mr */
	TRACE_EFFECT_ALLOCATES,	  /* a buffer begins */
	TRACE_EFFECT_FREES,	  /* a buffer ends */
	TRACE_EFFECT_OPENS,	  /* a domain begins */
	TRACE_EFFECT_CLOSES,	  /* a domain ends */
	TRACE_EFFECT_BINDS,	  /* a memory window begins */
	TRACE_EFFECT_UNBINDS,	  /* a memory window ends */
};

enum trace_effect trace_call_effect(uint16_t call);

bool event_failed(const struct trace_event *event);
/* A new MR is there. */
bool event_registers(const struct trace_event *event);
/* An MR is gone. */
bool event_deregisters(const struct trace_event *event);
/*
 * ibv_reg_dmabuf_mr() that failed with a descriptor of -1: UCX, NCCL and others ask in this way
 * whether the call is supported (EBADF: it is); it is not a fault.
 */
bool event_probes(const struct trace_event *event);

#endif
