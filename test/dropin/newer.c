// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * newer RELEASE - linked with rdma-core 65's libibverbs, `-z now`; run on the library of RELEASE
 *
 * Every call that 65 has and 33 lacks, on a device whose provider has none of the operations: each
 * answers the same, whether it is the library's own or the drop-in's.
 */
#define _GNU_SOURCE
#include "device_context.h"
#include "expect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNTOUCHED 0x5a5a

/* Not in verbs.h, and not a public call; the linker finds it at IBVERBS_PRIVATE_65. */
int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
		       int *type);

/* The table's types are the header's. Enumerations are unsigned int to the compiler. */
#define NEWER(name, node, release, result, parameters, arguments, answer)                          \
	_Static_assert(__builtin_types_compatible_p(__typeof__(&name), result(*) parameters) ||    \
			       __builtin_types_compatible_p(__typeof__(&name),                     \
							    enum ibv_fork_status (*)(void)) ||     \
			       __builtin_types_compatible_p(                                       \
				       __typeof__(&name),                                          \
				       int (*)(struct ibv_qp *, enum ibv_wr_opcode, uint32_t)),    \
		       #name);
#define WATCHED(name, node, release)
#include "dropin/newer_calls.def"
#undef NEWER
#undef WATCHED
_Static_assert(sizeof(enum ibv_fork_status) == sizeof(int), "an enumeration is an int");
_Static_assert(sizeof(enum ibv_wr_opcode) == sizeof(int), "an enumeration is an int");

#define expect_object(call)                                                                        \
	do {                                                                                       \
		errno = UNTOUCHED;                                                                 \
		expect(!(call), "gave an object");                                                 \
		expect(errno == EOPNOTSUPP, "errno %d after " #call, errno);                       \
	} while (0)

#define expect_number(call, number, error)                                                         \
	do {                                                                                       \
		int answer_;                                                                       \
                                                                                                   \
		errno = UNTOUCHED;                                                                 \
		answer_ = (call);                                                                  \
		expect(answer_ == (number), "answered %d", answer_);                               \
		expect(errno == (error), "errno %d after " #call, errno);                          \
	} while (0)

static void answers_as_for_a_provider_without_the_operation(struct ibv_context *context)
{
	struct ibv_comp_cntr comp_cntr = {.context = context};
	struct ibv_comp_cntr_init_attr comp_cntr_attr = {0};
	struct ibv_qp_attach_comp_cntr_attr attach_attr = {0};
	struct ibv_dmah_init_attr dmah_attr = {0};
	struct ibv_dmah dmah = {.context = context};
	struct ibv_comp_cntr_caps caps;
	struct ibv_pd pd = {.context = context};
	struct ibv_qp qp = {.context = context};
	struct ibv_dm dm = {.context = context};
	uint64_t value = UNTOUCHED;

	expect_object(ibv_reg_dmabuf_mr(&pd, 0, 4096, 0, -1, 0));
	expect_object(ibv_import_dm(context, 1));
	errno = UNTOUCHED;
	ibv_unimport_dm(&dm);
	expect(errno == UNTOUCHED, "errno %d", errno);
	expect_number(ibv_query_qp_data_in_order(&qp, IBV_WR_RDMA_WRITE, 0), 0, UNTOUCHED);
	expect_number(ibv_query_qp_data_in_order(&qp, IBV_WR_SEND,
						 IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS),
		      0, UNTOUCHED);
	expect_object(ibv_alloc_dmah(context, &dmah_attr));
	expect_number(ibv_dealloc_dmah(&dmah), EOPNOTSUPP, UNTOUCHED);
	expect_number(ibv_dm_export_dmabuf_fd(&dm), -1, EOPNOTSUPP);
	expect_number(ibv_query_port_speed(context, 1, &value), EOPNOTSUPP, UNTOUCHED);

	memset(&caps, 0xff, sizeof(caps));
	expect_number(ibv_query_comp_cntr_caps(context, &caps), EOPNOTSUPP, UNTOUCHED);
	expect(!caps.max_value && !caps.max_counters && !caps.supported_qp_attach_ops,
	       "capabilities of a device that has none");
	expect_object(ibv_create_comp_cntr(context, &comp_cntr_attr));
	expect_number(ibv_destroy_comp_cntr(&comp_cntr), EOPNOTSUPP, UNTOUCHED);
	expect_number(ibv_set_comp_cntr(&comp_cntr, 1), EOPNOTSUPP, UNTOUCHED);
	expect_number(ibv_set_err_comp_cntr(&comp_cntr, 1), EOPNOTSUPP, UNTOUCHED);
	expect_number(ibv_inc_comp_cntr(&comp_cntr, 1), EOPNOTSUPP, UNTOUCHED);
	expect_number(ibv_inc_err_comp_cntr(&comp_cntr, 1), EOPNOTSUPP, UNTOUCHED);
	expect_number(ibv_read_comp_cntr(&comp_cntr, &value), EOPNOTSUPP, UNTOUCHED);
	expect_number(ibv_read_err_comp_cntr(&comp_cntr, &value), EOPNOTSUPP, UNTOUCHED);
	expect_number(ibv_qp_attach_comp_cntr(&qp, &comp_cntr, &attach_attr), EOPNOTSUPP,
		      UNTOUCHED);
	expect(value == UNTOUCHED, "a value was written");
}

/* The library's own, where it has one; the drop-in would be found first under the program's name.
 */
static int native_fork_status(void)
{
	void *library = dlopen("libibverbs-real.so.1", RTLD_NOW | RTLD_NOLOAD);
	enum ibv_fork_status (*status)(void);

	*(void **)&status = library ? dlvsym(library, "ibv_is_fork_initialized", "IBVERBS_1.13")
				    : NULL;
	return status ? (int)status() : -1;
}

/* RDMAV_FORK_SAFE is obeyed when the list of devices is first asked for. */
static void fork_status_is_true(int release, int by_variable)
{
	struct ibv_device **list;
	int is_native = release >= 35;
	int before = by_variable ? IBV_FORK_ENABLED : IBV_FORK_DISABLED;
	int error = 0;

	/* Asking does not stand in the way of switching it on; what was to come, it brings. */
	expect((int)ibv_is_fork_initialized() == (is_native ? native_fork_status() : before),
	       "before: %d", (int)ibv_is_fork_initialized());
	if (by_variable) {
		list = ibv_get_device_list(NULL);
		if (list)
			ibv_free_device_list(list);
	} else {
		error = ibv_fork_init();
	}
	expect(!error, "ibv_fork_init: %d", error);

	errno = UNTOUCHED;
	expect((int)ibv_is_fork_initialized() ==
		       (is_native ? native_fork_status() : IBV_FORK_ENABLED),
	       "after: %d", (int)ibv_is_fork_initialized());
	/* The library's own may leave something. */
	expect(is_native || errno == UNTOUCHED, "errno %d", errno);
}

static void every_call_is_bound(void)
{
#define NEWER(name, node, release, result, parameters, arguments, answer)                          \
	{                                                                                          \
		void *address = dlvsym(RTLD_DEFAULT, #name, node);                                 \
                                                                                                   \
		expect(address == (void *)name, "%s at %p, and at %p", #name, address,             \
		       (void *)name);                                                              \
	}
#define WATCHED(name, node, release)
#include "dropin/newer_calls.def"
#undef NEWER
#undef WATCHED
}

int main(int count, char **arguments)
{
	int release = count > 1 ? atoi(arguments[1]) : 0;
	struct ibv_context *context = device_context(RTLD_DEFAULT);

	expect(context, "no context");
	if (context)
		answers_as_for_a_provider_without_the_operation(context);
	fork_status_is_true(release, getenv("RDMAV_FORK_SAFE") != NULL);
	every_call_is_bound();
	return expectations();
}
