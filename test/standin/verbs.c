// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The verbs of the stand-in (see standin.h). All of them are compiled for every generation; its
 * version script shows those that it has.
 */
#define _GNU_SOURCE
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* verbs.h makes macros of these two. */
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define DOMAINS 64
#define PAGE	((uintptr_t)4096)

/* verbs.h does not declare them: they are libibverbs' own business with its providers. */
int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);

/* The names that exist twice. */
#define VERSION_1_0(name) __asm__(".symver " #name "_at_1_0, " #name "@IBVERBS_1.0")
#define VERSION_1_1(name) __asm__(".symver " #name "_at_1_1, " #name "@@IBVERBS_1.1")

#define WORD(argument) ((uint64_t)(uintptr_t)(argument))
#define ENTER(identifier, ...)                                                                     \
	standin_enter(&(struct standin_call){.function = STANDIN_##identifier,                     \
					     .arguments = {__VA_ARGS__}})

struct ibv_buf {
	void *address;
	size_t size;
	int fd;
};

static pthread_mutex_t domains_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ibv_pd domains[DOMAINS];
static struct ibv_pd *free_domains[DOMAINS];
static size_t free_count, used_count;

static void *fail(int error)
{
	errno = error;
	return NULL;
}

/* From the range, so that whoever sees both can tell whether they belong together. */
static void set_keys(struct ibv_mr *mr)
{
	mr->lkey = standin_key(WORD(mr->addr), mr->length);
	mr->rkey = ~mr->lkey;
	mr->handle = mr->lkey + 1;
}

static struct ibv_mr *make_mr(struct ibv_pd *pd, uint64_t addr, size_t length)
{
	struct ibv_mr *mr = calloc(1, sizeof(*mr));

	if (!mr)
		return NULL;
	mr->context = pd ? pd->context : NULL;
	mr->pd = pd;
	mr->addr = (void *)(uintptr_t)addr;
	mr->length = length;
	set_keys(mr);
	return mr;
}

struct ibv_device **ibv_get_device_list(int *num_devices)
{
	int error = ENTER(ibv_get_device_list, WORD(num_devices));

	if (error)
		return fail(error);
	if (num_devices)
		*num_devices = 0;
	return calloc(1, sizeof(struct ibv_device *));
}

void ibv_free_device_list(struct ibv_device **list)
{
	ENTER(ibv_free_device_list, WORD(list));
	free(list);
}

/* A context without operations, and so of the oldest kind. */
static struct ibv_context *make_context(void)
{
	return calloc(1, sizeof(struct ibv_context));
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	int error = ENTER(ibv_open_device, WORD(device));

	return error ? fail(error) : make_context();
}

struct ibv_context *ibv_import_device(int cmd_fd)
{
	int error = ENTER(ibv_import_device, WORD(cmd_fd));

	return error ? fail(error) : make_context();
}

int ibv_close_device(struct ibv_context *context)
{
	int error = ENTER(ibv_close_device, WORD(context));

	if (!error)
		free(context);
	return error;
}

/* The domain that was given back last is the first to be given out again. */
static struct ibv_pd *take_domain(struct ibv_context *context)
{
	struct ibv_pd *pd = NULL;

	pthread_mutex_lock(&domains_lock);
	if (free_count)
		pd = free_domains[--free_count];
	else if (used_count < DOMAINS)
		pd = &domains[used_count++];
	pthread_mutex_unlock(&domains_lock);
	if (!pd)
		return fail(ENOMEM);
	pd->context = context;
	return pd;
}

static void give_domain(struct ibv_pd *pd)
{
	pthread_mutex_lock(&domains_lock);
	free_domains[free_count++] = pd;
	pthread_mutex_unlock(&domains_lock);
}

struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t pd_handle)
{
	int error = ENTER(ibv_import_pd, WORD(context), pd_handle);

	return error ? fail(error) : take_domain(context);
}

void ibv_unimport_pd(struct ibv_pd *pd)
{
	bool is_given_first = standin_is_on(STANDIN_GIVES_DOMAINS_FIRST);

	if (is_given_first)
		give_domain(pd);
	ENTER(ibv_unimport_pd, WORD(pd));
	if (!is_given_first)
		give_domain(pd);
}

struct ibv_pd *ibv_alloc_pd_at_1_1(struct ibv_context *context);
struct ibv_pd *ibv_alloc_pd_at_1_1(struct ibv_context *context)
{
	int error = ENTER(ibv_alloc_pd, WORD(context));

	return error ? fail(error) : take_domain(context);
}
VERSION_1_1(ibv_alloc_pd);

int ibv_dealloc_pd_at_1_1(struct ibv_pd *pd);
int ibv_dealloc_pd_at_1_1(struct ibv_pd *pd)
{
	int error = ENTER(ibv_dealloc_pd, WORD(pd));

	if (!error)
		give_domain(pd);
	return error;
}
VERSION_1_1(ibv_dealloc_pd);

