/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef RECORDER_MODULE_H
#define RECORDER_MODULE_H

#include <infiniband/verbs.h>
#include <stdint.h>

typedef struct ibv_mr *register_function(struct ibv_pd *pd, void *addr, size_t length, int access);
typedef struct ibv_mr *module_function(register_function *reg_mr, struct ibv_pd *pd,
				       uintptr_t address);

/* Registers a byte by that function. */
module_function module_register;

#endif
