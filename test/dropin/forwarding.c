// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * forwarding present | absent - the newer calls over the library of marker.c, or over one without
 */
#define _GNU_SOURCE
#include "dropin/newer_calls.h"
#include "expect.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

static const struct {
	const char *name;
	const char *node;
} calls[NEWER_COUNT] = {
#define NEWER(name, node, release, result, parameters, arguments, answer)                          \
	[NEWER_##name] = {#name, node},
#define WATCHED(name, node, release)
#include "dropin/newer_calls.def"
#undef NEWER
#undef WATCHED
};

/* No call has more than 6 arguments, and no marker reads any. */
typedef intptr_t any_function(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t);

int main(int count, char **arguments)
{
	void *library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
	int present = count > 1 && !strcmp(arguments[1], "present");
	any_function *call;
	intptr_t answer;
	int *made, i;

	if (!library) {
		printf("%s\n", dlerror());
		return 1;
	}
	made = dlsym(library, "marker_calls");
	expect(made, "the marker library");
	for (i = 0; made && i < NEWER_COUNT; i++) {
		call = (any_function *)dlvsym(library, calls[i].name, calls[i].node);
		expect(call, "%s", calls[i].name);
		if (!call)
			continue;
		*made = 0;
		errno = 0;
		answer = call(0, 0, 0, 0, 0, 0);
		expect(*made == present, "%s went to the library %d times", calls[i].name, *made);
		if (present && i != NEWER_ibv_unimport_dm)
			expect((int)answer == i + 1, "%s gave %d", calls[i].name, (int)answer);
		if (!present && i == NEWER_ibv_query_gid_type)
			expect((int)answer == -1 && errno == EOPNOTSUPP, "%d", (int)answer);
	}
	return expectations();
}
