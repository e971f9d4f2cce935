// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A 32-bit x86 program that needs no C library: exit(0). */
void _start(void);

void _start(void)
{
	__asm__ volatile("int $0x80" : : "a"(1), "b"(0));
	for (;;)
		;
}
