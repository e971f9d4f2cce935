// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "plot_data.h"

#include <stdlib.h>
#include <string.h>

#include "../launcher/message.h"

static int compare_sites(const void *one, const void *other)
{
	const struct analysis_site *first = *(struct analysis_site *const *)one;
	const struct analysis_site *second = *(struct analysis_site *const *)other;

	if (first->most_bytes != second->most_bytes)
		return first->most_bytes > second->most_bytes ? -1 : 1;
	return first->made[LIVE_MR] > second->made[LIVE_MR]
		       ? -1
		       : first->made[LIVE_MR] < second->made[LIVE_MR];
}

static void choose_sites(struct plot_data *data)
{
	struct analysis *analysis = data->analysis;
	size_t i;

	if (analysis->site_count)
		qsort(analysis->sites, analysis->site_count, sizeof(struct analysis_site *),
		      compare_sites);
	for (i = 0; i < analysis->site_count && analysis->sites[i]->most_bytes; i++) {
		if (i >= PLOT_SITES) {
			data->others++;
			continue;
		}
		data->sites[i] = analysis->sites[i]->site;
		data->most[i] = analysis->sites[i]->most_bytes;
		data->site_count = i + 1;
	}
}

static size_t series_of(const struct plot_data *data, const struct call_site *site)
{
	size_t i;

	for (i = 0; i < data->site_count && data->sites[i] != site; i++)
		;
	return i < data->site_count ? i : PLOT_SITES;
}

static size_t column_of(const struct plot_data *data, uint64_t time)
{
	double share;
	size_t column;

	if (time <= data->begin)
		return 0;
	if (time >= data->end)
		return data->column_count - 1;
	share = (double)(time - data->begin) / (double)(data->end - data->begin);
	column = (size_t)(share * (double)data->column_count);
	/* Of a span of decades, a few nanoseconds before the end are rounded to the end. */
	return column < data->column_count ? column : data->column_count - 1;
}

/* What lives goes on living in the columns behind. */
static void reach(struct plot_data *data, size_t *reached, size_t column,
		  const struct plot_column *now)
{
	while (*reached < column)
		data->columns[++*reached] = *now;
}

static void take(struct plot_column *column, const struct plot_column *now)
{
	uint64_t mrs = column->mrs > now->mrs ? column->mrs : now->mrs;
	uint64_t failures = column->failures;

	if (now->total > column->total)
		*column = *now;
	column->mrs = mrs;
	column->failures = failures;
}

static void fill_columns(struct plot_data *data, struct trace_input *input)
{
	struct trace_stream *stream = trace_stream_open(input->files, input->file_count, false);
	struct live *live = live_new(false);
	struct plot_column now = {0};
	const struct call_site *site;
	struct live_change change;
	struct trace_event event;
	size_t reached = 0, column;
	bool wanted;

	while (trace_stream_next(stream, &event)) {
		wanted = filter_takes(input->filter, input->sites, &event);
		site = wanted ? call_site_of(input->sites, &event) : NULL;
		column = column_of(data, event.end);
		reach(data, &reached, column, &now);
		if (wanted && event_failed(&event) && !event_probes(&event))
			data->columns[column].failures++;
		if (!live_can_follow(input->sites, &event))
			continue;
		live_take(live, &event, site, &change);
		if (change.kind != LIVE_MR || !change.site)
			continue;
		now.bytes[series_of(data, change.site)] += (uint64_t)change.bytes;
		now.total += (uint64_t)change.bytes;
		now.mrs += (uint64_t)(int64_t)change.count;
		take(&data->columns[column], &now);
	}
	reach(data, &reached, data->column_count - 1, &now);
	live_free(live);
	trace_stream_close(stream);
}

struct plot_data *plot_data_of(struct trace_input *input, size_t column_count)
{
	struct plot_data *data = grow(NULL, 1, sizeof(*data));

	memset(data, 0, sizeof(*data));
	data->column_count = column_count;
	data->columns = grow(NULL, column_count, sizeof(*data->columns));
	memset(data->columns, 0, column_count * sizeof(*data->columns));
	data->analysis = analysis_of(input, false);
	/* All that was recorded, or the part of it that was asked for. */
	data->begin = filter_is_set(input->filter) && data->analysis->all.calls
			      ? data->analysis->all.begin
			      : input->start;
	data->end = data->analysis->all.end > data->begin ? data->analysis->all.end
							  : data->begin + 1;
	choose_sites(data);
	fill_columns(data, input);
	return data;
}

void plot_data_free(struct plot_data *data)
{
	analysis_free(data->analysis);
	free(data->columns);
	free(data);
}
