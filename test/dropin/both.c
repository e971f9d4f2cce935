// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * both PRELOAD_OFFSET PRELOAD_SIZE DROPIN_OFFSET DROPIN_SIZE
 *
 * The plain preload and the drop-in in one process, over the stand-in library: one of them does the
 * work, once. OFFSET and SIZE are where each keeps its table of domains. Compiled with OPENED, the
 * program opens libibverbs itself, with RTLD_LOCAL.
 */
#define _GNU_SOURCE
#include "expect.h"

#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

struct object {
	const char *file;
	size_t offset;
	size_t size;
	char *table;
	char before[4096];
};

static struct object objects[] = {{.file = "/libibvbuf-preload.so"}, {.file = "/libibverbs.so.1"}};

static int find_table(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *file = strrchr(info->dlpi_name, '/');
	size_t i;

	for (i = 0; i < 2; i++) {
		if (file && !strcmp(file, objects[i].file) && !objects[i].table)
			objects[i].table = (char *)info->dlpi_addr + objects[i].offset;
	}
	return 0;
}

static int tables_changed(void)
{
	int changed = 0;
	size_t i;

	for (i = 0; i < 2; i++)
		changed += memcmp(objects[i].before, objects[i].table, objects[i].size) != 0;
	return changed;
}

/* The calls, as the program is bound to them. */
static struct {
	struct ibv_pd *(*alloc_pd)(struct ibv_context *);
	int (*dealloc_pd)(struct ibv_pd *);
	void *(*alloc_buf)(struct ibv_pd *, size_t, struct ibv_buf **);
	void (*free_buf)(struct ibv_buf *);
	struct ibv_mr *(*reg_buf_mr)(struct ibv_pd *, struct ibv_buf *, void *, size_t, int);
	struct ibv_mr *(*reg_mr_ex)(struct ibv_pd *, struct ibv_mr_init_attr *);
	uint64_t (*count)(enum standin_function);
} verbs;

static void bind(void *library)
{
	*(void **)&verbs.alloc_pd = dlvsym(library, "ibv_alloc_pd", "IBVERBS_1.1");
	*(void **)&verbs.dealloc_pd = dlvsym(library, "ibv_dealloc_pd", "IBVERBS_1.1");
	*(void **)&verbs.alloc_buf = dlvsym(library, "ibv_alloc_buf", "IBVERBS_1.17");
	*(void **)&verbs.free_buf = dlvsym(library, "ibv_free_buf", "IBVERBS_1.17");
	*(void **)&verbs.reg_buf_mr = dlvsym(library, "ibv_reg_buf_mr", "IBVERBS_1.17");
	*(void **)&verbs.reg_mr_ex = dlvsym(library, "ibv_reg_mr_ex", "IBVERBS_1.15");
	*(void **)&verbs.count = dlsym(library, "standin_count");
}

static void work(void)
{
	struct ibv_mr_init_attr attr = {.comp_mask = IBV_REG_MR_MASK_ADDR, .length = 100};
	static struct ibv_context context;
	struct ibv_pd *pd = verbs.alloc_pd(&context);
	struct ibv_buf *buf = NULL;
	char *address;

	expect(pd && pd->context == &context, "a domain");
	expect(verbs.count(STANDIN_ibv_alloc_pd) == 1, "ibv_alloc_pd went to the library once");
	expect(tables_changed() == 1, "%d tables hold the domain", tables_changed());

	address = verbs.alloc_buf(pd, 5000, &buf);
	expect(address && buf, "a buffer: %s", strerror(errno));
	expect(verbs.reg_buf_mr(pd, buf, address, 5000, 0), "%s", strerror(errno));
	expect(verbs.count(STANDIN_ibv_reg_mr_iova2) == 1, "registered once");
	attr.addr = address;
	expect(verbs.reg_mr_ex(pd, &attr), "%s", strerror(errno));
	expect(verbs.count(STANDIN_ibv_reg_mr_iova2) == 2, "registered once more");

	/* The stand-in gives the same address to the next domain. */
	expect(!verbs.dealloc_pd(pd) && verbs.count(STANDIN_ibv_dealloc_pd) == 1, "deallocated");
	expect(verbs.alloc_pd(&context) == pd, "the address again");
	errno = 0;
	expect(!verbs.reg_buf_mr(pd, buf, address, 5000, 0) && errno == EINVAL,
	       "the buffer of a domain that is gone: errno %d", errno);
	expect(verbs.count(STANDIN_ibv_reg_mr_iova2) == 2, "the library was not asked");

	verbs.free_buf(buf);
	/* Said once, and by one. */
	verbs.free_buf(buf);
	verbs.free_buf(buf);
}

int main(int count, char **arguments)
{
	void *library = RTLD_DEFAULT;
	size_t i;

#ifdef OPENED
	library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		printf("%s\n", dlerror());
		return 1;
	}
#endif
	if (count < 5)
		return 2;
	for (i = 0; i < 2; i++) {
		objects[i].offset = strtoul(arguments[1 + 2 * i], NULL, 16);
		objects[i].size = strtoul(arguments[2 + 2 * i], NULL, 16);
	}
	dl_iterate_phdr(find_table, NULL);
	for (i = 0; i < 2; i++) {
		expect(objects[i].table, "%s is loaded", objects[i].file);
		expect(objects[i].size && objects[i].size <= sizeof(objects[i].before), "a size");
		if (broken)
			return expectations();
		memcpy(objects[i].before, objects[i].table, objects[i].size);
	}
	bind(library);
	expect(verbs.count, "the stand-in");
	if (verbs.count)
		work();
	return expectations();
}
