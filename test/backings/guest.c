// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Unprotected memory from a heap of the kernel. The provider is a stand-in; more of it is in
 * test/parent_domain, with a stand-in for the heap as well.
 */
#define _GNU_SOURCE
#include "backings.h"
#include "providers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct provider_device device;

static struct ibv_pd *opt_in(struct ibv_pd *pd)
{
	struct ibv_parent_domain_init_attr attr = {
		.pd = pd,
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC,
	};

	return ibv_alloc_parent_domain(context_of(&device), &attr);
}

static struct ibv_pd *domain_in_guest(void)
{
	struct ibv_pd *pd;

	place_device(&device, 0);
	device.capabilities = IBV_DEVICE_CC_DMA_BOUNCE;
	pd = ibv_alloc_pd(context_of(&device));
	cr_assert_not_null(pd);
	return pd;
}

static void use(struct ibv_pd *pd)
{
	struct ibv_pd *parent = opt_in(pd);
	struct ibv_buf *buf;
	const char *mapped;
	char *address;
	size_t size;
	int fd;

	cr_assert_not_null(parent, "errno %d", errno);
	address = ibv_alloc_buf(parent, 5000, &buf);
	cr_assert_not_null(address, "errno %d", errno);
	fd = ibv_export_buf_dmabuf_fd(buf);
	cr_assert_geq(fd, 3);
	strcpy(address + 4096, "shared");
	mapped = map_dmabuf(fd, &size);
	cr_assert_eq(size, 8192);
	cr_assert_str_eq(mapped + 4096, "shared");
	cr_assert_eq(munmap((void *)(uintptr_t)mapped, size), 0);
	cr_assert_eq(close(fd), 0);
	ibv_free_buf(buf);
	cr_assert_eq(ibv_dealloc_pd(parent), 0);
}

Test(machine_guest, buffers_come_from_the_heap_and_nothing_is_left)
{
	static struct possessions before;
	struct ibv_pd *pd;
	int i;

	setenv("IBVBUF_CC_HEAP", "system", 1);
	pd = domain_in_guest();
	use(pd);
	note_possessions(&before);
	use(pd);
	note_possessions(&before);
	for (i = 0; i < 10; i++)
		use(pd);
	assert_possessions(&before);
}

Test(machine_guest, a_missing_heap_is_enoent)
{
	static struct possessions before;
	struct ibv_pd *pd = domain_in_guest();

	assert_fails_with(ENOENT, opt_in(pd));
	note_possessions(&before);
	assert_fails_with(ENOENT, opt_in(pd));
	assert_possessions(&before);
	cr_assert_eq(device.parents_made, 0);
}

Test(machine_guest, a_heap_that_may_not_be_opened_is_eacces)
{
	static struct possessions before;
	struct ibv_pd *pd;

	setenv("IBVBUF_CC_HEAP", "system", 1);
	pd = domain_in_guest();
	cr_assert_eq(setresuid(65534, 65534, 65534), 0);
	assert_fails_with(EACCES, opt_in(pd));
	note_possessions(&before);
	assert_fails_with(EACCES, opt_in(pd));
	assert_possessions(&before);
	cr_assert_eq(device.parents_made, 0);
}
