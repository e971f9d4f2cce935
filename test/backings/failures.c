// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Memory that cannot be had: the reason, and that nothing is left behind. */
#define _GNU_SOURCE
#include "backings.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#define MEBIBYTE ((size_t)1 << 20)

EVERY_BACKING(too_few_descriptors_are_emfile)
{
	struct memory memory;
	unsigned int allowed;

	warm_up();
	for (allowed = 0; allowed < backing->descriptors; allowed++) {
		limit_descriptors(allowed);
		assert_no_buffer(EMFILE, 5000);
	}
	limit_descriptors(allowed);
	memory = new_buffer(5000);
	ibv_free_buf(memory.buf);
}

EVERY_BACKING(a_size_that_no_mapping_can_have_is_enomem)
{
	(void)backing;
	warm_up();
	assert_no_buffer(ENOMEM, SIZE_MAX);
	assert_no_buffer(ENOMEM, SIZE_MAX - 4096);
	assert_no_buffer(ENOMEM, (size_t)PTRDIFF_MAX);
	assert_no_buffer(ENOMEM, (size_t)PTRDIFF_MAX + 1);
}

EVERY_BACKING(a_full_address_space_is_enomem)
{
	struct memory memory;

	(void)backing;
	warm_up();
	limit_address_space(8 * MEBIBYTE);
	assert_no_buffer(ENOMEM, 32 * MEBIBYTE);
	memory = new_buffer(MEBIBYTE);
	ibv_free_buf(memory.buf);
}

EVERY_DMABUF(a_device_without_memory_is_enomem)
{
	(void)backing;
	warm_up();
	heap_fail(ENOMEM);
	assert_no_buffer(ENOMEM, 5000);
}

EVERY_DMABUF(another_refusal_of_the_device_stands)
{
	(void)backing;
	warm_up();
	heap_fail(EINVAL);
	assert_no_buffer(EINVAL, 5000);
	heap_fail(EINTR);
	assert_no_buffer(EINTR, 5000);
}

/* With devices of the kernel, as a user who may not open them. */
static void assert_eacces_for_nobody(void)
{
	warm_up();
	cr_assert_eq(setresuid(65534, 65534, 65534), 0);
	assert_no_buffer(EACCES, 5000);
}

Test(machine_dma_heap, one_that_may_not_be_opened_is_eacces)
{
	choose_backing(&machine_dma_heap);
	assert_eacces_for_nobody();
}

Test(machine_udmabuf, one_that_may_not_be_opened_is_eacces)
{
	choose_backing(&machine_udmabuf);
	assert_eacces_for_nobody();
}

Test(here_dma_heap, a_missing_one_is_enoent)
{
	choose_backing(&here_dma_heap);
	warm_up();
	heap_offer(NULL);
	if (access("/dev/dma_heap/system", F_OK) == 0)
		cr_skip_test("this machine has the heap");
	assert_no_buffer(ENOENT, 5000);
}

Test(here_udmabuf, a_missing_one_is_enoent)
{
	choose_backing(&here_udmabuf);
	warm_up();
	heap_offer(NULL);
	if (access("/dev/udmabuf", F_OK) == 0)
		cr_skip_test("this machine has the device");
	assert_no_buffer(ENOENT, 5000);
}

/* A /dev with nothing in it, for this process. */
static void hide_devices(void)
{
	cr_assert_eq(unshare(CLONE_NEWNS), 0);
	cr_assert_eq(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	cr_assert_eq(mount("none", "/dev", "tmpfs", 0, NULL), 0);
}

Test(machine_dma_heap, a_missing_one_is_enoent)
{
	choose_backing(&machine_dma_heap);
	warm_up();
	hide_devices();
	assert_no_buffer(ENOENT, 5000);
}

Test(machine_udmabuf, a_missing_one_is_enoent)
{
	choose_backing(&machine_udmabuf);
	warm_up();
	hide_devices();
	assert_no_buffer(ENOENT, 5000);
}

Test(machine_udmabuf, the_limit_of_the_kernel_is_the_largest)
{
	struct memory memory;

	choose_backing(&machine_udmabuf);
	memory = new_buffer(64 * MEBIBYTE);
	ibv_free_buf(memory.buf);
}

/* 64 by default up to Linux 6, and no limit in 7. */
static void limit_udmabuf(const char *mebibytes)
{
	int fd = open("/sys/module/udmabuf/parameters/size_limit_mb", O_WRONLY | O_CLOEXEC);

	cr_assert_eq(write(fd, mebibytes, strlen(mebibytes)), (ssize_t)strlen(mebibytes));
	close(fd);
}

Test(machine_udmabuf, over_the_limit_of_the_kernel_is_efbig_and_the_parameter_is_named)
{
	choose_backing(&machine_udmabuf);
	limit_udmabuf("64");
	warm_up();
	capture_errors();
	assert_no_buffer(EFBIG, 64 * MEBIBYTE + 1);
	assert_no_buffer(EFBIG, (size_t)1 << 40);
	cr_assert_eq(occurrences(captured_errors(), "\n"), 1);
	cr_assert_eq(occurrences(captured_errors(), "67112960 bytes"), 1);
	cr_assert_eq(occurrences(captured_errors(), "/sys/module/udmabuf/parameters/size_limit_mb"),
		     1);
}

Test(machine_udmabuf, a_raised_limit_is_obeyed)
{
	struct memory memory;

	choose_backing(&machine_udmabuf);
	limit_udmabuf("80");
	memory = new_buffer(70 * MEBIBYTE);
	ibv_free_buf(memory.buf);
	limit_udmabuf("64");
}

/* The memory of a udmabuf is a file, which the limit on the size of files is also for. */
static void assert_file_limit_is_efbig(void)
{
	struct rlimit limit = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
	struct memory memory;

	warm_up();
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	/* SIGXFSZ would end the process. */
	cr_assert_eq(signal(SIGXFSZ, SIG_DFL), SIG_DFL);
	assert_no_buffer(EFBIG, 5000);
	memory = new_buffer(4096);
	ibv_free_buf(memory.buf);
}

Test(here_udmabuf, over_the_limit_on_files_is_efbig_without_a_signal)
{
	choose_backing(&here_udmabuf);
	assert_file_limit_is_efbig();
}

Test(machine_udmabuf, over_the_limit_on_files_is_efbig_without_a_signal)
{
	choose_backing(&machine_udmabuf);
	assert_file_limit_is_efbig();
}

/* More than is set aside, and of a size of which nothing is. */
Test(machine_hugetlb, no_pages_is_enomem)
{
	choose_backing(&machine_hugetlb);
	warm_up();
	assert_no_buffer(ENOMEM, 1024 * MEBIBYTE);
}

Test(machine_hugetlb, no_pages_of_that_size_is_enomem)
{
	setenv("IBVBUF_BACKING", "hugetlb:1G", 1);
	cr_assert_null(ibv_alloc_buf(the_domain(), 1, &(struct ibv_buf *){NULL}));
	assert_no_buffer(ENOMEM, 1);
}

Test(machine_hugetlb, a_size_of_page_that_the_system_lacks_is_einval)
{
	setenv("IBVBUF_BACKING", "hugetlb:64K", 1);
	cr_assert_null(ibv_alloc_buf(the_domain(), 1, &(struct ibv_buf *){NULL}));
	assert_no_buffer(EINVAL, 1);
}