/*
 * From 28 to 32 ibv_reg_mr_iova2() is made of ibv_reg_mr_iova(), and from 33 on the others are made
 * of it. As in libibverbs, by the public name, so that what is preloaded may stand between.
 */
#define ALL_BY_IOVA2  (STANDIN_GENERATION >= 33)
#define IOVA2_BY_IOVA (STANDIN_GENERATION >= 28 && STANDIN_GENERATION < 33)

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
			       int access)
{
	int error = ENTER(ibv_reg_mr_iova, WORD(pd), WORD(addr), length, iova, WORD(access));

	if (error)
		return fail(error);
#if ALL_BY_IOVA2
	return ibv_reg_mr_iova2(pd, addr, length, iova, (unsigned int)access);
#else
	return make_mr(pd, WORD(addr), length);
#endif
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	int error = ENTER(ibv_reg_mr_iova2, WORD(pd), WORD(addr), length, iova, access);

	if (error)
		return fail(error);
#if IOVA2_BY_IOVA
	return ibv_reg_mr_iova(pd, addr, length, iova, (int)access);
#else
	return make_mr(pd, WORD(addr), length);
#endif
}

struct ibv_mr *ibv_reg_mr_at_1_1(struct ibv_pd *pd, void *addr, size_t length, int access);
struct ibv_mr *ibv_reg_mr_at_1_1(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	int error = ENTER(ibv_reg_mr, WORD(pd), WORD(addr), length, WORD(access));

	if (error)
		return fail(error);
#if ALL_BY_IOVA2
	return ibv_reg_mr_iova2(pd, addr, length, WORD(addr), (unsigned int)access);
#else
	return make_mr(pd, WORD(addr), length);
#endif
}
VERSION_1_1(ibv_reg_mr);

int ibv_dereg_mr_at_1_1(struct ibv_mr *mr);
int ibv_dereg_mr_at_1_1(struct ibv_mr *mr)
{
	int error = ENTER(ibv_dereg_mr, WORD(mr));

	if (!error)
		free(mr);
	return error;
}
VERSION_1_1(ibv_dereg_mr);

int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		 int access)
{
	int error = ENTER(ibv_rereg_mr, WORD(mr), WORD(flags), WORD(pd), WORD(addr), length,
			  WORD(access));

	if (error) {
		errno = error;
		return IBV_REREG_MR_ERR_CMD;
	}
	if (flags & IBV_REREG_MR_CHANGE_PD)
		mr->pd = pd;
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		mr->addr = addr;
		mr->length = length;
	}
	set_keys(mr);
	return 0;
}

/* Of memory that this process does not know. */
struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t mr_handle)
{
	int error = ENTER(ibv_import_mr, WORD(pd), mr_handle);
	struct ibv_mr *mr;

	if (error)
		return fail(error);
	mr = make_mr(pd, 0, 0);
	if (mr)
		mr->handle = mr_handle;
	return mr;
}

void ibv_unimport_mr(struct ibv_mr *mr)
{
	ENTER(ibv_unimport_mr, WORD(mr));
	free(mr);
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				 int fd, int access)
{
	int error =
		ENTER(ibv_reg_dmabuf_mr, WORD(pd), offset, length, iova, WORD(fd), WORD(access));

	if (error)
		return fail(error);
	if (fcntl(fd, F_GETFD) < 0)
		return NULL;
	return make_mr(pd, offset, length);
}

struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *attr)
{
	struct standin_call call = {.function = STANDIN_ibv_reg_mr_ex,
				    .arguments = {WORD(pd), WORD(attr)}};
	size_t size = offsetof(struct ibv_mr_init_attr, buf);
	struct ibv_mr *mr = NULL;
	int error;

	memcpy(&call.attr, attr, size);
	if (STANDIN_GENERATION >= 64 && (attr->comp_mask & IBV_REG_MR_MASK_BUF))
		call.attr.buf = attr->buf;
	error = standin_enter(&call);
	/* For a while, the struct of 59 to 63 is not what it was. */
	if (STANDIN_GENERATION < 64) {
		memset(attr, 0xa5, size);
		if (standin_is_on(STANDIN_PROVIDER_LACKS_REG_MR_EX))
			error = EOPNOTSUPP;
	}
	if (!error)
		mr = make_mr(pd, WORD(call.attr.addr), call.attr.length);
	if (STANDIN_GENERATION < 64)
		memcpy(attr, &call.attr, size);
	return error ? fail(error) : mr;
}

int ibv_dontfork_range(void *base, size_t size)
{
	uintptr_t start = (uintptr_t)base & ~(PAGE - 1);
	uintptr_t end = ((uintptr_t)base + size + PAGE - 1) & ~(PAGE - 1);
	int error = ENTER(ibv_dontfork_range, WORD(base), size);

	if (error) {
		errno = error;
		return -1;
	}
	if (!standin_is_on(STANDIN_FORK_SUPPORT))
		return 0;
	return madvise((void *)start, end - start, MADV_DONTFORK);
}

