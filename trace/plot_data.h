/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Registered memory over time, in as many steps as a picture has columns. */
#ifndef IBVBUF_TRACE_PLOT_DATA_H
#define IBVBUF_TRACE_PLOT_DATA_H

#include "analysis.h"

/* Call sites that are told apart; the rest is one more. */
#define PLOT_SITES  6
#define PLOT_SERIES (PLOT_SITES + 1)

/**
 * struct plot_column - a part of the time
 * @bytes: registered by each series at the moment when all together were the most
 * @total: their sum
 * @mrs: that lived, at most
 * @failures: calls that failed
 */
struct plot_column {
	uint64_t bytes[PLOT_SERIES];
	uint64_t total;
	uint64_t mrs;
	uint64_t failures;
};

/**
 * struct plot_data - the picture in numbers
 * @columns: @column_count of them, from @begin to @end (nanoseconds since 1970)
 * @sites: of each series, the site whose MRs were the largest first; @site_count of them. The last
 *	series holds all others.
 * @most: bytes of each site's MRs that lived at once, at most
 * @others: call sites of the last series that registered anything
 * @analysis: of the same events
 */
struct plot_data {
	struct plot_column *columns;
	size_t column_count;
	uint64_t begin;
	uint64_t end;
	const struct call_site *sites[PLOT_SITES];
	uint64_t most[PLOT_SITES];
	size_t site_count;
	size_t others;
	struct analysis *analysis;
};

/* Reads the files twice: to find what is large, and then how it went. */
struct plot_data *plot_data_of(struct trace_input *input, size_t column_count);
void plot_data_free(struct plot_data *data);

#endif
