// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "contract.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ibv_context context;

struct ibv_pd *make_domain(void)
{
	struct ibv_pd *pd = ibv_alloc_pd(&context);

	cr_assert_not_null(pd);
	return pd;
}

struct memory make_buffer_in(struct ibv_pd *pd, size_t size)
{
	struct memory memory = {.pd = pd, .size = size};

	memory.address = ibv_alloc_buf(pd, size, &memory.buf);
	cr_assert_not_null(memory.address, "no buffer of %zu bytes: errno %d", size, errno);
	return memory;
}

struct memory make_buffer(size_t size)
{
	return make_buffer_in(make_domain(), size);
}

bool is_registrable(const struct memory *memory)
{
	struct ibv_mr *mr = ibv_reg_buf_mr(memory->pd, memory->buf, memory->address, memory->size,
					   IBV_ACCESS_LOCAL_WRITE);

	return mr && !ibv_dereg_mr(mr);
}

size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t mapped_pages(const void *address, size_t length)
{
	size_t page = page_size();
	size_t mapped = 0;
	size_t offset;
	unsigned char state;

	for (offset = 0; offset < length; offset += page)
		mapped += !mincore((char *)(uintptr_t)address + offset, page, &state);
	return mapped;
}

bool is_mapped(const void *address, size_t length)
{
	return mapped_pages(address, length) == (length + page_size() - 1) / page_size();
}

bool is_unmapped(const void *address, size_t length)
{
	return mapped_pages(address, length) == 0;
}

bool has_mapping_flag(const void *address, const char *flag)
{
	FILE *file = fopen("/proc/self/smaps", "r");
	bool inside = false;
	bool found = false;
	unsigned long start, end;
	char line[PATH_MAX];

	cr_assert_not_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			inside = WORD(address) >= start && WORD(address) < end;
		if (inside && !strncmp(line, "VmFlags:", 8) && strstr(line, flag))
			found = true;
	}
	fclose(file);
	return found;
}

size_t address_space(void)
{
	unsigned long pages;
	FILE *file = fopen("/proc/self/statm", "r");

	cr_assert_not_null(file);
	cr_assert_eq(fscanf(file, "%lu", &pages), 1);
	fclose(file);
	return pages * page_size();
}

void limit_address_space(size_t more)
{
	struct rlimit limit;

	limit.rlim_cur = address_space() + more;
	limit.rlim_max = RLIM_INFINITY;
	cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
}

static char scratch[PATH_MAX];
static pid_t scratch_owner;

static void remove_scratch(void)
{
	char command[PATH_MAX + 16];

	if (getpid() != scratch_owner)
		return;
	snprintf(command, sizeof(command), "rm -rf '%s'", scratch);
	unsetenv("LD_PRELOAD");
	if (system(command))
		perror(command);
}

const char *scratch_path(const char *name)
{
	static char path[2 * PATH_MAX];

	if (!*scratch) {
		snprintf(scratch, sizeof(scratch), "%s/contract.XXXXXX",
			 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
		cr_assert_not_null(mkdtemp(scratch));
		cr_assert_eq(chmod(scratch, 0755), 0);
		scratch_owner = getpid();
		atexit(remove_scratch);
	}
	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	return path;
}

const char *scratch_file(const char *name, const void *content, size_t length)
{
	const char *path = scratch_path(name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, content, length), (ssize_t)length);
	close(fd);
	return path;
}

const char *read_file(const char *path)
{
	static char text[64 << 10];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return NULL;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	cr_assert_geq(length, 0);
	text[length] = '\0';
	return text;
}

int in_child(int (*run)(void *argument), void *argument)
{
	pid_t child = fork();
	int status;

	cr_assert_geq(child, 0);
	if (!child) {
		alarm(20);
		_exit(run(argument));
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void free_twice(void)
{
	struct memory memory;

	/* So that the library is asked to undo it, once, when the buffer goes. */
	standin_turn(STANDIN_FORK_SUPPORT, true);
	memory = make_buffer(1);
	ibv_free_buf(memory.buf);
	ibv_free_buf(memory.buf);
}
