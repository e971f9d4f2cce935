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

static bool has_a_duty(enum original_id id)
{
	const struct config *config = config_get();

	return is_served[id] || *config->trace || config->cc_rehearsal;
}

void *straight_decide(enum original_id id)
{
	void *address = original_address(id);

	/* Without a library, or another shim, that is known: one may be loaded later. */
	if (!original_library_path())
		return NULL;
	if (!address || (!original_is_other_shim() && has_a_duty(id))) {
		__atomic_store_n(&straight_kept[id], true, __ATOMIC_RELAXED);
		return NULL;
	}
	/* release: pairs with the acquire in straight_address() */
	__atomic_store_n(&straight_addresses[id], address, __ATOMIC_RELEASE);
	return trace_probe_is_attached() ? NULL : address;
}
