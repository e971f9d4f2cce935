/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Buffers and their handles.
 *
 * A handle is a serial number dressed as a pointer that no address can equal. It is found in a
 * table, never followed; so whatever value a program passes, the answer is known, and a handle that
 * was freed stays freed.
 */
#ifndef IBVBUF_BUFFERS_H
#define IBVBUF_BUFFERS_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct buffer - what is known of a live handle
 * @pd: the domain of the allocation
 * @domain: its serial: another domain may take the address of one that was deallocated
 * @address: the first byte
 * @size: bytes as requested
 * @length: bytes mapped
 * @process: the process that allocated it
 * @kind: of its backing, enum backing_kind
 * @is_protected: whether it was kept from the children of the process
 * @dmabuf_fd: the DMA-buf that holds it, or -1
 */
struct buffer {
	struct ibv_pd *pd;
	uint64_t domain;
	char *address;
	size_t size;
	size_t length;
	uint64_t process;
	uint16_t kind;
	bool is_protected;
	int32_t dmabuf_fd;
};

enum handle_state { HANDLE_LIVE, HANDLE_FREED, HANDLE_FOREIGN };

/**
 * buffer_find - what a handle stands for
 *
 * Fills in @buffer if it is live. A handle that the library itself gave out is foreign here.
 * Any thread.
 */
enum handle_state buffer_find(const struct ibv_buf *buf, struct buffer *buffer);

/**
 * buffer_is_shared_memory - whether a range lies in a live buffer of memory that is a DMA-buf
 *
 * Looks at every buffer. Any thread.
 */
bool buffer_is_shared_memory(const void *addr, size_t length);

/* The calls of the contract; @caller is the place in the program that called. */
void *buffer_alloc(struct ibv_pd *pd, size_t size, struct ibv_buf **buf);
void buffer_free(struct ibv_buf *buf, const void *caller);
int buffer_export_dmabuf_fd(struct ibv_buf *buf, const void *caller);

#endif
