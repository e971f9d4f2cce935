// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A hook has to know the operation that it took the place of. That is the same for all devices of a
 * provider, so each distinct operation gets a hook function of its own, from a small supply:
 * nothing has to be looked up, or forgotten when a device is closed.
 *
 * struct verbs_context grows at its front. Its offsets from the end, which is where struct
 * ibv_context lies, hold for all releases; its size tells which members there are.
 */
#define _GNU_SOURCE
#include "context_hooks.h"
#include "config.h"
#include "domains.h"
#include "originals.h"
#include "rehearsal.h"
#include "report.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* Distinct operations that can be hooked: at least as many as a process has providers. */
#define SUPPLY			8
#define FOR_EACH_OF_SUPPLY(use) use(0) use(1) use(2) use(3) use(4) use(5) use(6) use(7)

typedef void operation(void);

/**
 * struct hooks - the hooks of one operation
 * @taken: the operations whose places they took
 * @hooks: one for each
 * @hook_of_none: for a provider that lacks the operation, or NULL to leave it so
 */
struct hooks {
	operation **taken;
	operation *const *hooks;
	operation *hook_of_none;
};

static operation *parents[SUPPLY];
#define PARENT_HOOK(n)                                                                             \
	static struct ibv_pd *parent_hook_##n(struct ibv_context *context,                         \
					      struct ibv_parent_domain_init_attr *attr)            \
	{                                                                                          \
		return domain_alloc_parent((alloc_parent_domain_function *)parents[n], context,    \
					   attr);                                                  \
	}
FOR_EACH_OF_SUPPLY(PARENT_HOOK)
#define PARENT_HOOK_NAME(n) (operation *)parent_hook_##n,
static operation *const parent_hooks[SUPPLY] = {FOR_EACH_OF_SUPPLY(PARENT_HOOK_NAME)};

static struct ibv_pd *parent_hook_of_none(struct ibv_context *context,
					  struct ibv_parent_domain_init_attr *attr)
{
	return domain_alloc_parent(NULL, context, attr);
}

static operation *queries[SUPPLY];
#define QUERY_HOOK(n)                                                                              \
	static int query_hook_##n(struct ibv_context *context,                                     \
				  const struct ibv_query_device_ex_input *input,                   \
				  struct ibv_device_attr_ex *attr, size_t size)                    \
	{                                                                                          \
		return rehearsal_query_device((query_device_function *)queries[n], context, input, \
					      attr, size);                                         \
	}
FOR_EACH_OF_SUPPLY(QUERY_HOOK)
#define QUERY_HOOK_NAME(n) (operation *)query_hook_##n,
static operation *const query_hooks[SUPPLY] = {FOR_EACH_OF_SUPPLY(QUERY_HOOK_NAME)};

static operation *queues[SUPPLY];
#define QUEUE_HOOK(n)                                                                              \
	static struct ibv_cq_ex *queue_hook_##n(struct ibv_context *context,                       \
						struct ibv_cq_init_attr_ex *attr)                  \
	{                                                                                          \
		return rehearsal_create_cq((create_cq_function *)queues[n], context, attr);        \
	}
FOR_EACH_OF_SUPPLY(QUEUE_HOOK)
#define QUEUE_HOOK_NAME(n) (operation *)queue_hook_##n,
static operation *const queue_hooks[SUPPLY] = {FOR_EACH_OF_SUPPLY(QUEUE_HOOK_NAME)};

/* The hook for an operation, which is remembered; NULL when the supply is used up. */
static operation *hook_for(const struct hooks *hooks, operation *taken)
{
	size_t i;

	for (i = 0; i < SUPPLY; i++) {
		operation *expected = NULL;

		/* A hook is found in a context only after it is complete: relaxed will do. */
		if (__atomic_compare_exchange_n(&hooks->taken[i], &expected, taken, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
		    expected == taken)
			return hooks->hooks[i];
	}
	return NULL;
}

/* cppcheck-suppress constParameter ; there is no pointer to a const function */
static bool is_hook(const struct hooks *hooks, operation *function)
{
	size_t i;

	if (function == hooks->hook_of_none)
		return true;
	for (i = 0; i < SUPPLY; i++)
		if (function == hooks->hooks[i])
			return true;
	return false;
}

static void exchange(operation **member, const struct hooks *hooks)
{
	operation *taken = __atomic_load_n(member, __ATOMIC_RELAXED);
	operation *hook = taken ? NULL : hooks->hook_of_none;

	if (taken && !is_hook(hooks, taken))
		hook = hook_for(hooks, taken);
	/* release: what the hook needs is there before the hook; the caller of it is ordered by use
	 */
	if (hook)
		__atomic_compare_exchange_n(member, &taken, hook, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED);
}

/*
 * One provider tells its own contexts from others by the address of alloc_parent_domain; its
 * direct-verbs calls would fail with a hook in the place.
 */
static bool compares_the_operation(const struct ibv_context *context)
{
	static const char link[] = "/device/driver";
	char path[PATH_MAX + sizeof(link)], driver[PATH_MAX];
	const char *name;
	ssize_t length;

	if (!context->device)
		return false;
	path[0] = '\0';
	strncat(path, context->device->ibdev_path, PATH_MAX - 1);
	strncat(path, link, sizeof(path) - strlen(path) - 1);
	length = readlink(path, driver, sizeof(driver) - 1);
	if (length < 0)
		return false;
	driver[length] = '\0';
	name = strrchr(driver, '/');
	return name && !strcmp(name + 1, "ionic");
}

/* Whether the context is large enough to have the member. */
#define HAS(extended, member)                                                                      \
	((extended)->sz >= sizeof(*(extended)) - offsetof(struct verbs_context, member))

#define EXCHANGE(extended, member, hooks)                                                          \
	do {                                                                                       \
		if (HAS(extended, member))                                                         \
			exchange((operation **)(void *)&(extended)->member, hooks);                \
	} while (0)

uint64_t context_capabilities(struct ibv_context *context)
{
	struct verbs_context *extended = verbs_get_ctx(context);
	struct ibv_device_attr_ex attr = {.comp_mask = 0};

	if (!extended || !HAS(extended, query_device_ex) || !extended->query_device_ex)
		return 0;
	if (extended->query_device_ex(context, NULL, &attr, sizeof(attr)))
		return 0;
	return attr.device_cap_flags_ex;
}

static void hook_rehearsal(struct verbs_context *extended)
{
	static const struct hooks on_query = {queries, query_hooks, NULL};
	static const struct hooks on_queue = {queues, queue_hooks, NULL};
	static const struct hooks on_parent = {parents, parent_hooks,
					       (operation *)parent_hook_of_none};

	EXCHANGE(extended, query_device_ex, &on_query);
	EXCHANGE(extended, create_cq_ex, &on_queue);
	EXCHANGE(extended, alloc_parent_domain, &on_parent);
}

static void hook_opt_in(struct verbs_context *extended)
{
	static const struct hooks on_parent = {parents, parent_hooks, NULL};

	EXCHANGE(extended, alloc_parent_domain, &on_parent);
}

void context_hook(struct ibv_context *context)
{
	struct verbs_context *extended = verbs_get_ctx(context);
	int saved_errno = errno;

	if (!extended || (original(ibv_alloc_buf) && !config_get()->cc_rehearsal))
		return;
	if (compares_the_operation(context))
		report_problem(PROBLEM_PROVIDER_LEFT_ALONE, 0, NULL);
	else if (config_get()->cc_rehearsal)
		hook_rehearsal(extended);
	else
		hook_opt_in(extended);
	errno = saved_errno;
}
