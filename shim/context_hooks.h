/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Operations that no symbol can intercept: inline functions of verbs.h call them in the struct
 * verbs_context of the open device. They are exchanged there.
 */
#ifndef IBVBUF_CONTEXT_HOOKS_H
#define IBVBUF_CONTEXT_HOOKS_H

#include <infiniband/verbs.h>

/**
 * context_hook - exchange the operations of a device, unless that was done before
 *
 * Whichever way the device was opened, each domain is made by a call that the shim sees, so it is
 * called there as well as when a device is opened. Any thread. Preserves errno.
 */
void context_hook(struct ibv_context *context);

/* device_cap_flags_ex of ibv_query_device_ex(); 0 for a device that cannot be asked. Any thread. */
uint64_t context_capabilities(struct ibv_context *context);

#endif
