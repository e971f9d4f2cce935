/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Calls that go straight to the library, because the shim has nothing to do in them: nothing is
 * traced, nothing rehearsed and no small buffer in use, or another shim does the work. A call that
 * goes straight costs a load and a branch.
 *
 * Which ones do is decided at the first call of each. The configuration is read once; but the first
 * small buffer puts an end to it.
 */
#ifndef IBVBUF_STRAIGHT_H
#define IBVBUF_STRAIGHT_H

#include "originals.h"
#include "trace/probe.h"

#include <stdbool.h>

/* The shim has something to do in this call. */
#define STRAIGHT_KEPT ((void *)1)

/* Behind STRAIGHT(); use that. An address, or NULL while it is undecided, or STRAIGHT_KEPT. */
extern void *straight_addresses[ORIGINAL_COUNT];
void *straight_decide(enum original_id id);

/* Behind straight_observe(); use that. */
extern bool straight_observing;
void straight_begin_observing(void);

/**
 * straight_observe - from now on, no registration and no deregistration goes straight
 *
 * Holds for each call that begins after this returns. Any thread.
 */
static inline void straight_observe(void)
{
	/* acquire: pairs with the release in straight_begin_observing() */
	if (__builtin_expect(!__atomic_load_n(&straight_observing, __ATOMIC_ACQUIRE), 0))
		straight_begin_observing();
}

/* The original that a call is known to go straight to; or NULL, or STRAIGHT_KEPT. */
static inline void *straight_address(enum original_id id)
{
	/* acquire: pairs with the release in straight_decide() */
	void *address = __atomic_load_n(&straight_addresses[id], __ATOMIC_ACQUIRE);

	return __builtin_expect(trace_probe_is_attached(), 0) ? STRAIGHT_KEPT : address;
}

/* Whether it is still to be decided. */
static inline bool straight_is_undecided(enum original_id id)
{
	return !__atomic_load_n(&straight_addresses[id], __ATOMIC_RELAXED);
}

#define STRAIGHT_BY(address, name, ...)                                                            \
	do {                                                                                       \
		void *straight = (address);                                                        \
                                                                                                   \
		if (__builtin_expect((uintptr_t)straight > (uintptr_t)STRAIGHT_KEPT, 1))           \
			return ((original_##name##_function *)straight)(__VA_ARGS__);              \
	} while (0)

/**
 * STRAIGHT() - return from an exported function what the original returns, if it goes straight
 *
 * As a tail call: where another shim does the work, this one is not the caller that it sees. Any
 * thread.
 */
#define STRAIGHT(name, ...) STRAIGHT_BY(straight_address(ORIGINAL_##name), name, __VA_ARGS__)

/**
 * DECIDE_STRAIGHT() - the same where it was not known, for the functions that exported ones call
 *
 * Apart from STRAIGHT(), which then has no register to save. Any thread. Preserves errno.
 */
#define DECIDE_STRAIGHT(name, ...)                                                                 \
	STRAIGHT_BY(straight_is_undecided(ORIGINAL_##name) ? straight_decide(ORIGINAL_##name)      \
							   : NULL,                                 \
		    name, __VA_ARGS__)

#endif
