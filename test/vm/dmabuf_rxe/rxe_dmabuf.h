/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Registration of DMA-bufs by soft-RoCE: what ./module adds to Debian's rdma_rxe.
 */
#ifndef RXE_DMABUF_H
#define RXE_DMABUF_H

#include <linux/types.h>

struct ib_mr;
struct ib_pd;
struct rxe_mr;
struct uverbs_attr_bundle;

/* The device that DMA-bufs are attached to. Before the first registration, and after the last. */
int rxe_dmabuf_init(void);
void rxe_dmabuf_exit(void);

/* The device's operation of that name. */
struct ib_mr *rxe_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova, int fd,
				     int access, struct uverbs_attr_bundle *attrs);

/* rxe's own, in rxe_mr.c, where it is static. */
void rxe_mr_init(int access, struct rxe_mr *mr);

#endif
