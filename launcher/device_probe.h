/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the devices can do. libibverbs and its providers are loaded for it, in a process of its own:
 * what goes wrong there, goes wrong there.
 */
#ifndef IBVBUF_LAUNCHER_DEVICE_PROBE_H
#define IBVBUF_LAUNCHER_DEVICE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dmabuf_answer { DMABUF_UNKNOWN, DMABUF_YES, DMABUF_NO, DMABUF_ABSENT, DMABUF_OTHER };

/**
 * struct device_facts - a device
 * @name: its name
 * @finished: the other members are known; if not, the probe ended or hung here
 * @open_error: 0, or why it cannot be opened
 * @domain_error: 0, or why it gives no protection domain
 * @dmabuf: whether it registers DMA-buf memory
 * @dmabuf_error: the errno behind DMABUF_OTHER
 * @capabilities_known: the device answered for
 * @bounces: that it reports IBV_DEVICE_CC_DMA_BOUNCE
 */
struct device_facts {
	char name[64];
	bool finished;
	int open_error;
	int domain_error;
	enum dmabuf_answer dmabuf;
	int dmabuf_error;
	bool capabilities_known;
	bool bounces;
};

/**
 * struct probe_result - all devices
 * @devices: those that libibverbs lists
 * @count: their number
 * @failure: why the list is short or missing, or NULL
 */
struct probe_result {
	struct device_facts *devices;
	size_t count;
	char *failure;
};

/* `library` is the path of a libibverbs. Takes at most ten seconds. */
void probe_devices(struct probe_result *result, const char *library);

#endif
