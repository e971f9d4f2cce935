/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The calls with their records: what the shim does, and a trace of it. @caller is the place in the
 * program that called.
 */
#ifndef IBVBUF_TRACE_CALLS_H
#define IBVBUF_TRACE_CALLS_H

#include "domains.h"

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

struct ibv_mr *trace_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access,
			    const void *caller);
struct ibv_mr *trace_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				 int access, const void *caller);
struct ibv_mr *trace_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				  unsigned int access, const void *caller);
struct ibv_mr *trace_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				   int fd, int access, const void *caller);
struct ibv_mr *trace_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *attr,
			       const void *caller);
struct ibv_mr *trace_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buf, void *addr, size_t length,
				int access, const void *caller);
int trace_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		   int access, const void *caller);
int trace_dereg_mr(struct ibv_mr *mr, const void *caller);
struct ibv_mr *trace_import_mr(struct ibv_pd *pd, uint32_t mr_handle, const void *caller);
void trace_unimport_mr(struct ibv_mr *mr, const void *caller);

void *trace_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **buf, const void *caller);
void trace_free_buf(struct ibv_buf *buf, const void *caller);
int trace_export_buf_dmabuf_fd(struct ibv_buf *buf, const void *caller);

struct ibv_pd *trace_alloc_pd(struct ibv_context *context, const void *caller);
struct ibv_pd *trace_import_pd(struct ibv_context *context, uint32_t pd_handle, const void *caller);
int trace_dealloc_pd(struct ibv_pd *pd, const void *caller);
void trace_unimport_pd(struct ibv_pd *pd, const void *caller);

/* Operations of a device; @provider is its own. */
struct ibv_pd *trace_alloc_parent_domain(alloc_parent_domain_function *provider,
					 struct ibv_context *context,
					 struct ibv_parent_domain_init_attr *attr,
					 const void *caller);

typedef struct ibv_mr *reg_dm_mr_function(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t dm_offset,
					  size_t length, unsigned int access);
struct ibv_mr *trace_reg_dm_mr(reg_dm_mr_function *provider, struct ibv_pd *pd, struct ibv_dm *dm,
			       uint64_t dm_offset, size_t length, unsigned int access,
			       const void *caller);

typedef struct ibv_mr *alloc_null_mr_function(struct ibv_pd *pd);
struct ibv_mr *trace_alloc_null_mr(alloc_null_mr_function *provider, struct ibv_pd *pd,
				   const void *caller);

typedef struct ibv_mw *alloc_mw_function(struct ibv_pd *pd, enum ibv_mw_type type);
struct ibv_mw *trace_alloc_mw(alloc_mw_function *provider, struct ibv_pd *pd, enum ibv_mw_type type,
			      const void *caller);

typedef int dealloc_mw_function(struct ibv_mw *mw);
int trace_dealloc_mw(dealloc_mw_function *provider, struct ibv_mw *mw, const void *caller);

#endif
