// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * While another thread opens a library, whose constructor may take as long as it likes, or wait for
 * this very thread: only a first verbs call waits for it.
 */
#define _GNU_SOURCE
#include "held_linker.h"
#include "registrations.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char bytes[64];

Test(any_linker, calls_after_the_first_do_not_wait_for_it, .timeout = 10)
{
	struct ibv_mr_init_attr attr = {
		.length = sizeof(bytes),
		.comp_mask = IBV_REG_MR_MASK_ADDR,
		.addr = bytes,
	};
	struct ibv_pd *pd = make_domain();
	struct memory memory;
	struct ibv_mr *mr;

	hold_linker();
	mr = ibv_reg_mr(pd, bytes, sizeof(bytes), 0);
	cr_assert_not_null(mr);
	cr_assert_eq(ibv_dereg_mr(mr), 0);
	mr = ibv_reg_mr_ex(pd, &attr);
	cr_assert_not_null(mr);
	cr_assert_eq(ibv_dereg_mr(mr), 0);
	memory = make_buffer_in(pd, KEPT_MOST + 1);
	cr_assert(is_registrable(&memory));
	cr_assert_eq(ibv_export_buf_dmabuf_fd(memory.buf), -1);
	ibv_free_buf(memory.buf);
	cr_assert_eq(ibv_dealloc_pd(pd), 0);
	release_linker();
}

/* A fork() would give the child a lock that nobody holds. */
Test(any_linker, a_child_of_a_raw_clone_does_not_wait_for_it, .timeout = 30)
{
	struct ibv_pd *pd = make_domain();
	int status;
	pid_t child;

	hold_linker();
	child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (!child) {
		alarm(20);
		_exit(ibv_reg_mr(pd, bytes, sizeof(bytes), 0) ? 0 : 1);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	/* First, since the end of a process takes that lock, too. */
	release_linker();
	cr_assert_eq(status, 0, "the child ended with status %#x", (unsigned int)status);
}

Test(supplied_linker, diagnostics_do_not_wait_for_it, .timeout = 10)
{
	capture_errors();
	make_domain();
	hold_linker();
	ibv_free_buf((struct ibv_buf *)(uintptr_t)0x1000);
	release_linker();
	cr_assert_eq(occurrences(captured_errors(), "(called from /"), 1);
}
