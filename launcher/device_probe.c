// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "device_probe.h"
#include "message.h"
#include "unsupported.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TIME_LIMIT_MS 10000
/* How long a process that was killed may take to end. */
#define MOMENT_MS 200

/* Ends of the probing process that say more than the devices it has told of. */
enum { PROBE_DONE, PROBE_NO_LIBRARY, PROBE_NO_CALLS, PROBE_NO_LIST };

struct verbs_calls {
	struct ibv_device **(*get_device_list)(int *count);
	const char *(*get_device_name)(struct ibv_device *device);
	struct ibv_context *(*open_device)(struct ibv_device *device);
	int (*close_device)(struct ibv_context *context);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
	int (*dealloc_pd)(struct ibv_pd *pd);
	int (*dereg_mr)(struct ibv_mr *mr);
	struct ibv_mr *(*reg_dmabuf_mr)(struct ibv_pd *pd, uint64_t offset, size_t length,
					uint64_t iova, int fd, int access);
};

static bool find_calls(struct verbs_calls *calls, void *library)
{
	const struct {
		void *call;
		const char *name, *node;
	} table[] = {
		{&calls->get_device_list, "ibv_get_device_list", "IBVERBS_1.1"},
		{&calls->get_device_name, "ibv_get_device_name", "IBVERBS_1.1"},
		{&calls->open_device, "ibv_open_device", "IBVERBS_1.1"},
		{&calls->close_device, "ibv_close_device", "IBVERBS_1.1"},
		{&calls->alloc_pd, "ibv_alloc_pd", "IBVERBS_1.1"},
		{&calls->dealloc_pd, "ibv_dealloc_pd", "IBVERBS_1.1"},
		{&calls->dereg_mr, "ibv_dereg_mr", "IBVERBS_1.1"},
		/* the only one that may be absent */
		{&calls->reg_dmabuf_mr, "ibv_reg_dmabuf_mr", "IBVERBS_1.12"},
	};
	const size_t count = sizeof(table) / sizeof(table[0]);
	void *address;
	size_t i;

	for (i = 0; i < count; i++) {
		address = dlvsym(library, table[i].name, table[i].node);
		if (!address && i < count - 1)
			return false;
		memcpy(table[i].call, &address, sizeof(address));
	}
	return true;
}

/* No descriptor can be -1, so a device that looks at it supports such memory. */
static void ask_dmabuf(struct device_facts *facts, const struct verbs_calls *calls,
		       struct ibv_pd *pd)
{
	struct ibv_mr *mr;

	if (!calls->reg_dmabuf_mr) {
		facts->dmabuf = DMABUF_ABSENT;
		return;
	}
	errno = 0;
	mr = calls->reg_dmabuf_mr(pd, 0, 4096, 0, -1, IBV_ACCESS_LOCAL_WRITE);
	facts->dmabuf_error = errno;
	if (mr)
		calls->dereg_mr(mr);
	if (mr || facts->dmabuf_error == EBADF)
		facts->dmabuf = DMABUF_YES;
	else if (is_unsupported(facts->dmabuf_error))
		facts->dmabuf = DMABUF_NO;
	else
		facts->dmabuf = DMABUF_OTHER;
}

/*
 * The context grows at its front, and says how far: what this file was compiled with may know more
 * of it than the library has, or less.
 */
static void ask_capabilities(struct device_facts *facts, struct ibv_context *context)
{
	struct verbs_context *extended = verbs_get_ctx_op(context, query_device_ex);
	struct ibv_device_attr_ex attributes;

	memset(&attributes, 0, sizeof(attributes));
	if (!extended || extended->query_device_ex(context, NULL, &attributes, sizeof(attributes)))
		return;
	facts->capabilities_known = true;
	facts->bounces = attributes.device_cap_flags_ex & IBV_DEVICE_CC_DMA_BOUNCE;
}

static void ask_device(struct device_facts *facts, const struct verbs_calls *calls,
		       struct ibv_device *device)
{
	struct ibv_context *context;
	struct ibv_pd *pd;

	errno = 0;
	context = calls->open_device(device);
	if (!context) {
		facts->open_error = errno ? errno : EIO;
		return;
	}
	ask_capabilities(facts, context);
	errno = 0;
	pd = calls->alloc_pd(context);
	if (pd) {
		ask_dmabuf(facts, calls, pd);
		calls->dealloc_pd(pd);
	} else {
		facts->domain_error = errno ? errno : EIO;
	}
	calls->close_device(context);
}

static void tell(int to, const struct device_facts *facts)
{
	/* Less than what a pipe takes in one piece. */
	if (write(to, facts, sizeof(*facts)) != (ssize_t)sizeof(*facts))
		_exit(PROBE_DONE);
}

