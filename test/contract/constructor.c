// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A module whose constructor calls the library: what a test has done in the middle of that call
 * (standin_interrupt()) is done under the dynamic linker's lock.
 */
#include <infiniband/verbs.h>
#include <stddef.h>

__attribute__((constructor)) static void call(void)
{
	ibv_free_device_list(ibv_get_device_list(NULL));
}
