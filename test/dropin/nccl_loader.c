// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * nccl_loader [NAME...] - look libibverbs up as NCCL does
 *
 * The file that NCCL_IBVERBS_LIB names, else libibverbs.so, else libibverbs.so.1; then dlvsym() of
 * each call: at IBVERBS_1.1, or at the version of the release that brought it, and those may be
 * missing. Prints where each was found, and the same for each NAME, by its default version.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
	const char *name;
	const char *version;
} calls[] = {
	{"ibv_get_device_list", "IBVERBS_1.1"},
	{"ibv_free_device_list", "IBVERBS_1.1"},
	{"ibv_get_device_name", "IBVERBS_1.1"},
	{"ibv_open_device", "IBVERBS_1.1"},
	{"ibv_close_device", "IBVERBS_1.1"},
	{"ibv_get_async_event", "IBVERBS_1.1"},
	{"ibv_ack_async_event", "IBVERBS_1.1"},
	{"ibv_query_device", "IBVERBS_1.1"},
	{"ibv_query_port", "IBVERBS_1.1"},
	{"ibv_query_gid", "IBVERBS_1.1"},
	{"ibv_query_qp", "IBVERBS_1.1"},
	{"ibv_alloc_pd", "IBVERBS_1.1"},
	{"ibv_dealloc_pd", "IBVERBS_1.1"},
	{"ibv_reg_mr", "IBVERBS_1.1"},
	{"ibv_dereg_mr", "IBVERBS_1.1"},
	{"ibv_create_cq", "IBVERBS_1.1"},
	{"ibv_destroy_cq", "IBVERBS_1.1"},
	{"ibv_create_qp", "IBVERBS_1.1"},
	{"ibv_modify_qp", "IBVERBS_1.1"},
	{"ibv_destroy_qp", "IBVERBS_1.1"},
	{"ibv_create_srq", "IBVERBS_1.1"},
	{"ibv_destroy_srq", "IBVERBS_1.1"},
	{"ibv_create_ah", "IBVERBS_1.1"},
	{"ibv_destroy_ah", "IBVERBS_1.1"},
	{"ibv_fork_init", "IBVERBS_1.1"},
	{"ibv_event_type_str", "IBVERBS_1.1"},
	{"ibv_reg_mr_iova2", "IBVERBS_1.8"},
	{"ibv_query_ece", "IBVERBS_1.10"},
	{"ibv_set_ece", "IBVERBS_1.10"},
	{"ibv_reg_dmabuf_mr", "IBVERBS_1.12"},
	{"ibv_reg_mr_ex", "IBVERBS_1.15"},
	{"ibv_alloc_buf", "IBVERBS_1.17"},
	{"ibv_free_buf", "IBVERBS_1.17"},
	{"ibv_reg_buf_mr", "IBVERBS_1.17"},
	{"ibv_export_buf_dmabuf_fd", "IBVERBS_1.18"},
};

static int look_up(void *library, const char *name, const char *version)
{
	void *address = version ? dlvsym(library, name, version) : dlsym(library, name);
	Dl_info info;

	if (!address) {
		printf("%-28s %-13s not found: %s\n", name, version ? version : "default",
		       dlerror());
		return 1;
	}
	printf("%-28s %-13s %s\n", name, version ? version : "default",
	       dladdr(address, &info) ? info.dli_fname : "?");
	return 0;
}

int main(int count, char **arguments)
{
	const char *names[] = {getenv("NCCL_IBVERBS_LIB"), "libibverbs.so", "libibverbs.so.1"};
	void *library = NULL;
	int missing = 0;
	size_t i;
	int n;

	for (i = 0; i < sizeof(names) / sizeof(names[0]) && !library; i++) {
		if (names[i])
			library = dlopen(names[i], RTLD_NOW);
	}
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		missing += look_up(library, calls[i].name, calls[i].version);
	for (n = 1; n < count; n++)
		missing += look_up(library, arguments[n], NULL);
	dlclose(library);
	return missing != 0;
}
