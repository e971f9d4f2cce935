/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A stand-in for the DMA-buf heaps of the kernel, and for /dev/udmabuf: the program's own
 * syscall() and ioctl(), which the preload calls as well. What a heap gives is a memfd. The real
 * ones are there in the virtual machine.
 */
#ifndef HEAP_H
#define HEAP_H

/* Have a heap of that name, one at a time, or NULL for none; "udmabuf" is /dev/udmabuf. */
void heap_offer(const char *name);

/* Let each allocation from any heap, a real one too, fail with that errno; 0 ends it. */
void heap_fail(int error);

/* How often a heap was opened, and how often memory was taken from one. */
unsigned int heap_openings(void);
unsigned int heap_allocations(void);

/* Have that called while a stand-in is opened, for what another thread may do just then. */
void heap_while_opened(void (*function)(void));

/* How often the preload closed a number that was closed, or another thread's by then. */
unsigned int heap_vain_closes(void);

#endif
