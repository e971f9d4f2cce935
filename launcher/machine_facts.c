// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "machine_facts.h"
#include "message.h"
#include "privilege.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define CAP_IPC_LOCK_NUMBER 14

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* The names in a folder in their order; none if it cannot be read. */
static struct string_list list_folder(const char *path)
{
	struct string_list names = {0};
	struct dirent **entries;
	int count = scandir(path, &entries, is_visible, alphasort);
	int i;

	for (i = 0; i < count; i++)
		string_list_add(&names, entries[i]->d_name);
	return names;
}

static void add_node(struct node_list *list, const char *path)
{
	list->items = grow(list->items, list->count + 1, sizeof(*list->items));
	list->items[list->count++] =
		(struct node_facts){print_string("%s", path), !access(path, R_OK | W_OK)};
}

static struct node_list list_nodes(const char *folder, const char *prefix)
{
	struct string_list names = list_folder(folder);
	struct node_list nodes = {0};
	size_t i;

	for (i = 0; i < names.count; i++) {
		if (!strncmp(names.items[i], prefix, strlen(prefix)))
			add_node(&nodes, print_string("%s/%s", folder, names.items[i]));
	}
	return nodes;
}

/* The first number behind `label` in a file of the kernel's; 0 if there is none. */
static uint64_t read_number(const char *path, const char *label)
{
	FILE *file = fopen(path, "re");
	uint64_t number = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, label, strlen(label))) {
			number = strtoull(line + strlen(label), NULL, 10);
			break;
		}
	}
	if (file)
		fclose(file);
	return number;
}

/* The kernel puts the setting in force in brackets. */
static char *read_bracketed(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[256], *setting = NULL, *start, *end;

	if (!file)
		return NULL;
	if (fgets(line, sizeof(line), file)) {
		start = strchr(line, '[');
		end = start ? strchr(start, ']') : NULL;
		if (end)
			setting = print_string("%.*s", (int)(end - start - 1), start + 1);
	}
	fclose(file);
	return setting;
}

static void read_limits(struct machine_facts *facts, struct findings *findings)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	    !has_capability(CAP_IPC_LOCK_NUMBER)) {
		facts->memlock_limited = true;
		facts->memlock = limit.rlim_cur;
		findings_add(findings, SEVERITY_LIMIT,
			     "ulimit -l unlimited, or '* - memlock unlimited' in "
			     "/etc/security/limits.conf, or LimitMEMLOCK=infinity in a unit.",
			     "No more than %" PRIu64 " KiB of memory can be registered",
			     facts->memlock >> 10);
	}
	facts->huge_pages = read_bracketed("/sys/kernel/mm/transparent_hugepage/enabled");
	if (facts->huge_pages && !strcmp(facts->huge_pages, "never"))
		findings_add(findings, SEVERITY_HINT,
			     "As root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
			     "Transparent huge pages are off: large buffers register more slowly");
	facts->reserved_huge_pages = read_number("/proc/meminfo", "HugePages_Total:");
	facts->free_huge_pages = read_number("/proc/meminfo", "HugePages_Free:");
	facts->max_map_count = read_number("/proc/sys/vm/max_map_count", "");
}

static void read_shared_memory(struct machine_facts *facts, struct findings *findings)
{
	size_t i;

	facts->heaps = list_nodes("/dev/dma_heap", "");
	for (i = 0; i < facts->heaps.count; i++) {
		if (!facts->heaps.items[i].usable)
			findings_add(findings, SEVERITY_HINT,
				     "As root: a udev rule such as SUBSYSTEM==\"dma_heap\", "
				     "GROUP=\"rdma\", MODE=\"0660\", and you in that group.",
				     "You may not open the DMA-buf heap %s",
				     facts->heaps.items[i].path);
	}
	if (!access("/dev/udmabuf", F_OK)) {
		add_node(&facts->udmabuf, "/dev/udmabuf");
		facts->udmabuf_limit_mb =
			read_number("/sys/module/udmabuf/parameters/size_limit_mb", "");
		if (!facts->udmabuf.items[0].usable)
			findings_add(findings, SEVERITY_HINT,
				     "As root: a udev rule such as KERNEL==\"udmabuf\", "
				     "GROUP=\"rdma\", MODE=\"0660\", and you in that group.",
				     "You may not open /dev/udmabuf");
	}
	if (!facts->heaps.count && !facts->udmabuf.count)
		findings_add(findings, SEVERITY_HINT,
			     "As root: modprobe udmabuf; Debian has it from 13 on, and in the "
			     "backports kernel of 12.",
			     "This kernel offers no DMA-buf memory, so no buffer can be exported");
}

