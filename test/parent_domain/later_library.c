// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What makes the stand-in a library with buffers of its own. It allocates none. */
#include "library.h"

#include <errno.h>

void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **buf)
{
	(void)pd;
	(void)size;
	(void)buf;
	errno = EXDEV;
	return NULL;
}

void ibv_free_buf(struct ibv_buf *buf)
{
	(void)buf;
}
