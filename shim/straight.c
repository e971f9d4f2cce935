// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "straight.h"
#include "config.h"

void *straight_addresses[ORIGINAL_COUNT];
bool straight_kept[ORIGINAL_COUNT];

/* Calls that the shim serves, traced or not. */
static const bool is_served[ORIGINAL_COUNT] = {
#define EXPORTED(name, node, release, result, parameters) [ORIGINAL_##name] = true,
#define OBSERVED(name, node, release, result, parameters)
#define CALLED(name, node, release, result, parameters)
#include "verbs_calls.def"
#undef EXPORTED
#undef OBSERVED
#undef CALLED
};

enum straight_observing straight_observing;

/* Whether the shim has something to do in a call. */
static bool has_a_duty(enum original_id id)
{
	const struct config *config = config_get();

	if (original_is_other_shim())
		return false;
	/* seq_cst: see straight_begin_observing() */
	return is_served[id] || *config->trace || config->cc_rehearsal ||
	       __atomic_load_n(&straight_observing, __ATOMIC_SEQ_CST) != OBSERVING_NO;
}

static void *keep(enum original_id id)
{
	__atomic_store_n(&straight_kept[id], true, __ATOMIC_RELAXED);
	return NULL;
}

/*
 * Somebody may be deciding at the same time. He stores an address, and then looks whether calls are
 * observed; here it is said that they are, and then the address taken away. In the one order of all
 * that is sequentially consistent, one of both comes after the other.
 */
void straight_begin_observing(void)
{
	enum straight_observing observing = OBSERVING_NO;
	unsigned int id;

	__atomic_compare_exchange_n(&straight_observing, &observing, OBSERVING_BEGUN, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	for (id = 0; id < ORIGINAL_COUNT; id++)
		if (has_a_duty(id))
			__atomic_store_n(&straight_addresses[id], keep(id), __ATOMIC_SEQ_CST);
	/* release: whoever comes after sees that no address is left */
	__atomic_store_n(&straight_observing, OBSERVING, __ATOMIC_RELEASE);
}

void *straight_decide(enum original_id id)
{
	void *address = original_address(id);

	/* Without a library, or another shim, that is known: one may be loaded later. */
	if (!original_library_path())
		return NULL;
	if (!address || has_a_duty(id))
		return keep(id);
	/* As a release it pairs with the acquire in straight_address(). */
	__atomic_store_n(&straight_addresses[id], address, __ATOMIC_SEQ_CST);
	if (has_a_duty(id)) {
		__atomic_store_n(&straight_addresses[id], keep(id), __ATOMIC_RELAXED);
		return NULL;
	}
	return trace_probe_is_attached() ? NULL : address;
}
