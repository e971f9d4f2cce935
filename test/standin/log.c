// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The log and the script of the stand-in. The log is a ring: a test looks at the latest calls.
 */
#include "log.h"

#include <errno.h>
#include <string.h>

#define RING 1024

/* What calls that succeed leave in errno if that is asked for. */
#define LEFT_IN_ERRNO ENOTTY

static const char *const symbols[STANDIN_FUNCTIONS] = {
#define FUNCTION(identifier, symbol) [STANDIN_##identifier] = symbol,
#include "functions.def"
#undef FUNCTION
};

static struct {
	uint64_t count;
	int error;
	void (*callback)(const struct standin_call *call);
} functions[STANDIN_FUNCTIONS];

static bool switches[STANDIN_SWITCHES];
static struct standin_call ring[RING];
static uint64_t logged;

int standin_generation(void)
{
	return STANDIN_GENERATION;
}

const char *standin_symbol(enum standin_function function)
{
	return symbols[function];
}

void standin_turn(enum standin_switch which, bool on)
{
	__atomic_store_n(&switches[which], on, __ATOMIC_SEQ_CST);
}

bool standin_is_on(enum standin_switch which)
{
	return __atomic_load_n(&switches[which], __ATOMIC_SEQ_CST);
}

void standin_fail(enum standin_function function, int error)
{
	__atomic_store_n(&functions[function].error, error, __ATOMIC_SEQ_CST);
}

void standin_interrupt(enum standin_function function,
		       void (*callback)(const struct standin_call *))
{
	__atomic_store_n(&functions[function].callback, callback, __ATOMIC_SEQ_CST);
}

uint64_t standin_count(enum standin_function function)
{
	uint64_t sum = 0;
	size_t i;

	if (function < STANDIN_FUNCTIONS)
		return __atomic_load_n(&functions[function].count, __ATOMIC_SEQ_CST);
	for (i = 0; i < STANDIN_FUNCTIONS; i++)
		sum += __atomic_load_n(&functions[i].count, __ATOMIC_SEQ_CST);
	return sum;
}

const struct standin_call *standin_last(enum standin_function function)
{
	uint64_t end = __atomic_load_n(&logged, __ATOMIC_SEQ_CST);
	uint64_t i;

	for (i = end; i > 0 && end - i < RING; i--) {
		const struct standin_call *call = &ring[(i - 1) % RING];

		if (function == STANDIN_FUNCTIONS || call->function == function)
			return call;
	}
	return NULL;
}

void standin_reset(void)
{
	memset(functions, 0, sizeof(functions));
	memset(switches, 0, sizeof(switches));
	memset(ring, 0, sizeof(ring));
	logged = 0;
}

int standin_enter(const struct standin_call *call)
{
	void (*callback)(const struct standin_call *);

	__atomic_add_fetch(&functions[call->function].count, 1, __ATOMIC_SEQ_CST);
	if (!standin_is_on(STANDIN_KEEPS_NO_LOG))
		ring[__atomic_fetch_add(&logged, 1, __ATOMIC_SEQ_CST) % RING] = *call;

	callback = __atomic_load_n(&functions[call->function].callback, __ATOMIC_SEQ_CST);
	if (callback)
		callback(call);
	if (standin_is_on(STANDIN_CHANGES_ERRNO))
		errno = LEFT_IN_ERRNO;
	return __atomic_load_n(&functions[call->function].error, __ATOMIC_SEQ_CST);
}
