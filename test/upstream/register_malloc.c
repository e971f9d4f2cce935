// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Registers memory of the heap, as a program does that was not written with confidential guests in
 * mind. Exits with the errno of the registration, or 0; 1 if it does not come so far.
 */
#include <infiniband/verbs.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define LENGTH 8192

/* The call that a diagnostic has to name. It is not the last thing done here. */
static __attribute__((noinline)) int register_heap_memory(struct ibv_pd *pd, void *memory)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, LENGTH, IBV_ACCESS_LOCAL_WRITE);

	if (!mr)
		return errno;
	return ibv_dereg_mr(mr);
}

int main(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = devices && *devices ? ibv_open_device(*devices) : NULL;
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	void *memory = malloc(LENGTH);
	int result;

	if (!pd || !memory) {
		fprintf(stderr, "no domain on the first device\n");
		return 1;
	}
	result = register_heap_memory(pd, memory);
	free(memory);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
	ibv_free_device_list(devices);
	return result;
}
