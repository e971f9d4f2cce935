/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the library was asked to register, whichever of its calls was taken; and which of them it
 * has to be, by generation.
 */
#ifndef CONTRACT_REGISTRATIONS_H
#define CONTRACT_REGISTRATIONS_H

#include "contract.h"

/**
 * struct registration - one call of the library that registers
 * @via: which
 * @by_fd: whether it is of a DMA-buf: then @fd and @offset hold, else @addr
 * @has_iova: whether the call takes an iova of its own
 */
struct registration {
	enum standin_function via;
	bool by_fd;
	bool has_iova;
	uint64_t pd, addr, length, iova, fd, offset, access;
};

/* Registrations of all kinds; where the library makes one call of another, they are one. */
uint64_t registrations(void);

/* The latest one; fails the test if it is none. */
struct registration last_registration(void);

/* Whether ibv_reg_mr() and ibv_reg_mr_iova() are made of ibv_reg_mr_iova2(). */
bool library_registers_by_iova2(void);

/* Whether this generation has the call. */
bool library_has(enum standin_function function);

#endif
