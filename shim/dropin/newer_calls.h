/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What newer_calls.def names. Not verbs.h: which of this an older one declares, and how, differs
 * from release to release, while the binary interface does not. Enumerations are int there.
 */
#ifndef IBVBUF_NEWER_CALLS_H
#define IBVBUF_NEWER_CALLS_H

#include <stddef.h>
#include <stdint.h>

struct ibv_comp_cntr;
struct ibv_comp_cntr_caps;
struct ibv_comp_cntr_init_attr;
struct ibv_context;
struct ibv_dm;
struct ibv_dmah;
struct ibv_dmah_init_attr;
struct ibv_mr;
struct ibv_pd;
struct ibv_qp;
struct ibv_qp_attach_comp_cntr_attr;

enum newer_call {
#define NEWER(name, node, release, result, parameters, arguments, answer) NEWER_##name,
#define WATCHED(name, node, release)
#include "newer_calls.def"
#undef NEWER
#undef WATCHED
	NEWER_COUNT
};

#endif
