// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A picture of registered memory: above, bytes by call site; below, MRs; under both, the time, with
 * a tick for each part of it in which a call failed.
 */
#define _GNU_SOURCE
#include "plot_data.h"
#include "process.h"
#include "svg.h"
#include "ticks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "text.h"

#define WIDTH	960
#define HEIGHT	540
#define LEFT	84
#define RIGHT	24
#define COLUMNS (WIDTH - LEFT - RIGHT)

/* Upper and lower edges. */
#define BYTES_TOP    88
#define BYTES_BOTTOM 300
#define MRS_TOP	     328
#define MRS_BOTTOM   396
#define LEGEND_TOP   452
#define LEGEND_LINE  22

#define LEGEND_LINES 4
#define LEGEND_HALF  (COLUMNS / 2.0)

/* Characters that fit into half of the legend's width, and into all of it. */
#define LEGEND_TEXT	 42
#define LEGEND_LONG_TEXT 96

#define COLOUR_BACKGROUND "#ffffff"
#define COLOUR_TEXT	  "#1f2328"
#define COLOUR_QUIET	  "#59636e"
#define COLOUR_GRID	  "#e4e7eb"
#define COLOUR_AXIS	  "#8c959f"
#define COLOUR_FAILURE	  "#c1121f"

/* Of Okabe and Ito, without the red one, which is for failures; grey for the rest. */
static const char *const colours[PLOT_SERIES] = {"#0072B2", "#E69F00", "#009E73", "#CC79A7",
						 "#56B4E9", "#F0E442", "#B8BEC5"};

/**
 * struct panel - a part of the picture that has a scale
 * @most: what its upper edge stands for
 */
struct panel {
	double top;
	double bottom;
	uint64_t most;
	struct ticks ticks;
};

struct plot {
	struct trace_input *input;
	const struct plot_data *data;
	struct panel bytes;
	struct panel mrs;
};

static double height_of(const struct panel *panel, uint64_t value)
{
	double share = (double)value / (double)panel->most;

	return panel->bottom - share * (panel->bottom - panel->top);
}

static double place_of(const struct plot_data *data, uint64_t time)
{
	double share = (double)(time - data->begin) / (double)(data->end - data->begin);

	return LEFT + share * COLUMNS;
}

/* Files that lie have bytes for more than 64 bits. */
static uint64_t sum_of(uint64_t one, uint64_t other)
{
	return one > UINT64_MAX - other ? UINT64_MAX : one + other;
}

/* A scale up to the first tick that is no less than the largest value. */
static void set_scale(struct panel *panel, uint64_t most)
{
	panel->most = most / panel->ticks.step * panel->ticks.step;
	if (panel->most < most || !panel->most)
		panel->most = sum_of(panel->most, panel->ticks.step);
}

static void draw_scale(const struct panel *panel, const char *title)
{
	char label[UNITS_TEXT_SIZE];
	uint64_t value;

	for (value = 0; value <= panel->most; value += panel->ticks.step) {
		ticks_label(&panel->ticks, value, label);
		svg_line(LEFT, height_of(panel, value), WIDTH - RIGHT, height_of(panel, value),
			 value ? COLOUR_GRID : COLOUR_AXIS, 1);
		svg_text(LEFT - 8, height_of(panel, value) + 4, 11.5, SVG_END, COLOUR_QUIET, label);
		if (value > UINT64_MAX - panel->ticks.step)
			break;
	}
	svg_heading(LEFT, panel->top - 8, 12, COLOUR_TEXT, title);
}

/* The sum of the series before `series`, and of it, in a column. */
static uint64_t sum_below(const struct plot_column *column, size_t series)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < series; i++)
		sum += column->bytes[i];
	return sum;
}

/* Goes along the upper edge of the series below `series`, from column to column and back. */
static void follow_edge(const struct plot *plot, size_t series, bool back, bool begun)
{
	const struct plot_data *data = plot->data;
	double height, last = 0;
	size_t i, column;

	for (i = 0; i < data->column_count; i++) {
		column = back ? data->column_count - 1 - i : i;
		height = height_of(&plot->bytes, sum_below(&data->columns[column], series));
		if (i && height == last)
			continue;
		if (i)
			svg_path_line(LEFT + (double)column + back, last);
		else if (!begun)
			svg_path_move(LEFT, height);
		if (i || begun)
			svg_path_line(LEFT + (double)column + back, height);
		last = height;
	}
	svg_path_line(back ? LEFT : LEFT + COLUMNS, last);
}

static bool is_in_use(const struct plot_data *data, size_t series)
{
	return series < data->site_count || (series == PLOT_SITES && data->others);
}

static const char *series_text(const struct plot *plot, size_t series, char *text, size_t size)
{
	if (series < PLOT_SITES)
		return call_site_text(plot->input->sites, plot->data->sites[series]);
	snprintf(text, size, "%zu other call site%s", plot->data->others,
		 text_plural(plot->data->others));
	return text;
}

