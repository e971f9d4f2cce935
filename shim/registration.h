/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBVBUF_REGISTRATION_H
#define IBVBUF_REGISTRATION_H

#include <infiniband/verbs.h>

/* The calls of the contract; @caller is the place in the program that called. */
struct ibv_mr *registration_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *attr,
				      const void *caller);
struct ibv_mr *registration_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buf, void *addr,
				       size_t length, int access, const void *caller);

/* Registrations by address: the library's own, but for what a rehearsal refuses. */
struct ibv_mr *registration_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access,
				   const void *caller);
struct ibv_mr *registration_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
					int access, const void *caller);
struct ibv_mr *registration_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
					 uint64_t iova, unsigned int access, const void *caller);

/* The library's own, or what it answers for a device that lacks the operation. */
struct ibv_mr *registration_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
					  uint64_t iova, int fd, int access);
int registration_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr,
			  size_t length, int access, const void *caller);
int registration_dereg_mr(struct ibv_mr *mr);
struct ibv_mr *registration_import_mr(struct ibv_pd *pd, uint32_t mr_handle);
void registration_unimport_mr(struct ibv_mr *mr);

#endif
