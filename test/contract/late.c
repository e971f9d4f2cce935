// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A program that is not linked with libibverbs: it opens it later, for itself alone, and finds the
 * preload's calls by name.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <infiniband/verbs.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

static struct ibv_context context;
static char memory[64];
static void *library;

#define PRELOADED(name) ((__typeof__(name) *)preloaded(#name))
#define OPENED(name)	((__typeof__(name) *)opened(#name))
#define CALLS(name)	(OPENED(standin_count)(STANDIN_##name))

static void *preloaded(const char *name)
{
	void *address = dlsym(RTLD_DEFAULT, name);

	cr_assert_not_null(address, "%s is not preloaded", name);
	return address;
}

static void *opened(const char *name)
{
	void *address = dlsym(library, name);

	cr_assert_not_null(address, "%s is not in the library", name);
	return address;
}

static void open_library(const char *name)
{
	cr_assert_null(dlsym(RTLD_DEFAULT, "ibv_get_device_list"), "it is open from the start");
	dlerror();
	library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	cr_assert_not_null(library, "%s", dlerror());
	cr_assert_null(dlsym(RTLD_DEFAULT, "ibv_get_device_list"), "it is not open locally");
	dlerror();
}

static struct ibv_mr_init_attr attr_of_memory(void)
{
	return (struct ibv_mr_init_attr){
		.length = sizeof(memory),
		.comp_mask = IBV_REG_MR_MASK_ADDR,
		.addr = memory,
	};
}

/* All calls, on a library that was opened. */
static void assert_works(void)
{
	int generation = OPENED(standin_generation)();
	struct ibv_mr_init_attr attr = attr_of_memory();
	struct ibv_pd *pd = PRELOADED(ibv_alloc_pd)(&context);
	struct ibv_buf *buf;
	struct ibv_mr *mr;
	void *address;

	cr_assert_not_null(pd);
	cr_assert_eq(CALLS(ibv_alloc_pd), 1);

	mr = PRELOADED(ibv_reg_mr_ex)(pd, &attr);
	cr_assert_not_null(mr, "errno %d", errno);
	if (generation >= 59)
		cr_assert_eq(CALLS(ibv_reg_mr_ex), 1);
	else if (generation >= 28)
		cr_assert_eq(CALLS(ibv_reg_mr_iova2), 1);
	else
		cr_assert_eq(CALLS(ibv_reg_mr), 1);
	cr_assert_eq(OPENED(ibv_dereg_mr)(mr), 0);

	OPENED(standin_turn)(STANDIN_FORK_SUPPORT, true);
	address = PRELOADED(ibv_alloc_buf)(pd, 100, &buf);
	cr_assert_not_null(address);
	cr_assert_eq(CALLS(ibv_alloc_buf), generation >= 64);
	cr_assert_eq(CALLS(ibv_dontfork_range), generation < 64);
	mr = PRELOADED(ibv_reg_buf_mr)(pd, buf, address, 100, 0);
	cr_assert_not_null(mr, "errno %d", errno);
	cr_assert_eq(OPENED(ibv_dereg_mr)(mr), 0);
	errno = 0;
	cr_assert_eq(PRELOADED(ibv_export_buf_dmabuf_fd)(buf), -1);
	cr_assert_eq(errno, ENODATA);
	PRELOADED(ibv_free_buf)(buf);
	cr_assert_eq(CALLS(ibv_free_buf), generation >= 64);

	cr_assert_eq(PRELOADED(ibv_dealloc_pd)(pd), 0);
	cr_assert_eq(CALLS(ibv_dealloc_pd), 1);
}

static void assert_unsupported(void)
{
	struct ibv_mr_init_attr attr = attr_of_memory();
	struct ibv_pd *nobodys = (struct ibv_pd *)memory;

	errno = 0;
	cr_assert_null(PRELOADED(ibv_alloc_pd)(&context));
	cr_assert_eq(errno, EOPNOTSUPP);
	cr_assert_eq(PRELOADED(ibv_dealloc_pd)(nobodys), EOPNOTSUPP);
	errno = 0;
	cr_assert_null(PRELOADED(ibv_reg_mr_ex)(nobodys, &attr));
	cr_assert_eq(errno, EOPNOTSUPP);
	PRELOADED(ibv_free_buf)(NULL);
}

Test(any_late, a_library_that_was_opened_locally_is_found)
{
	open_library("libibverbs.so.1");
	assert_works();
}

Test(any_late, a_library_that_was_opened_by_its_path_is_found)
{
	char path[4096];

	/* The first directory there: tools may have added theirs. */
	snprintf(path, sizeof(path), "%.*s/libibverbs.so",
		 (int)strcspn(getenv("LD_LIBRARY_PATH"), ":"), getenv("LD_LIBRARY_PATH"));
	open_library(path);
	assert_works();
}

Test(any_late, before_there_is_a_library_nothing_is_supported)
{
	assert_unsupported();
	assert_unsupported();
}

Test(any_late, what_was_absent_is_found_once_there_is_a_library)
{
	assert_unsupported();
	open_library("libibverbs.so.1");
	assert_works();
}

Test(any_late, the_library_stays_although_the_program_closes_it)
{
	struct ibv_pd *pd;

	open_library("libibverbs.so.1");
	pd = PRELOADED(ibv_alloc_pd)(&context);
	dlclose(library);
	cr_assert_eq(PRELOADED(ibv_dealloc_pd)(pd), 0);
	library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
	cr_assert_eq(CALLS(ibv_dealloc_pd), 1, "it was unloaded in between");
}

Test(any_late, the_library_may_be_opened_globally_later)
{
	open_library("libibverbs.so.1");
	cr_assert_not_null(dlopen("libibverbs.so.1", RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD));
	assert_works();
}
