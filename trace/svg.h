/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writing SVG to standard output. Lengths are in pixels. */
#ifndef IBVBUF_TRACE_SVG_H
#define IBVBUF_TRACE_SVG_H

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

/* `title` is what a screen reader tells. */
void svg_open(double width, double height, const char *title);
void svg_close(void);

void svg_rectangle(double x, double y, double width, double height, const char *colour);
void svg_line(double x1, double y1, double x2, double y2, const char *colour, double width);
void svg_circle(double x, double y, double radius, const char *fill, const char *stroke);
/* One line. Bytes that are no UTF-8, or that XML cannot have, become U+FFFD. */
void svg_text(double x, double y, double size, enum svg_anchor anchor, const char *colour,
	      const char *text);
/* The same, bold. */
void svg_heading(double x, double y, double size, const char *colour, const char *text);

/* A path: its points between begin and end, which tells what is drawn along it. */
void svg_path_begin(void);
void svg_path_move(double x, double y);
void svg_path_line(double x, double y);
/* `title` is shown when the mouse is there. */
void svg_path_fill(const char *colour, const char *title);
void svg_path_stroke(const char *colour, double width);

#endif
