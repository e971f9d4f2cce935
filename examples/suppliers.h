/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Who supplies the calls of the buffer API in this process: libibverbs, or a preload.
 */
#ifndef SUPPLIERS_H
#define SUPPLIERS_H

#include <stdbool.h>

/**
 * suppliers_print - print which libibverbs this is, and who supplies each call
 *
 * Return: whether each call is supplied by somebody.
 */
bool suppliers_print(void);

#endif
