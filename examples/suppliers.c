// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suppliers.h"

static const char *const buffer_calls[] = {
	"ibv_alloc_buf", "ibv_reg_buf_mr", "ibv_reg_mr_ex", "ibv_export_buf_dmabuf_fd",
	"ibv_free_buf",
};

/*
 * By name and not by address: with that, the program starts, and can tell it, where a
 * call is missing.
 */
static bool find_object(const char *function, char path[PATH_MAX])
{
	void *address = dlsym(RTLD_DEFAULT, function);
	Dl_info info;

	if (!address || !dladdr(address, &info))
		return false;
	if (!realpath(info.dli_fname, path))
		snprintf(path, PATH_MAX, "%s", info.dli_fname);
	return true;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Whether libibverbs has buffers and this call itself: then others only pass the call on. */
static bool is_native(const char *library, const char *function)
{
	void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
	bool native = handle && dlsym(handle, "ibv_alloc_buf") && dlsym(handle, function);

	if (handle)
		dlclose(handle);
	return native;
}

bool suppliers_print(void)
{
	char library[PATH_MAX], supplier[PATH_MAX];
	unsigned int node, release, update;
	bool complete = true;
	size_t i;

	/* A call as old as libibverbs, which nobody has a reason to replace. */
	if (!find_object("ibv_wc_status_str", library)) {
		printf("libibverbs is not loaded\n");
		return false;
	}
	printf("libibverbs: %s", library);
	if (sscanf(file_name(library), "libibverbs.so.1.%u.%u.%u", &node, &release, &update) == 3)
		printf(" (rdma-core %u.%u)", release, update);
	printf("\n");

	for (i = 0; i < sizeof(buffer_calls) / sizeof(buffer_calls[0]); i++) {
		if (!find_object(buffer_calls[i], supplier)) {
			printf("  %-25s missing\n", buffer_calls[i]);
			complete = false;
		} else if (strcmp(supplier, library) != 0 && is_native(library, buffer_calls[i])) {
			printf("  %-25s from libibverbs, through %s\n", buffer_calls[i],
			       file_name(supplier));
		} else if (strcmp(supplier, library) != 0) {
			printf("  %-25s from %s\n", buffer_calls[i], file_name(supplier));
		} else {
			printf("  %-25s from libibverbs\n", buffer_calls[i]);
		}
	}
	return complete;
}
