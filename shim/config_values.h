/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The values of the configuration. Each function reads one kind of value into the member of struct
 * config that it is for; false if it is none of that kind, and then nothing is changed.
 */
#ifndef IBVBUF_CONFIG_VALUES_H
#define IBVBUF_CONFIG_VALUES_H

#include <stdbool.h>
#include <stddef.h>

/* A piece of text that somebody else owns. */
struct span {
	const char *start;
	size_t length;
};

bool span_is(struct span span, const char *string);

bool config_value_diagnostics(void *member, struct span value);
bool config_value_boolean(void *member, struct span value);
bool config_value_path(void *member, struct span value);
bool config_value_backing(void *member, struct span value);
bool config_value_heap(void *member, struct span value);
bool config_value_trace(void *member, struct span value);
bool config_value_size(void *member, struct span value);
bool config_value_keep(void *member, struct span value);
bool config_value_depth(void *member, struct span value);

#endif
