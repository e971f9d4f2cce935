/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the kernel of this machine offers: devices, memory that can be shared with them, limits. */
#ifndef IBVBUF_LAUNCHER_MACHINE_FACTS_H
#define IBVBUF_LAUNCHER_MACHINE_FACTS_H

#include "device_probe.h"
#include "findings.h"
#include "string_list.h"

/**
 * struct node_facts - a device file
 * @path: its path
 * @usable: this user may open it for reading and writing
 */
struct node_facts {
	char *path;
	bool usable;
};

struct node_list {
	struct node_facts *items;
	size_t count;
};

/**
 * struct machine_facts - the machine
 * @kernel_devices: the RDMA devices that the kernel has
 * @uverbs, @heaps, @udmabuf: /dev/infiniband/uverbs*, /dev/dma_heap/<name>, /dev/udmabuf
 * @udmabuf_limit_mb: the largest udmabuf in MiB, 0 if not known
 * @memlock_limited: registered memory is limited, to @memlock bytes
 * @huge_pages: the setting of transparent huge pages, NULL if the kernel has none
 * @reserved_huge_pages, @free_huge_pages: of hugetlbfs, of the default size
 * @max_map_count: mappings that a process may have, 0 if not known
 */
struct machine_facts {
	struct string_list kernel_devices;
	struct probe_result probe;
	struct node_list uverbs, heaps, udmabuf;
	uint64_t udmabuf_limit_mb;
	bool memlock_limited;
	uint64_t memlock;
	char *huge_pages;
	uint64_t reserved_huge_pages, free_huge_pages;
	uint64_t max_map_count;
};

/* `library` is the libibverbs to ask for devices, or NULL. */
void machine_facts_read(struct machine_facts *facts, const char *library,
			struct findings *findings);
void machine_facts_print(const struct machine_facts *facts);
void machine_facts_write(const struct machine_facts *facts, struct json *json);

#endif
