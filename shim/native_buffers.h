/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Buffers of a library that has them: 65 does all by itself, 64 all but the export.
 */
#ifndef IBVBUF_NATIVE_BUFFERS_H
#define IBVBUF_NATIVE_BUFFERS_H

#include "originals.h"

void *native_buffer_alloc(original_ibv_alloc_buf_function *native, struct ibv_pd *pd, size_t size,
			  struct ibv_buf **buf);
void native_buffer_free(original_ibv_free_buf_function *native, struct ibv_buf *buf);
int native_buffer_export_dmabuf_fd(struct ibv_buf *buf, const void *caller);

#endif
