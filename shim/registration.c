// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Memory registration by attributes.
 *
 * A registration of a buffer is checked and becomes one of plain memory, by address or by
 * DMA-buf; and that one goes to the best call that the library has. The program's own struct is
 * read and handed on to nobody who would write to it.
 */
#include "registration.h"
#include "buffers.h"
#include "config.h"
#include "domains.h"
#include "fork_protection.h"
#include "native_buffers.h"
#include "originals.h"
#include "rehearsal.h"
#include "report.h"
#include "small_memory.h"
#include "unsupported.h"

#include <errno.h>
#include <stddef.h>

#define MASK_BY_ADDRESS (IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_IOVA)
#define MASK_BY_DMABUF	(IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_IOVA)
#define MASK_SOURCE	(MASK_BY_ADDRESS | MASK_BY_DMABUF)

/* Access bits that a library is free to ignore; verbs.h has them since 28. */
#define ACCESS_OPTIONAL_RANGE 0x3ff00000

/*
 * The region that this thread counted last, if it did in a call that is under way. The library
 * makes some of its calls of others, by their public names: from 28 to 32 ibv_reg_mr_iova2() of
 * ibv_reg_mr_iova(), later ibv_reg_mr() and ibv_reg_mr_iova() of ibv_reg_mr_iova2(). Whether those
 * come through here depends on how it was linked. What comes between, in a signal handler, may have
 * a region counted twice: its memory is held for ever then, and used by nobody.
 */
static __thread const struct ibv_mr *counted __attribute__((tls_model("initial-exec")));

static struct ibv_mr *fail(int error)
{
	errno = error;
	return NULL;
}

/* Before each call that registers, and where an address may be another region's next. */
static void begin(void)
{
	counted = NULL;
}

/* A registration by address, done or failed. */
static struct ibv_mr *note(struct ibv_mr *mr, const void *addr, size_t length, int access)
{
	if (!mr || mr == counted)
		return mr;
	counted = mr;
	/* Memory that is paged on demand is not protected from forks, from 32 on. */
	if (!(access & IBV_ACCESS_ON_DEMAND))
		fork_status_settled();
	small_memory_hold(mr, addr, length);
	return mr;
}

/*
 * Only what the mask names is read: a program that was built with 59 to 63 passes a struct that
 * ends before buf.
 */
static struct ibv_mr_init_attr copy_of(const struct ibv_mr_init_attr *attr)
{
	struct ibv_mr_init_attr copy = {
		.length = attr->length,
		.access = attr->access,
		.comp_mask = attr->comp_mask,
	};

	if (attr->comp_mask & IBV_REG_MR_MASK_IOVA)
		copy.iova = attr->iova;
	if (attr->comp_mask & IBV_REG_MR_MASK_ADDR)
		copy.addr = attr->addr;
	if (attr->comp_mask & IBV_REG_MR_MASK_FD)
		copy.fd = attr->fd;
	if (attr->comp_mask & IBV_REG_MR_MASK_FD_OFFSET)
		copy.fd_offset = attr->fd_offset;
	if (attr->comp_mask & IBV_REG_MR_MASK_DMAH)
		copy.dmah = attr->dmah;
	if (attr->comp_mask & IBV_REG_MR_MASK_BUF)
		copy.buf = attr->buf;
	return copy;
}

/* By a library before 28, which knows no optional access. */
static struct ibv_mr *reg_by_address_without_iova2(struct ibv_pd *pd, void *addr, size_t length,
						   uint64_t iova, int access)
{
	original_ibv_reg_mr_iova_function *reg_mr_iova = original(ibv_reg_mr_iova);
	original_ibv_reg_mr_function *reg_mr = original(ibv_reg_mr);

	access &= ~ACCESS_OPTIONAL_RANGE;
	if (iova == (uintptr_t)addr && reg_mr)
		return reg_mr(pd, addr, length, access);
	if (reg_mr_iova)
		return reg_mr_iova(pd, addr, length, iova, access);
	return fail(EOPNOTSUPP);
}

