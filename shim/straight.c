// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "straight.h"
#include "config.h"

void *straight_addresses[ORIGINAL_COUNT];

bool straight_observing;

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

/* Whether the shim has something to do in a call. */
static bool has_a_duty(enum original_id id)
{
	const struct config *config;

	/* That one reads the configuration, and says what is wrong with it. */
	if (original_is_other_shim())
		return false;
	config = config_get();
	return is_served[id] || *config->trace || config->cc_rehearsal;
}

void straight_begin_observing(void)
{
	unsigned int id;

	for (id = 0; id < ORIGINAL_COUNT; id++)
		if (!is_served[id])
			__atomic_store_n(&straight_addresses[id], STRAIGHT_KEPT, __ATOMIC_RELAXED);
	/* release: whoever comes after sees that no address is left */
	__atomic_store_n(&straight_observing, true, __ATOMIC_RELEASE);
}

void *straight_decide(enum original_id id)
{
	void *address = original_address(id);
	void *undecided = NULL;

	/* Without a library, or another shim, that is known: one may be loaded later. */
	if (!original_library_path())
		return NULL;
	if (!address || has_a_duty(id))
		address = STRAIGHT_KEPT;
	/*
	 * Not over what straight_begin_observing() said meanwhile. Release: pairs with the acquire
	 * in straight_address().
	 */
	if (!__atomic_compare_exchange_n(&straight_addresses[id], &undecided, address, false,
					 __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
		address = undecided;
	return address == STRAIGHT_KEPT || trace_probe_is_attached() ? NULL : address;
}