static void draw_areas(const struct plot *plot)
{
	char text[64];
	size_t series;

	for (series = 0; series < PLOT_SERIES; series++) {
		if (!is_in_use(plot->data, series))
			continue;
		svg_path_begin();
		follow_edge(plot, series + 1, false, false);
		follow_edge(plot, series, true, true);
		svg_path_fill(colours[series], series_text(plot, series, text, sizeof(text)));
	}
}

static void draw_mrs(const struct plot *plot)
{
	const struct plot_data *data = plot->data;
	double height, last = 0;
	size_t i;

	svg_path_begin();
	for (i = 0; i < data->column_count; i++) {
		height = height_of(&plot->mrs, data->columns[i].mrs);
		if (!i)
			svg_path_move(LEFT, height);
		if (i && height != last) {
			svg_path_line(LEFT + (double)i, last);
			svg_path_line(LEFT + (double)i, height);
		}
		last = height;
	}
	svg_path_line(LEFT + COLUMNS, last);
	svg_path_stroke(COLOUR_TEXT, 1.5);
}

/* A dot, and a text beside or above it that stays in the picture. */
static void draw_peak(const struct panel *panel, double place, uint64_t value, const char *text)
{
	double height = height_of(panel, value);
	enum svg_anchor anchor = SVG_MIDDLE;

	if (place < LEFT + 110)
		anchor = SVG_START;
	else if (place > WIDTH - RIGHT - 110)
		anchor = SVG_END;
	svg_circle(place, height, 3.5, COLOUR_BACKGROUND, COLOUR_TEXT);
	svg_text(place, height - 8, 11.5, anchor, COLOUR_TEXT, text);
}

static void draw_peaks(const struct plot *plot)
{
	const struct analysis_level *level = &plot->data->analysis->all.level;
	struct text_numbers numbers = {0};
	char text[2 * UNITS_TEXT_SIZE + 16];

	if (!level->most_mrs)
		return;
	if (level->most_bytes) {
		snprintf(text, sizeof(text), "at most %s", text_bytes(&numbers, level->most_bytes));
		draw_peak(&plot->bytes, place_of(plot->data, level->most_bytes_at),
			  level->most_bytes, text);
	}
	snprintf(text, sizeof(text), "at most %s", text_count(&numbers, level->most_mrs));
	draw_peak(&plot->mrs, place_of(plot->data, level->most_mrs_at), level->most_mrs, text);
}

static void draw_time(const struct plot *plot)
{
	const struct plot_data *data = plot->data;
	uint64_t from = data->begin - plot->input->start, to = data->end - plot->input->start;
	struct ticks ticks = ticks_of_nanoseconds(to - from, 8);
	char label[UNITS_TEXT_SIZE];
	uint64_t time = (from + ticks.step - 1) / ticks.step * ticks.step;
	double place;

	for (; time <= to; time += ticks.step) {
		place = place_of(data, plot->input->start + time);
		svg_line(place, MRS_BOTTOM, place, MRS_BOTTOM + 5, COLOUR_AXIS, 1);
		ticks_label(&ticks, time, label);
		svg_text(place, MRS_BOTTOM + 23, 11.5, SVG_MIDDLE, COLOUR_QUIET, label);
		/* a file may say that it was recorded at the end of time */
		if (time > UINT64_MAX - ticks.step)
			break;
	}
}

static void draw_failures(const struct plot *plot)
{
	const struct plot_data *data = plot->data;
	size_t i;

	for (i = 0; i < data->column_count; i++) {
		if (data->columns[i].failures)
			svg_line(LEFT + (double)i + 0.5, MRS_BOTTOM, LEFT + (double)i + 0.5,
				 MRS_BOTTOM + 9, COLOUR_FAILURE, 1.5);
	}
}

/* What the legend has to hold, in one list or, side by side, two. */
struct legend {
	unsigned int used;
	bool two;
};

static double legend_left(const struct legend *legend)
{
	unsigned int list = legend->used / LEGEND_LINES;

	return LEFT + list * LEGEND_HALF;
}

static double legend_base(const struct legend *legend)
{
	return LEGEND_TOP + (double)(legend->used % LEGEND_LINES) * LEGEND_LINE;
}

/* The next line of the legend; its mark is drawn already. */
static void draw_legend_line(struct legend *legend, const char *text, const char *amount)
{
	size_t room = legend->two ? LEGEND_TEXT : LEGEND_LONG_TEXT;
	char shortened[LEGEND_LONG_TEXT + 1];

	if (strlen(text) > room) {
		snprintf(shortened, sizeof(shortened), "%.*s...", (int)room - 3, text);
		text = shortened;
	}
	svg_text(legend_left(legend) + 20, legend_base(legend), 12, SVG_START, COLOUR_TEXT, text);
	svg_text(legend->two && legend->used < LEGEND_LINES ? LEFT + LEGEND_HALF - 28
							    : WIDTH - RIGHT,
		 legend_base(legend), 12, SVG_END, COLOUR_QUIET, amount);
	legend->used++;
}

