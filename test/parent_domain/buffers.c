// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The buffers of a parent domain that has opted in, on a device that needs bounce buffers. */
#define _GNU_SOURCE
#include "domains.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct provider_device device;

static struct ibv_pd *parent_in_guest(void)
{
	struct ibv_pd *parent = parent_with(&device, domain_in_guest(&device), ALLOW_UNPROTECTED);

	cr_assert_not_null(parent);
	return parent;
}

Test(buffers, they_come_from_the_heap)
{
	struct ibv_pd *parent = parent_in_guest();
	struct ibv_buf *buf;
	char *address, *mapped;
	int fd;

	cr_assert_eq(heap_openings(), 1);
	address = ibv_alloc_buf(parent, 5000, &buf);
	cr_assert_not_null(address);
	cr_assert_eq(heap_allocations(), 1);
	cr_assert_eq(heap_openings(), 1, "the heap is opened with the domain, not with the buffer");
	fd = ibv_export_buf_dmabuf_fd(buf);
	cr_assert_geq(fd, 3);
	mapped = mmap(NULL, 5000, PROT_READ, MAP_SHARED, fd, 0);
	cr_assert_neq(mapped, MAP_FAILED);
	memcpy(address + 4995, "same", 5);
	cr_assert_str_eq(mapped + 4995, "same");
	ibv_free_buf(buf);
}

Test(buffers, they_are_registered_through_their_descriptor)
{
	struct library_registration seen;
	struct ibv_pd *parent = parent_in_guest();
	struct stat registered, exported;
	struct ibv_buf *buf;
	char *address = ibv_alloc_buf(parent, 5000, &buf);
	int fd = ibv_export_buf_dmabuf_fd(buf);

	cr_assert_not_null(ibv_reg_buf_mr(parent, buf, address + 4096, 904, 0));
	cr_assert_eq(library_registrations(&seen), 1);
	cr_assert_geq(seen.fd, 0);
	cr_assert_eq(fstat(seen.fd, &registered), 0);
	cr_assert_eq(fstat(fd, &exported), 0);
	cr_assert_eq(registered.st_ino, exported.st_ino);
	cr_assert_eq(seen.pd, parent);
	cr_assert_eq(seen.offset, 4096);
	cr_assert_eq(seen.length, 904);
	cr_assert_eq(seen.iova, (uintptr_t)address + 4096);
	ibv_free_buf(buf);
}

Test(buffers, they_belong_to_the_parent_domain_alone)
{
	struct ibv_pd *pd = domain_in_guest(&device);
	struct ibv_pd *parent = parent_with(&device, pd, ALLOW_UNPROTECTED);
	struct ibv_buf *buf;
	void *address = ibv_alloc_buf(parent, 100, &buf);

	assert_fails_with(EINVAL, ibv_reg_buf_mr(pd, buf, address, 100, 0));
	cr_assert_eq(library_registrations(NULL), 0);
	ibv_free_buf(buf);
}

Test(buffers, the_configuration_names_another_heap)
{
	struct ibv_pd *pd, *parent;

	setenv("IBVBUF_CC_HEAP", "reserved", 1);
	pd = domain_in_guest(&device);
	assert_fails_with(ENOENT, parent_with(&device, pd, ALLOW_UNPROTECTED));
	heap_offer("reserved");
	parent = parent_with(&device, pd, ALLOW_UNPROTECTED);
	cr_assert_not_null(parent);
	cr_assert_eq(heap_openings(), 2);
}

Test(buffers, what_ordinary_domains_get_does_not_matter)
{
	struct ibv_buf *buf;

	setenv("IBVBUF_BACKING", "udmabuf", 1);
	cr_assert_not_null(ibv_alloc_buf(parent_in_guest(), 100, &buf));
	cr_assert_eq(heap_openings(), 1);
	cr_assert_eq(heap_allocations(), 1);
	ibv_free_buf(buf);
}

static void use_all(struct ibv_pd *pd)
{
	struct ibv_pd *parent = parent_with(&device, pd, ALLOW_UNPROTECTED);
	struct ibv_buf *buf;
	void *address = ibv_alloc_buf(parent, 70000, &buf);
	struct ibv_mr *mr = ibv_reg_buf_mr(parent, buf, address, 70000, 0);

	cr_assert_not_null(mr);
	cr_assert_eq(ibv_dereg_mr(mr), 0);
	ibv_free_buf(buf);
	cr_assert_eq(ibv_dealloc_pd(parent), 0);
}

Test(buffers, nothing_is_left_when_all_is_freed)
{
	static struct possessions before;
	struct ibv_pd *pd = domain_in_guest(&device);
	int i;

	use_all(pd);
	note_possessions(&before);
	for (i = 0; i < 50; i++)
		use_all(pd);
	assert_possessions(&before);
	cr_assert_eq(library_domains(), 1);
}

/* In the dynamic symbol table, for the test to find what was called from where. */
int deallocate_too_early(struct ibv_pd *pd);
__attribute__((noinline)) int deallocate_too_early(struct ibv_pd *pd)
{
	int result = ibv_dealloc_pd(pd);

	__asm__ volatile("" : : "r"(result));
	return result;
}

Test(buffers, a_domain_deallocated_before_them_is_reported_once)
{
	static struct possessions before;
	struct ibv_pd *pd = domain_in_guest(&device);
	struct ibv_buf *buf[3];
	char *address[3];
	int i;

	use_all(pd);
	capture_errors();
	note_possessions(&before);
	for (i = 0; i < 3; i++) {
		struct ibv_pd *parent = parent_with(&device, pd, ALLOW_UNPROTECTED);

		address[i] = ibv_alloc_buf(parent, 4096, &buf[i]);
		cr_assert_not_null(address[i]);
		cr_assert_eq(deallocate_too_early(parent), 0);
	}
	cr_assert_eq(occurrences(captured_errors(), "\n"), 1);
	cr_assert_eq(occurrences(captured_errors(), "deallocated while buffers of it live"), 1);
	assert_names_caller(captured_errors(), (const void *)deallocate_too_early);
	for (i = 0; i < 3; i++) {
		memset(address[i], i, 4096);
		ibv_free_buf(buf[i]);
	}
	assert_possessions(&before);
	cr_assert_eq(occurrences(captured_errors(), "\n"), 1);
}

Test(buffers, a_domain_deallocated_after_them_is_not_reported)
{
	struct ibv_pd *pd = domain_in_guest(&device);

	capture_errors();
	use_all(pd);
	cr_assert_str_eq(captured_errors(), "");
}

Test(buffers, an_ordinary_domain_deallocated_before_them_is_reported_too)
{
	struct ibv_pd *pd = domain_in_guest(&device);
	struct ibv_buf *buf;
	char *address;

	capture_errors();
	address = ibv_alloc_buf(pd, 100, &buf);
	cr_assert_eq(deallocate_too_early(pd), 0);
	cr_assert_eq(occurrences(captured_errors(), "deallocated while buffers of it live"), 1);
	memset(address, 1, 100);
	ibv_free_buf(buf);
}
