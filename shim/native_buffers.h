/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Buffers of a library that has them: 65 does all by itself, 64 all but the export.
 */
#ifndef IBVBUF_NATIVE_BUFFERS_H
#define IBVBUF_NATIVE_BUFFERS_H

#include "originals.h"

#include <stdbool.h>

/**
 * native_buffers_are_used - whether buffers, and with them the domains, are left to the library
 *
 * Only to one that has buffers, and unless they have to be the shim's: in a rehearsal, and where
 * the configuration says what they are made of. Then no handle of the library's is about.
 */
bool native_buffers_are_used(void);

void *native_buffer_alloc(original_ibv_alloc_buf_function *native, struct ibv_pd *pd, size_t size,
			  struct ibv_buf **buf);
void native_buffer_free(original_ibv_free_buf_function *native, struct ibv_buf *buf);
int native_buffer_export_dmabuf_fd(struct ibv_buf *buf, const void *caller);

#endif
