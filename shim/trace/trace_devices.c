// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Devices have numbers in a process and, after a fork, the same in the child, whose file is
 * another.
 */
#include "trace_devices.h"
#include "handle_table.h"

#include <errno.h>
#include <string.h>

/* A name is stored whole before its length says that it is there. */
static struct {
	size_t length;
	char name[sizeof(((struct ibvbuf_trace_device *)NULL)->name)];
} devices[TRACE_DEVICES_KNOWN];

/* Devices that were given a number, perhaps before their names were stored. */
static uint32_t device_count;

/* From the address of a domain to the number of its device. */
static struct handle_table device_of_domain = HANDLE_TABLE_INITIALIZER(1);

/* Grows when a domain is made or goes; 0 is of a thread that has not asked. */
uint64_t trace_device_changes = 1;

__thread struct trace_device_answer trace_device_last __attribute__((tls_model("initial-exec")));

static void change(void)
{
	/* release: pairs with the acquires in trace_device_of() and trace_device_find() */
	__atomic_add_fetch(&trace_device_changes, 1, __ATOMIC_RELEASE);
}

static uint16_t number_of(const char *name)
{
	size_t length = strnlen(name, sizeof(devices[0].name) - 1);
	uint32_t count = __atomic_load_n(&device_count, __ATOMIC_RELAXED);
	uint32_t i;

	for (i = 0; i < count && i < TRACE_DEVICES_KNOWN; i++)
		/* acquire: pairs with the release below */
		if (__atomic_load_n(&devices[i].length, __ATOMIC_ACQUIRE) == length &&
		    !memcmp(devices[i].name, name, length))
			return (uint16_t)i;
	if (count >= TRACE_DEVICES_KNOWN)
		return IBVBUF_TRACE_NO_DEVICE;
	/* Of two threads that come here with the same name, each enters it; either number is right.
	 */
	i = __atomic_fetch_add(&device_count, 1, __ATOMIC_RELAXED);
	if (i >= TRACE_DEVICES_KNOWN)
		return IBVBUF_TRACE_NO_DEVICE;
	memcpy(devices[i].name, name, length);
	__atomic_store_n(&devices[i].length, length, __ATOMIC_RELEASE);
	return (uint16_t)i;
}

uint16_t trace_device_number(const struct ibv_context *context)
{
	if (!context || !context->device)
		return IBVBUF_TRACE_NO_DEVICE;
	return number_of(context->device->name);
}

void trace_domain_made(const struct ibv_pd *pd)
{
	uint64_t number = trace_device_number(pd->context);
	uint64_t old;

	/* One that the library deallocated behind our back is still there. */
	handle_table_remove(&device_of_domain, (uintptr_t)pd, &old);
	/* Without memory for it, its records name no device. */
	handle_table_insert(&device_of_domain, (uintptr_t)pd, &number);
	change();
}

void trace_domain_gone(const struct ibv_pd *pd)
{
	uint64_t number;

	handle_table_remove(&device_of_domain, (uintptr_t)pd, &number);
	change();
}

uint16_t trace_device_find(const struct ibv_pd *pd)
{
	/* acquire: pairs with the release in change(), so that the table is no older */
	uint64_t now = __atomic_load_n(&trace_device_changes, __ATOMIC_ACQUIRE);
	uint64_t number;

	if (!handle_table_lookup(&device_of_domain, (uintptr_t)pd, &number))
		number = IBVBUF_TRACE_NO_DEVICE;
	trace_device_last = (struct trace_device_answer){pd, now, (uint16_t)number};
	return (uint16_t)number;
}

void trace_device_store(struct trace_file *file, uint16_t number)
{
	struct ibvbuf_trace_device *entry = &file->devices[number];
	/* acquire: pairs with the release in number_of() */
	size_t length = __atomic_load_n(&devices[number].length, __ATOMIC_ACQUIRE);

	/* Who enters it at the same time stores the same bytes. */
	memcpy(entry->name, devices[number].name, length);
	/* release: pairs with the reader's acquire */
	__atomic_store_n(&entry->state, 1, __ATOMIC_RELEASE);
}

uint16_t trace_device_count_unlisted(struct trace_file *file, uint16_t number)
{
	uint64_t *word, bit;

	if (number == IBVBUF_TRACE_NO_DEVICE)
		return number;
	word = &file->unlisted[(number - TRACE_DEVICES) / 64];
	bit = UINT64_C(1) << number % 64;
	if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & bit) &&
	    !(__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit))
		__atomic_add_fetch(&file->header->unlisted, 1, __ATOMIC_RELAXED);
	return IBVBUF_TRACE_NO_DEVICE;
}
