/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The library's own functions, each looked up at its version node: all of them when the first is
 * needed.
 *
 * A function that the loaded libibverbs lacks is absent: original() is then NULL, and that is a
 * state that callers ask for, not an error. Before any libibverbs is loaded everything is absent,
 * and asked for again at the next call.
 */
#ifndef IBVBUF_ORIGINALS_H
#define IBVBUF_ORIGINALS_H

#include "original_lookup.h"

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* verbs.h makes macros of these two; the functions behind them are meant here. */
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

enum original_id {
#define EXPORTED(name, node, release, result, parameters) ORIGINAL_##name,
#define CALLED(name, node, release, result, parameters)	  ORIGINAL_##name,
#include "verbs_calls.def"
#undef EXPORTED
#undef CALLED
	ORIGINAL_COUNT
};

#define EXPORTED(name, node, release, result, parameters)                                          \
	typedef result original_##name##_function parameters;
#define CALLED EXPORTED
#include "verbs_calls.def"
#undef EXPORTED
#undef CALLED

/**
 * original - the library's own function of that name, or NULL if it is absent
 *
 * Never the shim's own. Any thread; takes the dynamic linker's lock until a library was found, a
 * load afterwards. Preserves errno.
 */
#define original(name) ((original_##name##_function *)original_address(ORIGINAL_##name))

/**
 * original_library_path - the file of the libibverbs in use, or NULL if none is loaded
 *
 * Stays valid. Any thread, also in a child; takes the lock as original() does. Preserves errno.
 */
const char *original_library_path(void);

/* Behind original(); use that. */
extern void *original_addresses[ORIGINAL_COUNT];
void *original_resolve(enum original_id id);

static inline void *original_address(enum original_id id)
{
	/* acquire: pairs with the releases in originals.c */
	void *address = __atomic_load_n(&original_addresses[id], __ATOMIC_ACQUIRE);

	if (__builtin_expect(address == NULL, 0))
		address = original_resolve(id);
	return address == &original_absent ? NULL : address;
}

/* Behind original_is_other_shim(); use that. */
enum original_kind { ORIGINAL_IS_UNKNOWN, ORIGINAL_IS_LIBRARY, ORIGINAL_IS_OTHER_SHIM };
extern enum original_kind original_kind;
bool original_is_other_shim_resolve(void);

/**
 * original_is_other_shim - whether the originals are those of another shim, which does the work
 *
 * So it is in a process that has the plain preload and the drop-in: the buffer calls and the rest
 * of libibverbs come from two objects. Any thread; takes the lock as original() does. Preserves
 * errno.
 */
static inline bool original_is_other_shim(void)
{
	enum original_kind known = __atomic_load_n(&original_kind, __ATOMIC_RELAXED);

	if (__builtin_expect(known == ORIGINAL_IS_UNKNOWN, 0))
		return original_is_other_shim_resolve();
	return known == ORIGINAL_IS_OTHER_SHIM;
}

#endif
