/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBVBUF_DEVICES_H
#define IBVBUF_DEVICES_H

#include <infiniband/verbs.h>

/* The library's own calls; what they open has its operations exchanged where that is called for. */
struct ibv_context *device_open(struct ibv_device *device);
struct ibv_context *device_import(int cmd_fd);

#endif
