// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* verbs.h makes a macro of it. */
#undef ibv_reg_mr

static struct library_registration latest_registration;
static unsigned int registrations;
static unsigned int domains;
static int refusal;

void library_refuse_dmabuf(int error)
{
	refusal = error;
}

unsigned int library_registrations(struct library_registration *latest)
{
	if (latest)
		*latest = latest_registration;
	return registrations;
}

unsigned int library_domains(void)
{
	return __atomic_load_n(&domains, __ATOMIC_RELAXED);
}

struct ibv_pd *library_new_domain(struct ibv_context *context)
{
	struct ibv_pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return NULL;
	pd->context = context;
	__atomic_add_fetch(&domains, 1, __ATOMIC_RELAXED);
	return pd;
}

struct ibv_device **ibv_get_device_list(int *num_devices)
{
	if (num_devices)
		*num_devices = 0;
	return calloc(1, sizeof(struct ibv_device *));
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	memset(attr, 0, sizeof(*attr));
	attr->vendor_id = LIBRARY_VENDOR;
	return 0;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	return ((struct library_device *)device)->context;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	return library_new_domain(context);
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	free(pd);
	__atomic_sub_fetch(&domains, 1, __ATOMIC_RELAXED);
	return 0;
}

struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t pd_handle)
{
	struct ibv_pd *pd = library_new_domain(context);

	if (pd)
		pd->handle = pd_handle;
	return pd;
}

void ibv_unimport_pd(struct ibv_pd *pd)
{
	ibv_dealloc_pd(pd);
}

static struct ibv_mr *register_memory(struct library_registration registration)
{
	struct ibv_mr *mr = calloc(1, sizeof(*mr));

	if (!mr)
		return NULL;
	registrations++;
	latest_registration = registration;
	mr->pd = registration.pd;
	mr->addr = registration.addr;
	mr->length = registration.length;
	return mr;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	(void)access;
	return register_memory((struct library_registration){
		.pd = pd, .addr = addr, .length = length, .iova = iova, .fd = -1});
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, (unsigned int)access);
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				 int fd, int access)
{
	(void)access;
	if (refusal) {
		errno = refusal;
		return NULL;
	}
	return register_memory((struct library_registration){
		.pd = pd, .offset = offset, .length = length, .iova = iova, .fd = fd});
}

int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		 int access)
{
	(void)pd;
	(void)access;
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		mr->addr = addr;
		mr->length = length;
	}
	return 0;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	free(mr);
	return 0;
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return IBV_FORK_DISABLED;
}
