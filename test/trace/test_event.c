// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "../../trace/trace_event.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

Test(names, a_call_has_its_functions_name)
{
	cr_assert_str_eq(trace_call_name(IBVBUF_TRACE_REG_MR), "ibv_reg_mr");
	cr_assert_str_eq(trace_call_name(IBVBUF_TRACE_UNIMPORT_PD), "ibv_unimport_pd");
}

Test(names, a_later_versions_call_has_none)
{
	cr_assert_null(trace_call_name(0));
	cr_assert_null(trace_call_name(4711));
}

Test(names, a_call_is_found_with_and_without_prefix)
{
	cr_assert_eq(trace_call_number("ibv_dereg_mr"), IBVBUF_TRACE_DEREG_MR);
	cr_assert_eq(trace_call_number("dereg_mr"), IBVBUF_TRACE_DEREG_MR);
	cr_assert_eq(trace_call_number("mr"), 0);
}

Test(names, every_call_is_found_by_its_name)
{
	uint16_t call;

	for (call = 1; trace_call_name(call); call++)
		cr_assert_eq(trace_call_number(trace_call_name(call)), call);
	cr_assert_eq(call, 23);
}

Test(names, errnos_have_those_of_errno_h)
{
	cr_assert_str_eq(trace_errno_name(ENOMEM), "ENOMEM");
	cr_assert_str_eq(trace_errno_name(EOPNOTSUPP), "EOPNOTSUPP");
	cr_assert_str_eq(trace_errno_name(EAGAIN), "EAGAIN");
	cr_assert_null(trace_errno_name(0));
	cr_assert_null(trace_errno_name(-1));
	cr_assert_null(trace_errno_name(4711));
}

#if __GLIBC_PREREQ(2, 32)
Test(names, errnos_are_named_as_the_library_names_them)
{
	const char *name;
	int error;

	for (error = 1; error < 200; error++) {
		name = strerrorname_np(error);
		/* it prefers the older of two names that are the same number */
		if (error == EOPNOTSUPP)
			name = "EOPNOTSUPP";
		if (name)
			cr_assert_str_eq(trace_errno_name(error), name);
		else
			cr_assert_null(trace_errno_name(error));
	}
}
#endif

Test(names, an_errno_is_found_by_name_and_number)
{
	cr_assert_eq(trace_errno_number("EFAULT"), EFAULT);
	cr_assert_eq(trace_errno_number("ENOTSUP"), EOPNOTSUPP);
	cr_assert_eq(trace_errno_number("12"), ENOMEM);
	cr_assert_eq(trace_errno_number("0"), 0);
	cr_assert_eq(trace_errno_number("-1"), -1);
	cr_assert_eq(trace_errno_number("-2"), 0);
	cr_assert_eq(trace_errno_number("12x"), 0);
	cr_assert_eq(trace_errno_number(""), 0);
	cr_assert_eq(trace_errno_number("EWHAT"), 0);
}

Test(names, access_is_told_in_words)
{
	char words[TRACE_WORDS_SIZE];

	cr_assert_str_eq(trace_access_words(0, words), "0");
	cr_assert_str_eq(trace_access_words(1 | 4, words), "LOCAL_WRITE|REMOTE_READ");
	cr_assert_str_eq(trace_access_words(1 << 20, words), "RELAXED_ORDERING");
	cr_assert_str_eq(trace_access_words(1 | 1u << 31, words), "LOCAL_WRITE|0x80000000");
	cr_assert_str_eq(trace_access_words(1u << 30, words), "0x40000000");
}

Test(names, all_access_bits_have_room)
{
	char words[TRACE_WORDS_SIZE];

	cr_assert_not_null(strstr(trace_access_words(UINT32_MAX, words), "|0xffeffc00"));
}

Test(names, a_result_is_told_in_a_word)
{
	char words[TRACE_WORDS_SIZE];

	cr_assert_str_eq(trace_result_words(0, words), "ok");
	cr_assert_str_eq(trace_result_words(EINVAL, words), "EINVAL");
	cr_assert_str_eq(trace_result_words(-1, words), "failed");
	cr_assert_str_eq(trace_result_words(4711, words), "errno 4711");
}

static struct ibvbuf_trace_record record;
static struct trace_event event = {.record = &record};

static struct trace_event *call(uint16_t number, int32_t error, int32_t fd)
{
	record.call = number;
	record.error = error;
	record.fd = fd;
	return &event;
}

Test(predicates, an_mr_begins_where_a_registration_succeeds)
{
	cr_assert(event_registers(call(IBVBUF_TRACE_REG_MR_EX, 0, -1)));
	cr_assert(event_registers(call(IBVBUF_TRACE_IMPORT_MR, 0, -1)));
	cr_assert_not(event_registers(call(IBVBUF_TRACE_REG_MR, ENOMEM, -1)));
	cr_assert_not(event_registers(call(IBVBUF_TRACE_REREG_MR, 0, -1)));
	cr_assert_not(event_registers(call(IBVBUF_TRACE_ALLOC_BUF, 0, -1)));
}

Test(predicates, an_mr_ends_where_a_deregistration_succeeds)
{
	cr_assert(event_deregisters(call(IBVBUF_TRACE_DEREG_MR, 0, -1)));
	cr_assert(event_deregisters(call(IBVBUF_TRACE_UNIMPORT_MR, 0, -1)));
	cr_assert_not(event_deregisters(call(IBVBUF_TRACE_DEREG_MR, EBUSY, -1)));
	cr_assert_not(event_deregisters(call(IBVBUF_TRACE_DEALLOC_MW, 0, -1)));
}

Test(predicates, a_registration_of_no_descriptor_is_a_probe)
{
	cr_assert(event_probes(call(IBVBUF_TRACE_REG_DMABUF_MR, EBADF, -1)));
	cr_assert(event_probes(call(IBVBUF_TRACE_REG_DMABUF_MR, EOPNOTSUPP, -1)));
	cr_assert_not(event_probes(call(IBVBUF_TRACE_REG_DMABUF_MR, EBADF, 3)));
	cr_assert_not(event_probes(call(IBVBUF_TRACE_REG_MR, EFAULT, -1)));
}

Test(predicates, every_call_has_an_effect_but_an_export)
{
	uint16_t number;

	for (number = 1; trace_call_name(number); number++)
		cr_assert_eq(trace_call_effect(number) == TRACE_EFFECT_NONE,
			     number == IBVBUF_TRACE_EXPORT_BUF_DMABUF_FD);
	cr_assert_eq(trace_call_effect(4711), TRACE_EFFECT_NONE);
}
