// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which function a program gets, and which one the shim. */
#define _GNU_SOURCE
#include "registrations.h"

#include <dlfcn.h>
#include <string.h>

/* What a program of rdma-core's forerunner is bound to. */
void *alloc_pd_1_0(void *context);
int dealloc_pd_1_0(void *pd);
void *reg_mr_1_0(void *pd, void *addr, size_t length, int access);
int dereg_mr_1_0(void *mr);
__asm__(".symver alloc_pd_1_0, ibv_alloc_pd@IBVERBS_1.0");
__asm__(".symver dealloc_pd_1_0, ibv_dealloc_pd@IBVERBS_1.0");
__asm__(".symver reg_mr_1_0, ibv_reg_mr@IBVERBS_1.0");
__asm__(".symver dereg_mr_1_0, ibv_dereg_mr@IBVERBS_1.0");

static bool is_in(const void *function, const char *file)
{
	Dl_info info;

	cr_assert_neq(dladdr(function, &info), 0);
	return strstr(info.dli_fname, file);
}

Test(any_binding, the_programs_calls_reach_the_shim)
{
	cr_assert(is_in((void *)ibv_alloc_pd, "libibvbuf-preload.so"));
	cr_assert(is_in((void *)ibv_dealloc_pd, "libibvbuf-preload.so"));
	cr_assert(is_in((void *)ibv_alloc_buf, "libibvbuf-preload.so"));
	cr_assert(is_in((void *)ibv_free_buf, "libibvbuf-preload.so"));
	cr_assert(is_in((void *)ibv_reg_buf_mr, "libibvbuf-preload.so"));
	cr_assert(is_in((void *)ibv_reg_mr_ex, "libibvbuf-preload.so"));
	cr_assert(is_in((void *)ibv_export_buf_dmabuf_fd, "libibvbuf-preload.so"));
}

Test(any_binding, what_the_shim_has_no_use_for_is_the_librarys)
{
	cr_assert(is_in((void *)ibv_close_device, "libibverbs.so.1"));
	cr_assert(is_in((void *)ibv_get_device_list, "libibverbs.so.1"));
}

Test(any_binding, programs_of_1_0_reach_the_library)
{
	char object[16];

	cr_assert_not_null(alloc_pd_1_0(object));
	cr_assert_eq(CALLS(ibv_alloc_pd_1_0), 1);
	cr_assert_eq(ARGUMENT(ibv_alloc_pd_1_0, 0), WORD(object));
	cr_assert_not_null(reg_mr_1_0(object, object, sizeof(object), 3));
	cr_assert_eq(CALLS(ibv_reg_mr_1_0), 1);
	cr_assert_eq(dereg_mr_1_0(object), 0);
	cr_assert_eq(CALLS(ibv_dereg_mr_1_0), 1);
	cr_assert_eq(dealloc_pd_1_0(object), 0);
	cr_assert_eq(CALLS(ibv_dealloc_pd_1_0), 1);
	cr_assert_eq(standin_count(STANDIN_FUNCTIONS), 4);
}

Test(any_binding, the_shim_reaches_no_function_of_1_0)
{
	struct memory memory = make_buffer(100);

	cr_assert(is_registrable(&memory));
	ibv_free_buf(memory.buf);
	cr_assert_eq(ibv_dealloc_pd(memory.pd), 0);
	cr_assert_eq(CALLS(ibv_alloc_pd_1_0) + CALLS(ibv_dealloc_pd_1_0) + CALLS(ibv_reg_mr_1_0) +
			     CALLS(ibv_dereg_mr_1_0),
		     0);
}

Test(any_binding, by_dlsym_the_same_functions_are_found)
{
	cr_assert_eq(dlsym(RTLD_DEFAULT, "ibv_alloc_buf"), (void *)ibv_alloc_buf);
	cr_assert_eq(dlvsym(RTLD_DEFAULT, "ibv_alloc_buf", "IBVERBS_1.17"), (void *)ibv_alloc_buf);
	cr_assert_eq(dlvsym(RTLD_DEFAULT, "ibv_reg_mr_ex", "IBVERBS_1.15"), (void *)ibv_reg_mr_ex);
	cr_assert_eq(dlvsym(RTLD_DEFAULT, "ibv_export_buf_dmabuf_fd", "IBVERBS_1.18"),
		     (void *)ibv_export_buf_dmabuf_fd);
	cr_assert_eq(dlvsym(RTLD_DEFAULT, "ibv_alloc_pd", "IBVERBS_1.1"), (void *)ibv_alloc_pd);
	cr_assert_neq(dlvsym(RTLD_DEFAULT, "ibv_alloc_pd", "IBVERBS_1.0"), (void *)ibv_alloc_pd);
}

/* What failed to be found is the shim's own affair. */
Test(any_binding, no_message_of_dlerror_is_left)
{
	struct memory memory;

	dlerror();
	ibv_free_buf(NULL);
	cr_assert_null(dlerror());
	memory = make_buffer(1);
	cr_assert_null(dlerror());
	cr_assert(is_registrable(&memory));
	cr_assert_null(dlerror());
	cr_assert_eq(ibv_export_buf_dmabuf_fd(memory.buf), -1);
	cr_assert_null(dlerror());
	ibv_free_buf(memory.buf);
	cr_assert_null(dlerror());
}

Test(any_binding, reg_mr_of_the_program_is_counted_once)
{
	char memory[64];
	struct ibv_mr *mr = ibv_reg_mr(make_domain(), memory, sizeof(memory), 0);

	cr_assert_not_null(mr);
	cr_assert_eq(CALLS(ibv_reg_mr), 1);
	cr_assert_eq(CALLS(ibv_reg_mr_iova2), library_registers_by_iova2());
	ibv_dereg_mr(mr);
}
