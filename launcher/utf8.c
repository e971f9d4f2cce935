// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "utf8.h"

size_t utf8_length(const unsigned char *bytes)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t length, i;

	if (bytes[0] < 0x80)
		return 1;
	if (bytes[0] >= 0xc2 && bytes[0] <= 0xdf)
		length = 2;
	else if (bytes[0] >= 0xe0 && bytes[0] <= 0xef)
		length = 3;
	else if (bytes[0] >= 0xf0 && bytes[0] <= 0xf4)
		length = 4;
	else
		return 0;
	/* no longer form than needed, no surrogates, nothing past U+10FFFF */
	if (bytes[0] == 0xe0)
		low = 0xa0;
	else if (bytes[0] == 0xed)
		high = 0x9f;
	else if (bytes[0] == 0xf0)
		low = 0x90;
	else if (bytes[0] == 0xf4)
		high = 0x8f;
	for (i = 1; i < length; i++) {
		if (bytes[i] < low || bytes[i] > high)
			return 0;
		low = 0x80;
		high = 0xbf;
	}
	return length;
}