static struct ibv_mr *reg_by_address(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				     int access)
{
	original_ibv_reg_mr_iova2_function *reg_mr_iova2 = original(ibv_reg_mr_iova2);

	if (!reg_mr_iova2)
		return reg_by_address_without_iova2(pd, addr, length, iova, access);
	return reg_mr_iova2(pd, addr, length, iova, (unsigned int)access);
}

struct ibv_mr *registration_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
					  uint64_t iova, int fd, int access)
{
	original_ibv_reg_dmabuf_mr_function *reg_dmabuf_mr = original(ibv_reg_dmabuf_mr);

	if (!reg_dmabuf_mr)
		return fail(EOPNOTSUPP);
	return reg_dmabuf_mr(pd, offset, length, iova, fd, access);
}

/* Plain memory through the calls that every library has. */
static struct ibv_mr *reg_by_older_calls(struct ibv_pd *pd, const struct ibv_mr_init_attr *attr)
{
	uint64_t mask = attr->comp_mask;

	if (mask & ~(uint64_t)MASK_SOURCE)
		return fail(EOPNOTSUPP);
	if (mask == MASK_BY_DMABUF)
		return registration_reg_dmabuf_mr(pd, attr->fd_offset, attr->length, attr->iova,
						  attr->fd, attr->access);
	if ((mask & IBV_REG_MR_MASK_ADDR) && !(mask & ~(uint64_t)MASK_BY_ADDRESS))
		return reg_by_address(pd, attr->addr, attr->length,
				      mask & IBV_REG_MR_MASK_IOVA ? attr->iova
								  : (uintptr_t)attr->addr,
				      attr->access);
	return fail(EINVAL);
}

/* 59 to 63 write to the struct that they are given. */
static struct ibv_mr *reg_by_native(original_ibv_reg_mr_ex_function *native, struct ibv_pd *pd,
				    const struct ibv_mr_init_attr *attr)
{
	struct ibv_mr_init_attr scratch = *attr;

	/* cppcheck-suppress returnDanglingLifetime ; an MR does not point to it */
	return native(pd, &scratch);
}

static struct ibv_mr *reg_plain(struct ibv_pd *pd, const struct ibv_mr_init_attr *attr)
{
	original_ibv_reg_mr_ex_function *native = original(ibv_reg_mr_ex);
	int saved_errno = errno;
	struct ibv_mr *mr = NULL;

	if (native)
		mr = reg_by_native(native, pd, attr);
	/* Also where the provider or the kernel lacks the operation. */
	if (!native || (!mr && is_unsupported(errno)))
		mr = reg_by_older_calls(pd, attr);
	if (mr)
		errno = saved_errno;
	return mr;
}

/* The checks of the contract, in its order; 0 or the errno of the first that fails. */
static int check_buffer(const struct buffer *buffer, const struct ibv_pd *pd,
			const struct ibv_mr_init_attr *attr)
{
	uint64_t mask = attr->comp_mask;
	size_t offset;

	if (!pd || pd != buffer->pd || !domain_is(pd, buffer->domain))
		return EINVAL;
	if (!(mask & IBV_REG_MR_MASK_ADDR))
		return EINVAL;
	/* By subtraction, so that no sum can wrap. */
	offset = (uintptr_t)attr->addr - (uintptr_t)buffer->address;
	if ((uintptr_t)attr->addr < (uintptr_t)buffer->address || offset > buffer->size ||
	    attr->length > buffer->size - offset)
		return EINVAL;
	if (mask & (IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET))
		return EINVAL;
	if ((mask & IBV_REG_MR_MASK_IOVA) && buffer->dmabuf_fd >= 0)
		return EINVAL;
	return 0;
}