static void probe(int to, const char *path)
{
	struct ibv_device **devices;
	struct device_facts facts;
	struct verbs_calls calls;
	const char *name;
	void *library;
	int count, i;

	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		_exit(PROBE_NO_LIBRARY);
	if (!find_calls(&calls, library))
		_exit(PROBE_NO_CALLS);
	devices = calls.get_device_list(&count);
	if (!devices)
		_exit(PROBE_NO_LIST);
	for (i = 0; i < count; i++) {
		memset(&facts, 0, sizeof(facts));
		name = calls.get_device_name(devices[i]);
		snprintf(facts.name, sizeof(facts.name), "%s", name ? name : "?");
		/* once before, so that a device that ends the process has a name */
		tell(to, &facts);
		ask_device(&facts, &calls, devices[i]);
		facts.finished = true;
		tell(to, &facts);
	}
	_exit(PROBE_DONE);
}

static void take(struct probe_result *result, const struct device_facts *facts)
{
	if (!facts->finished) {
		result->devices = grow(result->devices, result->count + 1, sizeof(*facts));
		result->count++;
	}
	if (result->count)
		result->devices[result->count - 1] = *facts;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* False if the time ran out. */
static bool listen_to_probe(struct probe_result *result, int from, int64_t end)
{
	struct pollfd wait = {.fd = from, .events = POLLIN};
	struct device_facts facts;
	int64_t left;
	int ready;

	for (;;) {
		left = end - now_ms();
		if (left <= 0)
			return false;
		ready = poll(&wait, 1, (int)left);
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return ready < 0;
		if (read(from, &facts, sizeof(facts)) != (ssize_t)sizeof(facts))
			return true;
		facts.name[sizeof(facts.name) - 1] = '\0';
		take(result, &facts);
	}
}

/*
 * A device that does not answer may hold the process in the kernel, where no signal ends it: it is
 * never waited for without a limit. False if the time ran out.
 */
static bool wait_for_end(pid_t process, int *status, int64_t end)
{
	const struct timespec pause = {.tv_nsec = 2000000};

	while (waitpid(process, status, WNOHANG) != process) {
		if (now_ms() >= end)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

/*
 * Above the standard streams: where these are closed, the pipe would get their numbers, and in the
 * child they are used for something else.
 */
static bool open_pipe(int ends[2])
{
	int low[2], i;

	if (pipe2(low, O_CLOEXEC))
		return false;
	for (i = 0; i < 2; i++)
		ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(low[0]);
	close(low[1]);
	return ends[0] >= 0 && ends[1] >= 0;
}

static char *describe_end(const struct probe_result *result, bool in_time, int status)
{
	const char *where = "loading libibverbs and its providers";

	if (result->count && !result->devices[result->count - 1].finished)
		where = print_string("asking the device %s",
				     result->devices[result->count - 1].name);
	if (!in_time)
		return print_string("%s took more than %d seconds", where, TIME_LIMIT_MS / 1000);
	if (WIFSIGNALED(status))
		return print_string("%s ended with signal %d (%s)", where, WTERMSIG(status),
				    strsignal(WTERMSIG(status)));
	switch (WEXITSTATUS(status)) {
	case PROBE_DONE:
	/* as it is where the kernel has no RDMA subsystem at all */
	case PROBE_NO_LIST:
		return NULL;
	case PROBE_NO_LIBRARY:
		return print_string("libibverbs cannot be loaded");
	case PROBE_NO_CALLS:
		return print_string("libibverbs lacks calls that every release has");
	default:
		return print_string("%s ended with status %d", where, WEXITSTATUS(status));
	}
}

void probe_devices(struct probe_result *result, const char *library)
{
	int ends[2], status = 0, null;
	bool in_time;
	int64_t end;
	pid_t child;

	memset(result, 0, sizeof(*result));
	if (!open_pipe(ends)) {
		result->failure = print_string("no pipe: %s", strerror(errno));
		return;
	}
	fflush(stdout);
	child = fork();
	if (child < 0) {
		result->failure = print_string("no process: %s", strerror(errno));
		close(ends[0]);
		close(ends[1]);
		return;
	}
	if (!child) {
		/* libibverbs has things to say where there is no device */
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		probe(ends[1], library);
	}
	close(ends[1]);
	end = now_ms() + TIME_LIMIT_MS;
	in_time = listen_to_probe(result, ends[0], end) && wait_for_end(child, &status, end);
	close(ends[0]);
	if (!in_time) {
		kill(child, SIGKILL);
		wait_for_end(child, &status, now_ms() + MOMENT_MS);
	}
	result->failure = describe_end(result, in_time, status);
}
