/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Calls that go straight to the library, because the shim has nothing to do in them: nothing is
 * traced and nothing rehearsed, or another shim does the work. A call that goes straight costs a
 * load and a branch.
 *
 * Which ones do is decided at the first call of each, and holds: the configuration is read once.
 */
#ifndef IBVBUF_STRAIGHT_H
#define IBVBUF_STRAIGHT_H

#include "originals.h"
#include "trace/probe.h"

/* Behind STRAIGHT(); use that. */
extern void *straight_addresses[ORIGINAL_COUNT];
extern bool straight_kept[ORIGINAL_COUNT];
void *straight_decide(enum original_id id);

/* The original that a call goes straight to, or NULL. Any thread. Preserves errno. */
static inline void *straight_address(enum original_id id)
{
	/* acquire: pairs with the release in straight_decide() */
	void *address = __atomic_load_n(&straight_addresses[id], __ATOMIC_ACQUIRE);

	if (__builtin_expect(address != NULL, 1))
		return __builtin_expect(trace_probe_is_attached(), 0) ? NULL : address;
	return __atomic_load_n(&straight_kept[id], __ATOMIC_RELAXED) ? NULL : straight_decide(id);
}

/**
 * STRAIGHT() - return from an exported function what the original returns, if it goes straight
 *
 * As a tail call: where another shim does the work, this one is not the caller that it sees.
 */
#define STRAIGHT(name, ...)                                                                        \
	do {                                                                                       \
		original_##name##_function *straight = straight_address(ORIGINAL_##name);          \
                                                                                                   \
		if (__builtin_expect(straight != NULL, 1))                                         \
			return straight(__VA_ARGS__);                                              \
	} while (0)

#endif