int ibv_dofork_range(void *base, size_t size)
{
	uintptr_t start = (uintptr_t)base & ~(PAGE - 1);
	uintptr_t end = ((uintptr_t)base + size + PAGE - 1) & ~(PAGE - 1);
	int error = ENTER(ibv_dofork_range, WORD(base), size);

	if (error) {
		errno = error;
		return -1;
	}
	if (!standin_is_on(STANDIN_FORK_SUPPORT))
		return 0;
	return madvise((void *)start, end - start, MADV_DOFORK);
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
	ENTER(ibv_is_fork_initialized, 0);
	if (standin_is_on(STANDIN_FORK_UNNEEDED))
		return IBV_FORK_UNNEEDED;
	return standin_is_on(STANDIN_FORK_SUPPORT) ? IBV_FORK_ENABLED : IBV_FORK_DISABLED;
}

static int fill_buffer(struct ibv_buf *buf, size_t size)
{
	int error;

	buf->size = size;
	buf->fd = -1;
	if (!standin_is_on(STANDIN_BUFFERS_ARE_FILES)) {
		error = posix_memalign(&buf->address, PAGE, size);
		return error;
	}
	buf->fd = memfd_create("standin buffer", MFD_CLOEXEC);
	if (buf->fd < 0)
		return errno;
	buf->address = MAP_FAILED;
	if (!ftruncate(buf->fd, (off_t)size))
		buf->address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, buf->fd, 0);
	if (buf->address != MAP_FAILED)
		return 0;
	error = errno;
	close(buf->fd);
	return error;
}

void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **buf)
{
	int error = ENTER(ibv_alloc_buf, WORD(pd), size, WORD(buf));
	struct ibv_buf *made;

	if (error)
		return fail(error);
	if (!pd || !size || !buf)
		return fail(EINVAL);
	made = calloc(1, sizeof(*made));
	error = made ? fill_buffer(made, size) : ENOMEM;
	if (error) {
		free(made);
		return fail(error);
	}
	*buf = made;
	return made->address;
}

void ibv_free_buf(struct ibv_buf *buf)
{
	ENTER(ibv_free_buf, WORD(buf));
	if (!buf)
		return;
	if (buf->fd >= 0) {
		munmap(buf->address, buf->size);
		close(buf->fd);
	} else {
		free(buf->address);
	}
	free(buf);
}

struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buf, void *addr, size_t length,
			      int access)
{
	struct ibv_mr_init_attr attr = {
		.length = length,
		.access = access,
		.comp_mask = IBV_REG_MR_MASK_BUF | IBV_REG_MR_MASK_ADDR,
		.addr = addr,
		.buf = buf,
	};
	int error = ENTER(ibv_reg_buf_mr, WORD(pd), WORD(buf), WORD(addr), length, WORD(access));

	return error ? fail(error) : ibv_reg_mr_ex(pd, &attr);
}

int ibv_export_buf_dmabuf_fd(struct ibv_buf *buf)
{
	int error = ENTER(ibv_export_buf_dmabuf_fd, WORD(buf));

	if (!error && buf->fd < 0)
		error = ENODATA;
	if (!error)
		return fcntl(buf->fd, F_DUPFD_CLOEXEC, 3);
	errno = error;
	return -1;
}

/*
 * What a program of rdma-core's forerunner is bound to; the structs there are others, which
 * nobody here looks into.
 */
static char object_1_0;

void *ibv_alloc_pd_at_1_0(void *context);
void *ibv_alloc_pd_at_1_0(void *context)
{
	ENTER(ibv_alloc_pd_1_0, WORD(context));
	return &object_1_0;
}
VERSION_1_0(ibv_alloc_pd);

int ibv_dealloc_pd_at_1_0(void *pd);
int ibv_dealloc_pd_at_1_0(void *pd)
{
	return ENTER(ibv_dealloc_pd_1_0, WORD(pd));
}
VERSION_1_0(ibv_dealloc_pd);

void *ibv_reg_mr_at_1_0(void *pd, void *addr, size_t length, int access);
void *ibv_reg_mr_at_1_0(void *pd, void *addr, size_t length, int access)
{
	ENTER(ibv_reg_mr_1_0, WORD(pd), WORD(addr), length, WORD(access));
	return &object_1_0;
}
VERSION_1_0(ibv_reg_mr);

int ibv_dereg_mr_at_1_0(void *mr);
int ibv_dereg_mr_at_1_0(void *mr)
{
	return ENTER(ibv_dereg_mr_1_0, WORD(mr));
}
VERSION_1_0(ibv_dereg_mr);