static void judge_device(const struct device_facts *device, struct findings *findings)
{
	if (!device->finished)
		return;
	if (device->open_error)
		findings_add(findings, SEVERITY_LIMIT,
			     device->open_error == EACCES || device->open_error == EPERM
				     ? "Join the group of /dev/infiniband/uverbs*, or have them "
				       "made readable and writable for you."
				     : "See dmesg, and whether its driver is of this libibverbs.",
			     "The device %s cannot be opened: %s", device->name,
			     strerror(device->open_error));
	else if (device->domain_error)
		findings_add(findings, SEVERITY_LIMIT, "See dmesg, and ulimit -l.",
			     "The device %s gives no protection domain: %s", device->name,
			     strerror(device->domain_error));
}

static void read_devices(struct machine_facts *facts, const char *library,
			 struct findings *findings)
{
	size_t i;

	facts->kernel_devices = list_folder("/sys/class/infiniband");
	facts->uverbs = list_nodes("/dev/infiniband", "uverbs");
	for (i = 0; i < facts->uverbs.count; i++) {
		if (!facts->uverbs.items[i].usable)
			findings_add(findings, SEVERITY_LIMIT,
				     "Join its group, or have it made readable and writable for "
				     "you (the udev rules of rdma-core do).",
				     "You may not open %s", facts->uverbs.items[i].path);
	}
	if (!library)
		return;
	probe_devices(&facts->probe, library);
	if (facts->probe.failure)
		findings_add(findings, SEVERITY_LIMIT,
			     "Try ibv_devinfo; the driver or its provider library is at fault.",
			     "The devices could not all be asked: %s", facts->probe.failure);
	for (i = 0; i < facts->probe.count; i++)
		judge_device(&facts->probe.devices[i], findings);
	if (facts->probe.count || facts->probe.failure)
		return;
	if (facts->kernel_devices.count)
		findings_add(findings, SEVERITY_LIMIT,
			     "Install the providers that belong to this libibverbs (Debian: apt "
			     "install ibverbs-providers).",
			     "The kernel has the RDMA device %s, but libibverbs lists none",
			     facts->kernel_devices.items[0]);
	else
		findings_add(findings, SEVERITY_LIMIT,
			     "Load the driver of the network card; or, as root, make a soft-RoCE "
			     "device: rdma link add rxe0 type rxe netdev INTERFACE",
			     "There is no RDMA device");
}

void machine_facts_read(struct machine_facts *facts, const char *library, struct findings *findings)
{
	memset(facts, 0, sizeof(*facts));
	read_devices(facts, library, findings);
	read_shared_memory(facts, findings);
	read_limits(facts, findings);
}

static const char *describe_dmabuf(const struct device_facts *device)
{
	switch (device->dmabuf) {
	case DMABUF_YES:
		return "yes";
	case DMABUF_NO:
		return "no";
	case DMABUF_ABSENT:
		return "no (libibverbs has no such call)";
	case DMABUF_OTHER:
		return print_string("unclear (%s)", strerror(device->dmabuf_error));
	default:
		return "unknown";
	}
}

static const char *describe_bounce(const struct device_facts *device)
{
	if (!device->capabilities_known)
		return "unknown";
	return device->bounces ? "yes (CC_DMA_BOUNCE)" : "no";
}

static void print_device(const char *label, const struct device_facts *device)
{
	if (!device->finished)
		print_line(label, "%s: did not answer", device->name);
	else if (device->open_error)
		print_line(label, "%s: cannot be opened (%s)", device->name,
			   strerror(device->open_error));
	else
		print_line(label, "%s: registers DMA-buf memory: %s; needs bounce buffers: %s",
			   device->name, describe_dmabuf(device), describe_bounce(device));
}

