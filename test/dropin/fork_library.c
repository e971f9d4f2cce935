// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A library before 35 as far as its fork support goes. Linked with -Bsymbolic-functions, so that
 * nobody sees its own call of ibv_fork_init().
 */
#include <stddef.h>
#include <stdlib.h>

int fork_calls;

int ibv_fork_init(void);
int ibv_fork_init(void)
{
	fork_calls++;
	return 0;
}

void *ibv_get_device_list(int *count);
void *ibv_get_device_list(int *count)
{
	(void)count;
	if (getenv("RDMAV_FORK_SAFE") || getenv("IBV_FORK_SAFE"))
		ibv_fork_init();
	return NULL;
}

void ibv_free_device_list(void *list);
void ibv_free_device_list(void *list)
{
	(void)list;
}
