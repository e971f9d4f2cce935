/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef STANDIN_LOG_H
#define STANDIN_LOG_H

#include "standin.h"

bool standin_is_on(enum standin_switch which);

/* Take note of a call; 0, or the errno with which it is to fail. */
int standin_enter(const struct standin_call *call);

#endif