static void draw_legend(const struct plot *plot)
{
	const struct plot_data *data = plot->data;
	uint64_t failed = data->analysis->all.failed;
	struct legend legend = {
		.two = data->site_count + (data->others > 0) + (failed > 0) > LEGEND_LINES,
	};
	char text[64], amount[UNITS_TEXT_SIZE + 16];
	struct text_numbers numbers;
	size_t series;

	for (series = 0; series < PLOT_SERIES; series++) {
		if (!is_in_use(data, series))
			continue;
		memset(&numbers, 0, sizeof(numbers));
		amount[0] = '\0';
		if (series < PLOT_SITES)
			snprintf(amount, sizeof(amount), "%s%s", series ? "" : "at most ",
				 text_bytes(&numbers, data->most[series]));
		svg_rectangle(legend_left(&legend), legend_base(&legend) - 10, 12, 12,
			      colours[series]);
		draw_legend_line(&legend, series_text(plot, series, text, sizeof(text)), amount);
	}
	if (!failed)
		return;
	memset(&numbers, 0, sizeof(numbers));
	svg_line(legend_left(&legend) + 6, legend_base(&legend) - 10, legend_left(&legend) + 6,
		 legend_base(&legend) + 2, COLOUR_FAILURE, 1.5);
	snprintf(text, sizeof(text), "%s call%s failed", text_count(&numbers, failed),
		 text_plural(failed));
	draw_legend_line(&legend, text, "");
}

static void make_title(const struct plot *plot, char *title, size_t size)
{
	const struct trace_input *input = plot->input;
	const char *program = process_program(input->files[0]);
	char text[PROCESS_TEXT_SIZE];
	size_t i;

	if (input->file_count == 1) {
		snprintf(title, size, "%s", process_text(input->files[0], text));
		return;
	}
	for (i = 1; i < input->file_count && !strcmp(process_program(input->files[i]), program);
	     i++)
		;
	snprintf(title, size, "%zu processes%s%s", input->file_count,
		 i == input->file_count ? " of " : "", i == input->file_count ? program : "");
}

static void draw_title(const struct plot *plot, const char *title)
{
	const struct analysis *analysis = plot->data->analysis;
	time_t seconds = (time_t)(plot->input->start / 1000000000);
	struct text_numbers numbers = {0};
	char moment[64] = "", text[512];
	struct tm broken;

	if (localtime_r(&seconds, &broken))
		strftime(moment, sizeof(moment), "%Y-%m-%d %H:%M:%S", &broken);
	snprintf(text, sizeof(text), "%s, %s; %s call%s; %s registered in total", moment,
		 text_time(&numbers, plot->data->end - plot->input->start),
		 text_count(&numbers, analysis->all.calls), text_plural(analysis->all.calls),
		 text_bytes(&numbers, analysis->all.bytes));
	svg_heading(LEFT, 30, 17, COLOUR_TEXT, title);
	svg_text(LEFT, 50, 12, SVG_START, COLOUR_QUIET, text);
}

static void run(struct trace_input *input)
{
	struct plot_data *data = plot_data_of(input, COLUMNS);
	const struct analysis_level *level = &data->analysis->all.level;
	struct plot plot = {
		.input = input,
		.data = data,
		.bytes = {.top = BYTES_TOP, .bottom = BYTES_BOTTOM},
		.mrs = {.top = MRS_TOP, .bottom = MRS_BOTTOM},
	};
	char title[PROCESS_TEXT_SIZE + 32];

	plot.bytes.ticks = ticks_of_bytes(level->most_bytes, 5);
	plot.mrs.ticks = ticks_of_count(level->most_mrs, 3);
	/* Above the peak there is room for its text. */
	set_scale(&plot.bytes, sum_of(level->most_bytes, level->most_bytes / 10));
	set_scale(&plot.mrs, level->most_mrs + level->most_mrs / 4);
	make_title(&plot, title, sizeof(title));

	svg_open(WIDTH, HEIGHT, title);
	svg_rectangle(0, 0, WIDTH, HEIGHT, COLOUR_BACKGROUND);
	draw_title(&plot, title);
	draw_scale(&plot.bytes, "registered bytes");
	draw_scale(&plot.mrs, "live MRs");
	draw_areas(&plot);
	draw_mrs(&plot);
	draw_failures(&plot);
	draw_time(&plot);
	draw_peaks(&plot);
	draw_legend(&plot);
	svg_close();
	plot_data_free(data);
}

const struct trace_command command_plot = {
	.name = "plot",
	.purpose = "an SVG of registered bytes and MRs over time",
	.run = run,
};
