/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which records are wanted; the options that say so, of all commands. */
#ifndef IBVBUF_TRACE_FILTER_H
#define IBVBUF_TRACE_FILTER_H

#include "call_site.h"

#include <getopt.h>

/* getopt_long()'s values of these options begin here; those of commands stay below. */
#define FILTER_OPTION 1000

/* The options, without the closing one, and the lines of --help for them. */
extern const struct option filter_options[];
extern const size_t filter_option_count;
extern const char filter_help[];

struct filter;

struct filter *filter_new(void);
void filter_free(struct filter *filter);

/* An option from filter_options. False if its value makes no sense. */
bool filter_add(struct filter *filter, int option, const char *value);

/* Whether anything was asked for. */
bool filter_is_set(const struct filter *filter);

/* Whether the filter lets records of this file pass at all. */
bool filter_takes_file(const struct filter *filter, const struct trace_file *file);
/* Times count from `start`, in nanoseconds since 1970: when the first of the files was made. */
void filter_start(struct filter *filter, uint64_t start);
bool filter_takes(struct filter *filter, struct call_sites *sites, const struct trace_event *event);

#endif
