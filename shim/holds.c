// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "holds.h"
#include "handle_table.h"
#include "small_memory.h"

#include <stdbool.h>
#include <stdint.h>

enum { ADDRESS, LENGTH, WORDS };

/* From the address of a region to what it holds. */
static struct handle_table holds = HANDLE_TABLE_INITIALIZER(WORDS);

static void remember(const struct ibv_mr *mr, struct hold hold)
{
	uint64_t record[WORDS] = {[ADDRESS] = (uintptr_t)hold.addr, [LENGTH] = hold.length};

	/* Without memory for it, what it holds is held for ever. */
	handle_table_insert(&holds, (uintptr_t)mr, record);
}

struct hold hold_take(const struct ibv_mr *mr)
{
	uint64_t record[WORDS];

	if (!handle_table_remove(&holds, (uintptr_t)mr, record))
		return (struct hold){NULL, 0};
	return (struct hold){(const void *)(uintptr_t)record[ADDRESS], record[LENGTH]};
}

void hold_begin(const struct ibv_mr *mr, const void *addr, size_t length)
{
	struct hold hold = {addr, length};
	uint64_t record[WORDS];

	if (!small_memory_has(addr, length))
		return;
	/* One call of the library registers by another, and both are seen. */
	if (handle_table_lookup(&holds, (uintptr_t)mr, record)) {
		if (record[ADDRESS] == (uintptr_t)addr && record[LENGTH] == length)
			return;
		/* Deregistered behind the shim's back, and made anew at the same address. */
		hold_end(hold_take(mr));
	}
	small_memory_hold(addr, length);
	remember(mr, hold);
}

void hold_end(struct hold hold)
{
	if (hold.length)
		small_memory_let_go(hold.addr, hold.length);
}

void hold_put_back(const struct ibv_mr *mr, struct hold hold)
{
	if (hold.length)
		remember(mr, hold);
}
