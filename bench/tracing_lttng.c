// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tracing_lttng.h"