/* A buffer in a DMA-buf, through its descriptor. */
static struct ibv_mr *reg_dmabuf_buffer(struct ibv_pd *pd, const struct buffer *buffer,
					const struct ibv_mr_init_attr *attr)
{
	struct ibv_mr_init_attr plain = *attr;

	plain.comp_mask &= ~(uint64_t)IBV_REG_MR_MASK_ADDR;
	plain.comp_mask |= MASK_BY_DMABUF;
	plain.addr = NULL;
	plain.fd = buffer->dmabuf_fd;
	plain.fd_offset = (uint64_t)((char *)attr->addr - buffer->address);
	plain.iova = (uintptr_t)attr->addr;
	return reg_plain(pd, &plain);
}

/**
 * reg_buffer - a registration of what the handle in @attr stands for
 * @state: what that is
 * @buffer: if it is a live buffer
 * @attr: ours to write to
 */
static struct ibv_mr *reg_buffer(struct ibv_pd *pd, enum handle_state state,
				 const struct buffer *buffer, struct ibv_mr_init_attr *attr,
				 const void *caller)
{
	int saved_errno, error;
	struct ibv_mr *mr;

	if (__builtin_expect(state != HANDLE_LIVE, 0)) {
		if (attr->buf)
			report_problem(state == HANDLE_FREED ? PROBLEM_REGISTER_OF_FREED
							     : PROBLEM_REGISTER_OF_FOREIGN,
				       (uintptr_t)attr->buf, caller);
		return fail(EINVAL);
	}
	error = check_buffer(buffer, pd, attr);
	if (error)
		return fail(error);

	attr->comp_mask &= ~(uint64_t)IBV_REG_MR_MASK_BUF;
	attr->buf = NULL;
	if (buffer->dmabuf_fd < 0) {
		if (rehearsal_refuses(attr->addr, attr->length, caller))
			return NULL;
		begin();
		return note(reg_plain(pd, attr), attr->addr, attr->length, attr->access);
	}
	saved_errno = errno;
	mr = reg_dmabuf_buffer(pd, buffer, attr);
	if (mr || !is_unsupported(errno) || !backing_of_kind(buffer->kind)->is_pinnable)
		return mr;
	/* Library, provider or kernel cannot register descriptors; these pages can be pinned. */
	mr = reg_plain(pd, attr);
	if (mr)
		errno = saved_errno;
	return mr;
}

struct ibv_mr *registration_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *attr,
				      const void *caller)
{
	original_ibv_reg_mr_ex_function *native = original(ibv_reg_mr_ex);
	/* A library with buffers has all of it, and leaves the struct alone. */
	bool is_native_complete = native && original(ibv_alloc_buf);
	struct ibv_mr_init_attr copy;
	enum handle_state state;
	struct buffer buffer;
	struct ibv_mr *mr;

	config_get();
	if (attr && (attr->comp_mask & IBV_REG_MR_MASK_BUF)) {
		state = buffer_find(attr->buf, &buffer);
		if (state == HANDLE_FOREIGN && native && native_buffers_are_used())
			return native(pd, attr);
		copy = copy_of(attr);
		return reg_buffer(pd, state, &buffer, &copy, caller);
	}
	if (!attr)
		return is_native_complete ? native(pd, attr) : fail(EINVAL);
	copy = copy_of(attr);
	if ((copy.comp_mask & IBV_REG_MR_MASK_ADDR) &&
	    rehearsal_refuses(copy.addr, copy.length, caller))
		return NULL;
	begin();
	if (is_native_complete)
		mr = native(pd, attr);
	else
		mr = pd ? reg_plain(pd, &copy) : fail(EINVAL);
	if (copy.comp_mask & IBV_REG_MR_MASK_ADDR)
		note(mr, copy.addr, copy.length, copy.access);
	return mr;
}

