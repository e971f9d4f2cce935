/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A stand-in for libibverbs, so that each of its generations, and each of its failures, can be had
 * on any machine, without a device. It has the symbols and version nodes of one generation, does
 * what is asked of it here, and keeps a log of its calls. It is no libibverbs: what depends on the
 * real one, and on the kernel, is tested with them in test/vm.
 *
 * Everything here may be called by any thread, except for standin_reset().
 */
#ifndef STANDIN_H
#define STANDIN_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

enum standin_function {
#define FUNCTION(identifier, symbol) STANDIN_##identifier,
#include "functions.def"
#undef FUNCTION
	STANDIN_FUNCTIONS
};

#define STANDIN_ARGUMENTS 6

/**
 * struct standin_call - one call that was made
 * @function: which
 * @arguments: all of them, in their order, as numbers
 * @attr: for ibv_reg_mr_ex(): what the struct held, as far as this generation's struct goes
 */
struct standin_call {
	enum standin_function function;
	uint64_t arguments[STANDIN_ARGUMENTS];
	struct ibv_mr_init_attr attr;
};

/**
 * enum standin_switch - what can be turned on; everything is off at first
 * @STANDIN_FORK_SUPPORT: as after ibv_fork_init(): ranges are really kept from children
 * @STANDIN_FORK_UNNEEDED: the kernel copies for children, and ibv_is_fork_initialized() says so
 * @STANDIN_PROVIDER_LACKS_REG_MR_EX: ibv_reg_mr_ex() of 59 answers EOPNOTSUPP
 * @STANDIN_GIVES_DOMAINS_FIRST: ibv_unimport_pd() enters its callback when the domain is gone
 * @STANDIN_BUFFERS_ARE_FILES: native buffers are mapped files, as those of a DMA-buf heap are
 * @STANDIN_CHANGES_ERRNO: also calls that succeed leave something in errno
 * @STANDIN_KEEPS_NO_LOG: calls are counted only
 */
enum standin_switch {
	STANDIN_FORK_SUPPORT,
	STANDIN_FORK_UNNEEDED,
	STANDIN_PROVIDER_LACKS_REG_MR_EX,
	STANDIN_GIVES_DOMAINS_FIRST,
	STANDIN_BUFFERS_ARE_FILES,
	STANDIN_CHANGES_ERRNO,
	STANDIN_KEEPS_NO_LOG,
	STANDIN_SWITCHES
};

/* The lkey of a registration of that range; its rkey is the complement, its handle one more. */
static inline uint32_t standin_key(uint64_t address, uint64_t length)
{
	return (uint32_t)(address >> 4) * 31 + (uint32_t)length;
}

/* The rdma-core release that this one stands for. */
int standin_generation(void);

void standin_turn(enum standin_switch which, bool on);

/* Let each call of a function fail with that errno; 0 ends it. */
void standin_fail(enum standin_function function, int error);

/* Have something done in the middle of each call of a function; NULL ends it. */
void standin_interrupt(enum standin_function function,
		       void (*callback)(const struct standin_call *));

/* Calls of one function, or of all: STANDIN_FUNCTIONS, since the start or the last reset. */
uint64_t standin_count(enum standin_function function);

/* The latest call of a function, or of any: STANDIN_FUNCTIONS; NULL if there was none. */
const struct standin_call *standin_last(enum standin_function function);

/* "name@node" */
const char *standin_symbol(enum standin_function function);

/* Forget all calls, failures and interruptions; turn everything off. */
void standin_reset(void);

#endif
