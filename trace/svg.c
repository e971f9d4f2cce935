// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "svg.h"

#include <stdio.h>
#include <string.h>

#include "../launcher/utf8.h"

#define FONTS "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Verdana, sans-serif"

/* U+FFFE and U+FFFF are UTF-8, but XML has no place for them; nor for control characters. */
static int is_xml(const unsigned char *bytes, size_t length)
{
	if (length == 1)
		return *bytes >= 0x20 && *bytes != 0x7f;
	return length && memcmp(bytes, "\xef\xbf\xbe", 3) != 0 &&
	       memcmp(bytes, "\xef\xbf\xbf", 3) != 0;
}

static void put_text(const char *text)
{
	const unsigned char *byte = (const unsigned char *)text;
	size_t length;

	while (*byte) {
		length = utf8_length(byte);
		if (!is_xml(byte, length))
			fputs("\xef\xbf\xbd", stdout);
		else if (*byte == '<')
			fputs("&lt;", stdout);
		else if (*byte == '>')
			fputs("&gt;", stdout);
		else if (*byte == '&')
			fputs("&amp;", stdout);
		else
			fwrite(byte, 1, length, stdout);
		byte += length ? length : 1;
	}
}

/* With no more digits than are seen. */
static void put_number(double number)
{
	/* Far beyond any picture: of a damaged file. */
	const double limit = 1e12;
	long tenths;

	if (!(number < limit))
		number = limit;
	else if (number < -limit)
		number = -limit;
	tenths = (long)(number * 10 + (number < 0 ? -0.5 : 0.5));
	if (tenths % 10)
		printf("%.1f", (double)tenths / 10);
	else
		printf("%ld", tenths / 10);
}

static void put_attribute(const char *name, double number)
{
	printf(" %s=\"", name);
	put_number(number);
	putchar('"');
}

void svg_open(double width, double height, const char *title)
{
	fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"", stdout);
	put_attribute("width", width);
	put_attribute("height", height);
	fputs(" viewBox=\"0 0 ", stdout);
	put_number(width);
	putchar(' ');
	put_number(height);
	fputs("\" font-family=\"" FONTS "\">\n<title>", stdout);
	put_text(title);
	fputs("</title>\n", stdout);
}

void svg_close(void)
{
	fputs("</svg>\n", stdout);
}

void svg_rectangle(double x, double y, double width, double height, const char *colour)
{
	fputs("<rect", stdout);
	put_attribute("x", x);
	put_attribute("y", y);
	put_attribute("width", width);
	put_attribute("height", height);
	printf(" fill=\"%s\"/>\n", colour);
}

void svg_line(double x1, double y1, double x2, double y2, const char *colour, double width)
{
	fputs("<line", stdout);
	put_attribute("x1", x1);
	put_attribute("y1", y1);
	put_attribute("x2", x2);
	put_attribute("y2", y2);
	put_attribute("stroke-width", width);
	printf(" stroke=\"%s\"/>\n", colour);
}

void svg_circle(double x, double y, double radius, const char *fill, const char *stroke)
{
	fputs("<circle", stdout);
	put_attribute("cx", x);
	put_attribute("cy", y);
	put_attribute("r", radius);
	printf(" fill=\"%s\" stroke=\"%s\" stroke-width=\"1.5\"/>\n", fill, stroke);
}

static void put_line_of_text(double x, double y, double size, const char *attributes,
			     const char *colour, const char *text)
{
	fputs("<text", stdout);
	put_attribute("x", x);
	put_attribute("y", y);
	put_attribute("font-size", size);
	printf("%s fill=\"%s\">", attributes, colour);
	put_text(text);
	fputs("</text>\n", stdout);
}

void svg_text(double x, double y, double size, enum svg_anchor anchor, const char *colour,
	      const char *text)
{
	static const char *const anchors[] = {"", " text-anchor=\"middle\"",
					      " text-anchor=\"end\""};

	put_line_of_text(x, y, size, anchors[anchor], colour, text);
}

void svg_heading(double x, double y, double size, const char *colour, const char *text)
{
	put_line_of_text(x, y, size, " font-weight=\"600\"", colour, text);
}

static void put_point(char letter, double x, double y)
{
	putchar(letter);
	put_number(x);
	putchar(' ');
	put_number(y);
}

void svg_path_begin(void)
{
	fputs("<path d=\"", stdout);
}

void svg_path_move(double x, double y)
{
	put_point('M', x, y);
}

void svg_path_line(double x, double y)
{
	put_point('L', x, y);
}

void svg_path_fill(const char *colour, const char *title)
{
	printf("Z\" fill=\"%s\"><title>", colour);
	put_text(title);
	fputs("</title></path>\n", stdout);
}

void svg_path_stroke(const char *colour, double width)
{
	printf("\" fill=\"none\" stroke=\"%s\" stroke-linejoin=\"round\"", colour);
	put_attribute("stroke-width", width);
	fputs("/>\n", stdout);
}
