// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tells whether the buffer calls are there for it. Built in many ways: REFERS names the calls
 * itself, OPENS opens libibverbs, and else it is linked with libibverbs and looks the calls up.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef REFERS
void *ibv_alloc_buf(void *pd, size_t size, void **buf);
#endif
#ifndef OPENS
void **ibv_get_device_list(int *count);
#endif

typedef void *(*alloc_buf_call)(void *pd, size_t size, void **buf);

static alloc_buf_call find_alloc_buf(void)
{
#if defined(REFERS)
	return ibv_alloc_buf;
#elif defined(OPENS)
	void *library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);

	return library ? (alloc_buf_call)dlsym(library, "ibv_alloc_buf") : NULL;
#else
	return (alloc_buf_call)dlsym(RTLD_DEFAULT, "ibv_alloc_buf");
#endif
}

int main(void)
{
	alloc_buf_call alloc_buf;

#ifndef OPENS
	free(ibv_get_device_list(NULL));
#endif
	alloc_buf = find_alloc_buf();
	errno = 0;
	if (alloc_buf && !alloc_buf(NULL, 1, NULL) && errno == EINVAL)
		puts("served");
	else
		puts("unserved");
	return 0;
}
