// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "trace_event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *trace_call_name(uint16_t call)
{
	switch (call) {
#define CALL_NAME(number, name, function)                                                          \
	case number:                                                                               \
		return function;
		IBVBUF_TRACE_CALLS(CALL_NAME)
#undef CALL_NAME
	default:
		return NULL;
	}
}

uint16_t trace_call_number(const char *name)
{
	static const struct {
		const char *function;
		uint16_t number;
	} calls[] = {
#define CALL_NUMBER(number, name, function) {function, number},
		IBVBUF_TRACE_CALLS(CALL_NUMBER)
#undef CALL_NUMBER
	};
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (!strcmp(calls[i].function, name) ||
		    !strcmp(calls[i].function + strlen("ibv_"), name))
			return calls[i].number;
	}
	return 0;
}

const char *trace_backing_name(uint16_t backing)
{
	switch (backing) {
	case IBVBUF_TRACE_BACKING_ANONYMOUS:
		return "anonymous";
	case IBVBUF_TRACE_BACKING_HUGETLB:
		return "hugetlb";
	case IBVBUF_TRACE_BACKING_DMA_HEAP:
		return "DMA heap";
	case IBVBUF_TRACE_BACKING_UDMABUF:
		return "udmabuf";
	case IBVBUF_TRACE_BACKING_NATIVE:
		return "native";
	default:
		return NULL;
	}
}

/* glibc has strerrorname_np() since 2.32 only. */
static const char *const errno_names[] = {
#define ERRNO_NAME(name) [name] = #name,
#include "errno_names.def"
#undef ERRNO_NAME
};

const char *trace_errno_name(int error)
{
	if (error < 0 || (size_t)error >= sizeof(errno_names) / sizeof(errno_names[0]))
		return NULL;
	return errno_names[error];
}

int trace_errno_number(const char *text)
{
	size_t i;
	char *end;
	long number;

	for (i = 0; i < sizeof(errno_names) / sizeof(errno_names[0]); i++) {
		if (errno_names[i] && !strcmp(errno_names[i], text))
			return (int)i;
	}
	/* names that share a number with another */
	if (!strcmp(text, "EWOULDBLOCK"))
		return EWOULDBLOCK;
	if (!strcmp(text, "EDEADLOCK"))
		return EDEADLOCK;
	if (!strcmp(text, "ENOTSUP"))
		return ENOTSUP;
	errno = 0;
	number = strtol(text, &end, 10);
	if (errno || end == text || *end || number < -1 || number > INT32_MAX)
		return 0;
	return (int)number;
}

/* The bits of libibverbs' enum ibv_access_flags; older headers lack the later ones. */
static const struct {
	uint32_t bit;
	const char *name;
} access_names[] = {
	{1 << 0, "LOCAL_WRITE"},      {1 << 1, "REMOTE_WRITE"},	     {1 << 2, "REMOTE_READ"},
	{1 << 3, "REMOTE_ATOMIC"},    {1 << 4, "MW_BIND"},	     {1 << 5, "ZERO_BASED"},
	{1 << 6, "ON_DEMAND"},	      {1 << 7, "HUGETLB"},	     {1 << 8, "FLUSH_GLOBAL"},
	{1 << 9, "FLUSH_PERSISTENT"}, {1 << 20, "RELAXED_ORDERING"},
};

const char *trace_access_words(uint32_t access, char words[TRACE_WORDS_SIZE])
{
	size_t i, length = 0;

	words[0] = '\0';
	for (i = 0; i < sizeof(access_names) / sizeof(access_names[0]); i++) {
		if (!(access & access_names[i].bit))
			continue;
		access &= ~access_names[i].bit;
		length += (size_t)snprintf(words + length, TRACE_WORDS_SIZE - length, "%s%s",
					   length ? "|" : "", access_names[i].name);
	}
	if (access)
		snprintf(words + length, TRACE_WORDS_SIZE - length, "%s0x%" PRIx32,
			 length ? "|" : "", access);
	else if (!length)
		return "0";
	return words;
}

const char *trace_result_words(int32_t error, char words[TRACE_WORDS_SIZE])
{
	const char *name = trace_errno_name(error);

	if (!error)
		return "ok";
	if (name)
		return name;
	if (error == -1)
		return "failed";
	snprintf(words, TRACE_WORDS_SIZE, "errno %" PRId32, error);
	return words;
}

enum trace_effect trace_call_effect(uint16_t call)
{
	switch (call) {
	case IBVBUF_TRACE_REG_MR:
	case IBVBUF_TRACE_REG_MR_IOVA:
	case IBVBUF_TRACE_REG_MR_IOVA2:
	case IBVBUF_TRACE_REG_DMABUF_MR:
	case IBVBUF_TRACE_REG_MR_EX:
	case IBVBUF_TRACE_REG_BUF_MR:
	case IBVBUF_TRACE_IMPORT_MR:
	case IBVBUF_TRACE_REG_DM_MR:
	case IBVBUF_TRACE_ALLOC_NULL_MR:
		return TRACE_EFFECT_REGISTERS;
	case IBVBUF_TRACE_REREG_MR:
		return TRACE_EFFECT_REREGISTERS;
	case IBVBUF_TRACE_DEREG_MR:
	case IBVBUF_TRACE_UNIMPORT_MR:
		return TRACE_EFFECT_DEREGISTERS;
	case IBVBUF_TRACE_ALLOC_BUF:
		return TRACE_EFFECT_ALLOCATES;
	case IBVBUF_TRACE_FREE_BUF:
		return TRACE_EFFECT_FREES;
	case IBVBUF_TRACE_ALLOC_PD:
	case IBVBUF_TRACE_IMPORT_PD:
	case IBVBUF_TRACE_ALLOC_PARENT_DOMAIN:
		return TRACE_EFFECT_OPENS;
	case IBVBUF_TRACE_DEALLOC_PD:
	case IBVBUF_TRACE_UNIMPORT_PD:
		return TRACE_EFFECT_CLOSES;
	case IBVBUF_TRACE_ALLOC_MW:
		return TRACE_EFFECT_BINDS;
	case IBVBUF_TRACE_DEALLOC_MW:
		return TRACE_EFFECT_UNBINDS;
	default:
		return TRACE_EFFECT_NONE;
	}
}

bool event_failed(const struct trace_event *event)
{
	return event->record->error != 0;
}

bool event_registers(const struct trace_event *event)
{
	return !event_failed(event) &&
	       trace_call_effect(event->record->call) == TRACE_EFFECT_REGISTERS;
}

bool event_deregisters(const struct trace_event *event)
{
	return !event_failed(event) &&
	       trace_call_effect(event->record->call) == TRACE_EFFECT_DEREGISTERS;
}

bool event_probes(const struct trace_event *event)
{
	const struct ibvbuf_trace_record *record = event->record;

	return record->call == IBVBUF_TRACE_REG_DMABUF_MR && record->fd == -1 && record->error;
}
