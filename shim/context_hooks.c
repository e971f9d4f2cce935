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
#include "native_buffers.h"
#include "rehearsal.h"
#include "report.h"
#include "trace/trace_calls.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* Distinct operations that can be hooked: at least as many as a process has providers. */
#define SUPPLY 8
#define FOR_EACH_OF_SUPPLY(use, ...)                                                               \
	use(0, __VA_ARGS__) use(1, __VA_ARGS__) use(2, __VA_ARGS__) use(3, __VA_ARGS__)            \
		use(4, __VA_ARGS__) use(5, __VA_ARGS__) use(6, __VA_ARGS__) use(7, __VA_ARGS__)

#define CALLER __builtin_return_address(0)

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

#define HOOK(n, name, type, result, parameters, function, ...)                                     \
	static result name##_hook_##n parameters                                                   \
	{                                                                                          \
		/* Pairs with the release in exchange(); verbs.h loads the pointer as it likes. */ \
		__atomic_thread_fence(__ATOMIC_ACQUIRE);                                           \
		return function((type *)name##_taken[n], __VA_ARGS__);                             \
	}
#define HOOK_NAME(n, name) (operation *)name##_hook_##n,

/* Hooks that call @function with the provider's own operation, of @type, and the arguments. */
#define HOOKS(name, type, result, parameters, ...)                                                 \
	static operation *name##_taken[SUPPLY];                                                    \
	FOR_EACH_OF_SUPPLY(HOOK, name, type, result, parameters, __VA_ARGS__)                      \
	static operation *const name##_hooks[SUPPLY] = {FOR_EACH_OF_SUPPLY(HOOK_NAME, name)};

HOOKS(parent, alloc_parent_domain_function, struct ibv_pd *,
      (struct ibv_context * context, struct ibv_parent_domain_init_attr *attr),
      trace_alloc_parent_domain, context, attr, CALLER)

static struct ibv_pd *parent_hook_of_none(struct ibv_context *context,
					  struct ibv_parent_domain_init_attr *attr)
{
	return trace_alloc_parent_domain(NULL, context, attr, CALLER);
}

HOOKS(query, query_device_function, int,
      (struct ibv_context * context, const struct ibv_query_device_ex_input *input,
       struct ibv_device_attr_ex *attr, size_t size),
      rehearsal_query_device, context, input, attr, size)

HOOKS(queue, create_cq_function, struct ibv_cq_ex *,
      (struct ibv_context * context, struct ibv_cq_init_attr_ex *attr), rehearsal_create_cq,
      context, attr)

HOOKS(reg_dm_mr, reg_dm_mr_function, struct ibv_mr *,
      (struct ibv_pd * pd, struct ibv_dm *dm, uint64_t dm_offset, size_t length,
       unsigned int access),
      trace_reg_dm_mr, pd, dm, dm_offset, length, access, CALLER)

HOOKS(alloc_null_mr, alloc_null_mr_function, struct ibv_mr *, (struct ibv_pd * pd),
      trace_alloc_null_mr, pd, CALLER)

HOOKS(alloc_mw, alloc_mw_function, struct ibv_mw *, (struct ibv_pd * pd, enum ibv_mw_type type),
      trace_alloc_mw, pd, type, CALLER)

HOOKS(dealloc_mw, dealloc_mw_function, int, (struct ibv_mw * mw), trace_dealloc_mw, mw, CALLER)

/* The hook for an operation, which is remembered; NULL when the supply is used up. */
static operation *hook_for(const struct hooks *hooks, operation *taken)
{
	size_t i;

	for (i = 0; i < SUPPLY; i++) {
		operation *expected = NULL;

		/* Relaxed: exchange() makes it known. */
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
	/* release: what the hook needs is there before the hook; pairs with the fence in it */
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
	static const struct hooks on_query = {query_taken, query_hooks, NULL};
	static const struct hooks on_queue = {queue_taken, queue_hooks, NULL};

	EXCHANGE(extended, query_device_ex, &on_query);
	EXCHANGE(extended, create_cq_ex, &on_queue);
}

static void hook_parent_domains(struct verbs_context *extended, bool also_of_none)
{
	static const struct hooks on_parent = {parent_taken, parent_hooks, NULL};
	static const struct hooks on_any_parent = {parent_taken, parent_hooks,
						   (operation *)parent_hook_of_none};

	EXCHANGE(extended, alloc_parent_domain, also_of_none ? &on_any_parent : &on_parent);
}

/* What no symbol shows of the registrations. */
static void hook_registrations(struct verbs_context *extended)
{
	static const struct hooks on_reg_dm_mr = {reg_dm_mr_taken, reg_dm_mr_hooks, NULL};
	static const struct hooks on_alloc_null_mr = {alloc_null_mr_taken, alloc_null_mr_hooks,
						      NULL};
	static const struct hooks on_alloc_mw = {alloc_mw_taken, alloc_mw_hooks, NULL};
	static const struct hooks on_dealloc_mw = {dealloc_mw_taken, dealloc_mw_hooks, NULL};
	struct ibv_context_ops *operations = &extended->context.ops;

	EXCHANGE(extended, reg_dm_mr, &on_reg_dm_mr);
	EXCHANGE(extended, alloc_null_mr, &on_alloc_null_mr);
	exchange((operation **)(void *)&operations->alloc_mw, &on_alloc_mw);
	exchange((operation **)(void *)&operations->dealloc_mw, &on_dealloc_mw);
}

void context_hook(struct ibv_context *context)
{
	struct verbs_context *extended = context ? verbs_get_ctx(context) : NULL;
	const struct config *config = config_get();
	bool has_opt_in = !native_buffers_are_used();
	int saved_errno = errno;

	if (!extended)
		return;
	if (*config->trace)
		hook_registrations(extended);
	if (compares_the_operation(context)) {
		if (has_opt_in)
			report_problem(PROBLEM_PROVIDER_LEFT_ALONE, 0, NULL);
	} else {
		if (config->cc_rehearsal)
			hook_rehearsal(extended);
		if (has_opt_in || *config->trace)
			hook_parent_domains(extended, config->cc_rehearsal);
	}
	errno = saved_errno;
}