struct ibv_mr *registration_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buf, void *addr,
				       size_t length, int access, const void *caller)
{
	original_ibv_reg_buf_mr_function *native;
	struct ibv_mr_init_attr attr = {
		.length = length,
		.access = access,
		.comp_mask = IBV_REG_MR_MASK_BUF | IBV_REG_MR_MASK_ADDR,
		.addr = addr,
		.buf = buf,
	};
	enum handle_state state;
	struct buffer buffer;

	config_get();
	state = buffer_find(buf, &buffer);
	if (state == HANDLE_FOREIGN) {
		native = original(ibv_reg_buf_mr);
		if (native && native_buffers_are_used())
			return native(pd, buf, addr, length, access);
	}
	return reg_buffer(pd, state, &buffer, &attr, caller);
}

struct ibv_mr *registration_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access,
				   const void *caller)
{
	original_ibv_reg_mr_function *reg_mr = original(ibv_reg_mr);

	if (rehearsal_refuses(addr, length, caller))
		return NULL;
	begin();
	return reg_mr ? note(reg_mr(pd, addr, length, access), addr, length, access)
		      : fail(EOPNOTSUPP);
}

struct ibv_mr *registration_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
					int access, const void *caller)
{
	original_ibv_reg_mr_iova_function *reg_mr_iova = original(ibv_reg_mr_iova);

	if (rehearsal_refuses(addr, length, caller))
		return NULL;
	begin();
	if (reg_mr_iova)
		return note(reg_mr_iova(pd, addr, length, iova, access), addr, length, access);
	return note(reg_by_address(pd, addr, length, iova, access), addr, length, access);
}

struct ibv_mr *registration_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
					 uint64_t iova, unsigned int access, const void *caller)
{
	if (rehearsal_refuses(addr, length, caller))
		return NULL;
	begin();
	return note(reg_by_address(pd, addr, length, iova, (int)access), addr, length, (int)access);
}

int registration_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr,
			  size_t length, int access, const void *caller)
{
	original_ibv_rereg_mr_function *rereg_mr = original(ibv_rereg_mr);
	const void *old_addr;
	size_t old_length;
	int result;

	if (!rereg_mr) {
		errno = EOPNOTSUPP;
		return IBV_REREG_MR_ERR_INPUT;
	}
	if (!(flags & IBV_REREG_MR_CHANGE_TRANSLATION))
		return rereg_mr(mr, flags, pd, addr, length, access);
	if (rehearsal_refuses(addr, length, caller))
		return IBV_REREG_MR_ERR_INPUT;
	old_addr = mr->addr;
	old_length = mr->length;
	result = rereg_mr(mr, flags, pd, addr, length, access);
	/* A failure may come after the change. The region says what it is now. */
	if (mr->addr == old_addr && mr->length == old_length)
		return result;
	/* In this order, as one that nobody counted would be taken for what it is from now on. */
	small_memory_let_go(mr, old_addr, old_length);
	small_memory_hold(mr, mr->addr, mr->length);
	return result;
}

int registration_dereg_mr(struct ibv_mr *mr)
{
	original_ibv_dereg_mr_function *dereg_mr = original(ibv_dereg_mr);
	const void *addr;
	size_t length;
	int result;

	if (!dereg_mr)
		return EOPNOTSUPP;
	begin();
	/* A region that does not exist is for the library to look at. */
	if (!small_memory_exists())
		return dereg_mr(mr);
	addr = mr->addr;
	length = mr->length;
	result = dereg_mr(mr);
	if (!result)
		small_memory_let_go(mr, addr, length);
	return result;
}

struct ibv_mr *registration_import_mr(struct ibv_pd *pd, uint32_t mr_handle)
{
	original_ibv_import_mr_function *import_mr = original(ibv_import_mr);

	return import_mr ? import_mr(pd, mr_handle) : fail(EOPNOTSUPP);
}

void registration_unimport_mr(struct ibv_mr *mr)
{
	original_ibv_unimport_mr_function *unimport_mr = original(ibv_unimport_mr);

	if (unimport_mr)
		unimport_mr(mr);
}
