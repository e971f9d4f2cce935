// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "device.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ibv_device opened;
static struct verbs_context extended;
static int failure;

void device_fails(int error)
{
	failure = error;
}

static void *made(size_t size)
{
	if (failure) {
		errno = failure;
		return NULL;
	}
	return calloc(1, size);
}

static struct ibv_pd *alloc_parent_domain(struct ibv_context *context,
					  struct ibv_parent_domain_init_attr *attr)
{
	struct ibv_pd *pd = made(sizeof(*pd));

	(void)attr;
	if (pd) {
		pd->context = context;
		pd->handle = 31;
	}
	return pd;
}

static struct ibv_mr *new_mr(struct ibv_pd *pd)
{
	struct ibv_mr *mr = made(sizeof(*mr));

	if (mr) {
		mr->context = pd->context;
		mr->pd = pd;
		mr->lkey = 11;
		mr->rkey = 12;
		mr->handle = 13;
	}
	return mr;
}

static struct ibv_mr *reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t dm_offset,
				size_t length, unsigned int access)
{
	(void)dm;
	(void)dm_offset;
	(void)length;
	(void)access;
	return new_mr(pd);
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ibv_mw *mw = made(sizeof(*mw));

	if (mw) {
		mw->context = pd->context;
		mw->pd = pd;
		mw->rkey = 21;
		mw->type = type;
	}
	return mw;
}

static int dealloc_mw(struct ibv_mw *mw)
{
	if (!failure)
		free(mw);
	return failure;
}

struct ibv_context *fresh_device(void)
{
	memset(&extended, 0, sizeof(extended));
	strcpy(opened.name, DEVICE_NAME);
	extended.sz = sizeof(extended);
	extended.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	extended.context.device = &opened;
	extended.alloc_parent_domain = alloc_parent_domain;
	extended.reg_dm_mr = reg_dm_mr;
	extended.alloc_null_mr = new_mr;
	extended.context.ops.alloc_mw = alloc_mw;
	extended.context.ops.dealloc_mw = dealloc_mw;
	return &extended.context;
}

struct ibv_context *plain_device(const char *name)
{
	struct ibv_context *context = calloc(1, sizeof(*context));
	struct ibv_device *device = calloc(1, sizeof(*device));

	if (!context || !device)
		return NULL;
	snprintf(device->name, sizeof(device->name), "%s", name);
	context->device = device;
	return context;
}
