// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * lookups LIBRARY RELEASE - what a program finds that opens libibverbs with RTLD_LOCAL
 */
#define _GNU_SOURCE
#include "device_context.h"
#include "expect.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void *library;

/* Whether an address is the drop-in's, not the real library's. */
static bool is_of_dropin(const void *address)
{
	Dl_info info;
	const char *file;

	if (!dladdr(address, &info))
		return false;
	file = strrchr(info.dli_fname, '/');
	return file && (!strcmp(file, "/libibverbs.so") || !strcmp(file, "/libibverbs.so.1"));
}

static void found_in_dropin(const char *name, const char *node)
{
	void *address = dlvsym(library, name, node);

	expect(address && is_of_dropin(address), "%s@%s", name, node);
	expect(dlsym(library, name) == address, "%s", name);
}

static void found_in_real(const char *name, const char *node)
{
	void *address = dlvsym(library, name, node);

	expect(address && !is_of_dropin(address), "%s@%s", name, node);
}

static void not_found(const char *name, const char *node)
{
	void *address;
	char *error;

	dlerror();
	address = node ? dlvsym(library, name, node) : dlsym(library, name);
	error = dlerror();
	expect(!address, "%s@%s", name, node ? node : "");
	expect(error && strstr(error, name) && strstr(error, "undefined symbol"), "%s: %s", name,
	       error ? error : "no dlerror");
	expect(!dlerror(), "dlerror() twice");
}

static void new_calls_are_at_their_versions(void)
{
#define EXPORTED(name, node, release, result, parameters) found_in_dropin(#name, node);
#define CALLED(name, node, release, result, parameters)
#include "verbs_calls.def"
#undef EXPORTED
#undef CALLED
#define NEWER(name, node, release, result, parameters, arguments, answer)                          \
	found_in_dropin(#name, node);
#define WATCHED(name, node, release) found_in_dropin(#name, node);
#include "dropin/newer_calls.def"
#undef NEWER
#undef WATCHED
}

static void wrong_versions_find_nothing(void)
{
	not_found("ibv_alloc_buf", "IBVERBS_1.1");
	not_found("ibv_alloc_buf", "IBVERBS_1.18");
	not_found("ibv_reg_mr_ex", "IBVERBS_1.17");
	not_found("ibv_alloc_pd", "IBVERBS_1.17");
	not_found("ibv_reg_mr", "IBVERBS_1.8");
	not_found("ibv_reg_mr", "IBVERBS_9.9");
	not_found("ibv_reg_dmabuf_mr", "IBVERBS_1.1");
}

static void the_old_definitions_are_the_librarys(void)
{
	found_in_real("ibv_reg_mr", "IBVERBS_1.0");
	found_in_real("ibv_close_device", "IBVERBS_1.1");
	found_in_real("ibv_alloc_pd", "IBVERBS_1.0");
	found_in_real("ibv_dealloc_pd", "IBVERBS_1.0");
	expect(dlvsym(library, "ibv_reg_mr", "IBVERBS_1.0") !=
		       dlvsym(library, "ibv_reg_mr", "IBVERBS_1.1"),
	       "two definitions");
	expect(dlsym(library, "ibv_reg_mr") == dlvsym(library, "ibv_reg_mr", "IBVERBS_1.1"),
	       "the default one");
}

static void what_nobody_has_is_absent(int release)
{
	not_found("ibv_no_such_call", NULL);
	not_found("ibv_no_such_call", "IBVERBS_1.1");
	if (release < 59)
		not_found("ibv_cmd_alloc_dmah", NULL);
	else
		expect(dlsym(library, "ibv_cmd_alloc_dmah"), "on %d", release);
}

/* On a library with buffers these are its own, and served by it. */
static void buffers_work(struct ibv_context *context)
{
	void *(*alloc_buf)(struct ibv_pd *, size_t, struct ibv_buf **) =
		(void *(*)(struct ibv_pd *, size_t, struct ibv_buf **))dlsym(library,
									     "ibv_alloc_buf");
	void (*free_buf)(struct ibv_buf *) =
		(void (*)(struct ibv_buf *))dlsym(library, "ibv_free_buf");
	struct ibv_mr *(*reg_buf_mr)(struct ibv_pd *, struct ibv_buf *, void *, size_t, int) =
		(struct ibv_mr * (*)(struct ibv_pd *, struct ibv_buf *, void *, size_t, int))
			dlsym(library, "ibv_reg_buf_mr");
	struct ibv_pd pd = {.context = context};
	struct ibv_buf *buf = NULL;
	char *address;

	expect(alloc_buf && free_buf && reg_buf_mr, "the calls");
	address = alloc_buf(&pd, 10000, &buf);
	expect(address && buf, "a buffer: %s", strerror(errno));
	if (!address)
		return;
	memset(address, 1, 10000);
	/* The provider has no such operation, and says so itself. */
	errno = 0;
	expect(!reg_buf_mr(&pd, buf, address, 10000, 0) && errno == EOPNOTSUPP, "errno %d", errno);
	free_buf(buf);
}

int main(int count, char **arguments)
{
	const char *name = count > 1 ? arguments[1] : "libibverbs.so.1";
	int release = count > 2 ? atoi(arguments[2]) : 0;
	struct ibv_context *context;

	library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		printf("%s\n", dlerror());
		return 1;
	}
	expect(!dlsym(RTLD_DEFAULT, "ibv_get_device_list"), "opened for everybody");
	new_calls_are_at_their_versions();
	wrong_versions_find_nothing();
	the_old_definitions_are_the_librarys();
	what_nobody_has_is_absent(release);
	context = device_context(library);
	expect(context, "no context");
	if (context)
		buffers_work(context);
	return expectations();
}
