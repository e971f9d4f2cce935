/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A device with the operations that no symbol of libibverbs leads to: device memory, null memory
 * regions, memory windows, parent domains. What they make depends on what they are given.
 */
#ifndef RECORDER_DEVICE_H
#define RECORDER_DEVICE_H

#include <infiniband/verbs.h>

#define DEVICE_NAME "standin0"

/* The device, as it was before any shim saw it. The same at each call. */
struct ibv_context *fresh_device(void);

/* A device of that name without any operation. */
struct ibv_context *plain_device(const char *name);

/* Let each of the operations fail with that errno; 0 ends it. */
void device_fails(int error);

#endif
