/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Memory of small buffers, which is kept when it is freed, for the next one of its size.
 *
 * A mapping of its own costs a small buffer more than all the rest: two system calls and a page
 * fault, where a heap has memory at hand. So there is one range of addresses for them, in blocks of
 * a page to SMALL_MEMORY_MOST bytes. No two buffers share a page, and each begins with zeroes.
 *
 * Memory that a device may still write to is not kept: registrations are counted, block by block. A
 * block that is freed while one of them lives loses its pages, as if it had been unmapped, and
 * becomes a free one, with new pages, when the last of them has ended. What is registered behind
 * the shim's back has to be deregistered before the buffer is freed, as with any memory.
 *
 * Any thread; nobody waits for another. A child of fork() has a range of its own, as pages may have
 * been kept from it; it frees what it inherited as memory that is from elsewhere.
 */
#ifndef IBVBUF_SMALL_MEMORY_H
#define IBVBUF_SMALL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct ibv_mr;

#define SMALL_MEMORY_MOST ((size_t)64 << 10)

/**
 * small_memory_take - zero-filled memory for a small buffer
 * @length: bytes, whole pages, not 0
 *
 * NULL if it has to come from elsewhere: it is too long, all blocks of its size are taken, there is
 * no room for the range, or the kernel has no memory that a fork empties (Linux 4.14). May change
 * errno.
 */
void *small_memory_take(size_t length);

/**
 * small_memory_give - take memory back
 * @address: what small_memory_take() answered, or any other
 *
 * False if it is not from here. May change errno.
 */
bool small_memory_give(void *address);

/* Whether any was taken yet, in this process. */
bool small_memory_exists(void);

/*
 * A memory region of a range of addresses, of any, holds what it has of small memory until it lets
 * go; but for one of everything (address NULL, SIZE_MAX bytes), which is for no buffer in
 * particular and may be a null region, that providers make by themselves. The region is named, not
 * looked at. Preserve errno.
 */
void small_memory_hold(const struct ibv_mr *mr, const void *addr, size_t length);
void small_memory_let_go(const struct ibv_mr *mr, const void *addr, size_t length);

#endif