static char *describe_nodes(const struct node_list *nodes)
{
	struct string_list words = {0};
	size_t i;

	for (i = 0; i < nodes->count; i++)
		string_list_add(&words,
				print_string("%s%s", nodes->items[i].path,
					     nodes->items[i].usable ? "" : " (not for you)"));
	return words.count ? string_list_join(&words, ", ") : print_string("none");
}

void machine_facts_print(const struct machine_facts *facts)
{
	char *udmabuf = describe_nodes(&facts->udmabuf);
	size_t i;

	for (i = 0; i < facts->probe.count; i++)
		print_device(i ? "" : "devices", &facts->probe.devices[i]);
	if (!facts->probe.count)
		print_line("devices", "none");
	if (facts->uverbs.count)
		print_line("", "%s", describe_nodes(&facts->uverbs));
	if (facts->udmabuf_limit_mb)
		udmabuf = print_string("%s, up to %" PRIu64 " MiB a buffer", udmabuf,
				       facts->udmabuf_limit_mb);
	print_line("DMA-buf", "heaps: %s; udmabuf: %s", describe_nodes(&facts->heaps), udmabuf);
	print_line("memory", "registered at most: %s; mappings: %" PRIu64,
		   facts->memlock_limited ? print_string("%" PRIu64 " KiB", facts->memlock >> 10)
					  : "unlimited",
		   facts->max_map_count);
	print_line("huge pages", "transparent: %s; reserved: %" PRIu64 ", %" PRIu64 " free",
		   facts->huge_pages ? facts->huge_pages : "none", facts->reserved_huge_pages,
		   facts->free_huge_pages);
}

static void write_nodes(const struct node_list *nodes, const char *key, struct json *json)
{
	size_t i;

	json_open(json, key, '[');
	for (i = 0; i < nodes->count; i++) {
		json_open(json, NULL, '{');
		json_string(json, "path", nodes->items[i].path);
		json_boolean(json, "usable", nodes->items[i].usable);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_device(const struct device_facts *device, struct json *json)
{
	static const char *const answers[] = {
		[DMABUF_UNKNOWN] = "unknown", [DMABUF_YES] = "yes",	[DMABUF_NO] = "no",
		[DMABUF_ABSENT] = "absent",   [DMABUF_OTHER] = "other",
	};

	json_open(json, NULL, '{');
	json_string(json, "name", device->name);
	json_boolean(json, "answered", device->finished);
	json_string(json, "open_error", device->open_error ? strerror(device->open_error) : NULL);
	json_string(json, "domain_error",
		    device->domain_error ? strerror(device->domain_error) : NULL);
	json_string(json, "dmabuf", answers[device->dmabuf]);
	json_string(json, "dmabuf_error",
		    device->dmabuf == DMABUF_OTHER ? strerror(device->dmabuf_error) : NULL);
	if (device->capabilities_known)
		json_boolean(json, "cc_dma_bounce", device->bounces);
	else
		json_null(json, "cc_dma_bounce");
	json_close(json, '}');
}

void machine_facts_write(const struct machine_facts *facts, struct json *json)
{
	size_t i;

	json_open(json, "devices", '[');
	for (i = 0; i < facts->probe.count; i++)
		write_device(&facts->probe.devices[i], json);
	json_close(json, ']');
	json_open(json, "kernel_devices", '[');
	for (i = 0; i < facts->kernel_devices.count; i++)
		json_string(json, NULL, facts->kernel_devices.items[i]);
	json_close(json, ']');
	write_nodes(&facts->uverbs, "uverbs", json);
	write_nodes(&facts->heaps, "dmabuf_heaps", json);
	write_nodes(&facts->udmabuf, "udmabuf", json);
	json_number(json, "udmabuf_limit_mb", facts->udmabuf_limit_mb);
	if (facts->memlock_limited)
		json_number(json, "memlock_limit", facts->memlock);
	else
		json_null(json, "memlock_limit");
	json_string(json, "transparent_huge_pages", facts->huge_pages);
	json_number(json, "reserved_huge_pages", facts->reserved_huge_pages);
	json_number(json, "free_huge_pages", facts->free_huge_pages);
	json_number(json, "max_map_count", facts->max_map_count);
}
