// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * fork_by_variable STATUS - what is told of fork support after the devices were listed, over the
 * library of fork_library.c; and that the library is asked for a list and for it once more at most
 */
#define _GNU_SOURCE
#include "expect.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#define UNTOUCHED 4321

int main(int count, char **arguments)
{
	void *library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
	int wanted = count > 1 ? atoi(arguments[1]) : -1;
	void *(*list)(int *count);
	int (*status)(void);
	int *calls, i;

	if (!library) {
		printf("%s\n", dlerror());
		return 1;
	}
	*(void **)&list = dlsym(library, "ibv_get_device_list");
	*(void **)&status = dlvsym(library, "ibv_is_fork_initialized", "IBVERBS_1.13");
	calls = dlsym(library, "fork_calls");
	expect(list && status && calls, "a symbol is missing");
	if (!list || !status || !calls)
		return expectations();

	list(NULL);
	errno = UNTOUCHED;
	for (i = 0; i < 3; i++)
		expect(status() == wanted, "%d", status());
	expect(errno == UNTOUCHED, "errno %d", errno);
	expect(*calls == 3 * wanted, "%d calls", *calls);
	return expectations();
}
