// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "held_linker.h"
#include "standin.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_t thread;
static bool is_held, is_over;

static void wait_until(const bool *flag)
{
	while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
		usleep(1000);
}

static void hold(const struct standin_call *call)
{
	(void)call;
	__atomic_store_n(&is_held, true, __ATOMIC_RELEASE);
	wait_until(&is_over);
}

static void *open_module(void *unused)
{
	(void)unused;
	if (dlopen(CONSTRUCTOR_MODULE, RTLD_NOW | RTLD_LOCAL))
		return NULL;
	fprintf(stderr, "%s\n", dlerror());
	exit(99);
}

void hold_linker(void)
{
	standin_interrupt(STANDIN_ibv_get_device_list, hold);
	if (pthread_create(&thread, NULL, open_module, NULL))
		exit(99);
	wait_until(&is_held);
}

void release_linker(void)
{
	__atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}
