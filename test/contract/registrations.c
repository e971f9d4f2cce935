// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "registrations.h"

uint64_t registrations(void)
{
	uint64_t by_address = library_registers_by_iova2()
				      ? CALLS(ibv_reg_mr_iova2)
				      : CALLS(ibv_reg_mr) + CALLS(ibv_reg_mr_iova);

	return by_address + CALLS(ibv_reg_dmabuf_mr) + CALLS(ibv_reg_mr_ex);
}

struct registration last_registration(void)
{
	const struct standin_call *call = standin_last(STANDIN_FUNCTIONS);
	const uint64_t *arguments;
	struct registration made = {0};

	cr_assert_not_null(call, "nothing was called");
	arguments = call->arguments;
	made.via = call->function;
	made.pd = arguments[0];
	switch (made.via) {
	case STANDIN_ibv_reg_mr:
		made.addr = arguments[1];
		made.length = arguments[2];
		made.iova = made.addr;
		made.access = arguments[3];
		break;
	case STANDIN_ibv_reg_mr_iova:
	case STANDIN_ibv_reg_mr_iova2:
		made.has_iova = true;
		made.addr = arguments[1];
		made.length = arguments[2];
		made.iova = arguments[3];
		made.access = arguments[4];
		break;
	case STANDIN_ibv_reg_dmabuf_mr:
		made.by_fd = true;
		made.has_iova = true;
		made.offset = arguments[1];
		made.length = arguments[2];
		made.iova = arguments[3];
		made.fd = arguments[4];
		made.access = arguments[5];
		break;
	case STANDIN_ibv_reg_mr_ex:
		made.by_fd = call->attr.comp_mask & IBV_REG_MR_MASK_FD;
		made.has_iova = call->attr.comp_mask & IBV_REG_MR_MASK_IOVA;
		made.addr = WORD(call->attr.addr);
		made.length = call->attr.length;
		made.iova = made.has_iova ? call->attr.iova : made.addr;
		made.fd = WORD(call->attr.fd);
		made.offset = call->attr.fd_offset;
		made.access = WORD(call->attr.access);
		break;
	default:
		cr_assert_fail("%s registers nothing", standin_symbol(made.via));
	}
	return made;
}

bool library_registers_by_iova2(void)
{
	return standin_generation() >= 33;
}

bool library_has(enum standin_function function)
{
	int since;

	switch (function) {
	case STANDIN_ibv_reg_mr_iova:
		since = 25;
		break;
	case STANDIN_ibv_reg_mr_iova2:
		since = 28;
		break;
	case STANDIN_ibv_import_device:
	case STANDIN_ibv_import_pd:
	case STANDIN_ibv_unimport_pd:
		since = 31;
		break;
	case STANDIN_ibv_reg_dmabuf_mr:
		since = 34;
		break;
	case STANDIN_ibv_is_fork_initialized:
		since = 35;
		break;
	case STANDIN_ibv_reg_mr_ex:
		since = 59;
		break;
	case STANDIN_ibv_alloc_buf:
	case STANDIN_ibv_free_buf:
	case STANDIN_ibv_reg_buf_mr:
		since = 64;
		break;
	case STANDIN_ibv_export_buf_dmabuf_fd:
		since = 65;
		break;
	default:
		since = 1;
	}
	return standin_generation() >= since;
}
