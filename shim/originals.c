// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Where the library's own functions are found.
 *
 * RTLD_NEXT sees a libibverbs that the program was linked with, and whatever other shim stands
 * between us and it. A program that opened libibverbs with RTLD_LOCAL keeps it out of that search;
 * there the loaded library itself is asked. Always by version node: dlsym() would take any of the
 * names that exist twice.
 *
 * Where this object is itself known as libibverbs.so.1, the library is the one that it needs, under
 * the name that it has there. Where another object of that kind is, it is the library, and has all.
 *
 * What has been found is kept, so the library is kept too: one reference to it is never given back.
 * Its path stays where it is as long, in the dynamic linker's own list.
 */
#define _GNU_SOURCE
#include "originals.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#define LIBRARY_NAME	   "libibverbs.so.1"
#define LIBRARY_OTHER_NAME "libibverbs-real.so.1"

static const struct {
	const char *name;
	const char *node;
} calls[ORIGINAL_COUNT] = {
#define EXPORTED(name, node, release, result, parameters) [ORIGINAL_##name] = {#name, node},
#define CALLED						  EXPORTED
#include "verbs_calls.def"
#undef EXPORTED
#undef CALLED
};

void *original_addresses[ORIGINAL_COUNT];
char original_absent;

static void *library;

/* A part of this very object, whichever file it was loaded from. */
static bool is_own(const void *address)
{
	Dl_info own, other;

	return dladdr(&original_absent, &own) && dladdr(address, &other) &&
	       own.dli_fbase == other.dli_fbase;
}

static void *find_next(const char *name, const char *node)
{
	void *address = dlvsym(RTLD_NEXT, name, node);

	return address && !is_own(address) ? address : NULL;
}

static void *find_in(void *handle, const char *name, const char *node)
{
	void *address = dlvsym(handle, name, node);

	return address && !is_own(address) ? address : NULL;
}

/* A reference to what is loaded under that name, unless that is this very object. */
static void *open_loaded(const char *name)
{
	void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
	struct link_map *map, *own;
	Dl_info info;

	if (!handle)
		return NULL;
	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) ||
	    !dladdr1(&original_absent, &info, (void **)&own, RTLD_DL_LINKMAP) || map != own)
		return handle;
	dlclose(handle);
	return NULL;
}

/* The loaded libibverbs, with a reference that holds it; NULL while there is none. */
static void *loaded_library(void)
{
	void *handle, *expected = NULL;
	void *anchor;
	Dl_info info;

	/* acquire: pairs with the release below */
	handle = __atomic_load_n(&library, __ATOMIC_ACQUIRE);
	if (handle)
		return handle;

	anchor = find_next(calls[ORIGINAL_ibv_get_device_list].name,
			   calls[ORIGINAL_ibv_get_device_list].node);
	if (anchor && dladdr(anchor, &info))
		handle = open_loaded(info.dli_fname);
	if (!handle)
		handle = open_loaded(LIBRARY_NAME);
	if (!handle)
		handle = open_loaded(LIBRARY_OTHER_NAME);
	if (!handle)
		return NULL;

	/* One reference is enough: whoever comes second gives his back. */
	if (!__atomic_compare_exchange_n(&library, &expected, handle, false, __ATOMIC_RELEASE,
					 __ATOMIC_ACQUIRE)) {
		dlclose(handle);
		handle = expected;
	}
	return handle;
}

/* As original_lookup(), in the library if there is one; errno is not preserved. */
static void *find(void *handle, const char *name, const char *node)
{
	void *address = find_next(name, node);

	if (!address && handle)
		address = find_in(handle, name, node);
	if (address)
		return address;
	dlerror(); /* our failed lookups are not the program's to read */
	/* Absent is an answer only once there is a library to be absent from. */
	return handle ? &original_absent : NULL;
}

void *original_lookup(const char *name, const char *node)
{
	int saved_errno = errno;
	void *address = find(loaded_library(), name, node);

	errno = saved_errno;
	return address;
}

static const char *library_path;
enum original_kind original_kind;

/* Where the functions are: the library's own path, and whether another shim has the buffers. */
static void resolve_objects(void *const addresses[ORIGINAL_COUNT])
{
	void *buffers = addresses[ORIGINAL_ibv_alloc_buf];
	enum original_kind kind = ORIGINAL_IS_LIBRARY;
	Dl_info of_library, of_buffers;

	if (!dladdr(addresses[ORIGINAL_ibv_get_device_list], &of_library))
		return;
	if (buffers != &original_absent && dladdr(buffers, &of_buffers) &&
	    of_buffers.dli_fbase != of_library.dli_fbase)
		kind = ORIGINAL_IS_OTHER_SHIM;
	__atomic_store_n(&original_kind, kind, __ATOMIC_RELAXED);
	__atomic_store_n(&library_path, of_library.dli_fname, __ATOMIC_RELAXED);
}

/*
 * All at once, for no later call to wait for a thread that is opening a library, nor for one that a
 * child does not have. Of several threads, each finds and stores the same, unless a second
 * libibverbs is loaded just then.
 */
static void resolve_all(void *handle)
{
	void *addresses[ORIGINAL_COUNT];
	unsigned int id;

	for (id = 0; id < ORIGINAL_COUNT; id++)
		addresses[id] = find(handle, calls[id].name, calls[id].node);
	if (addresses[ORIGINAL_ibv_get_device_list] != &original_absent)
		resolve_objects(addresses);
	for (id = 0; id < ORIGINAL_COUNT; id++)
		/* release: pairs with the acquire in original_address(); what is above goes before
		 */
		__atomic_store_n(&original_addresses[id], addresses[id], __ATOMIC_RELEASE);
}

void *original_resolve(enum original_id id)
{
	int saved_errno = errno;
	void *handle = loaded_library();
	void *address;

	if (handle) {
		resolve_all(handle);
		address = __atomic_load_n(&original_addresses[id], __ATOMIC_RELAXED);
	} else {
		/* Another shim may have it, and be there before any library is. */
		address = find(NULL, calls[id].name, calls[id].node);
		if (address)
			__atomic_store_n(&original_addresses[id], address, __ATOMIC_RELEASE);
	}
	errno = saved_errno;
	return address;
}

const char *original_library_path(void)
{
	/* Whoever sees the address of that function sees the path, which was stored before. */
	return original(ibv_get_device_list) ? __atomic_load_n(&library_path, __ATOMIC_RELAXED)
					     : NULL;
}

bool original_is_other_shim_resolve(void)
{
	/* That resolves the kind as well. */
	return original(ibv_get_device_list) &&
	       __atomic_load_n(&original_kind, __ATOMIC_RELAXED) == ORIGINAL_IS_OTHER_SHIM;
}
