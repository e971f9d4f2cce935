// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "domains.h"
#include "config.h"
#include "context_hooks.h"
#include "handle_table.h"
#include "native_buffers.h"
#include "originals.h"
#include "raw_file.h"
#include "report.h"
#include "unsupported.h"

#include <errno.h>
#include <stdlib.h>

#define HEAP_OF_CC_GUESTS "system_cc_shared"

/* Of enum ibv_parent_domain_init_attr_mask, as its own comp_mask has it. */
#define ALLOW_UNPROTECTED ((uint32_t)IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC)

/* What a stand-in for a parent domain can be asked for. */
#define KNOWN_TO_STAND_INS                                                                         \
	((uint32_t)(IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |                                       \
		    IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT))

/**
 * struct domain - what is known of a domain
 * @serial: no other domain of this process has it
 * @unprotected: where its buffers come from if the opt-in took effect, else NULL
 * @stand_ins: parent domains that are this very object
 * @buffers: that live
 * @is_leaving: the thread that deallocates it takes it out, and frees this
 */
struct domain {
	uint64_t serial;
	struct domain_memory *unprotected;
	uint64_t stand_ins;
	uint64_t buffers;
	bool is_leaving;
};

/* From the address of a domain to its struct domain. */
static struct handle_table domains = HANDLE_TABLE_INITIALIZER(1);

static uint64_t last_serial;

/* What last_serial was when a domain last went; or more. Domains that came later are all there. */
static uint64_t last_serial_at_a_loss;

static struct domain *find(const struct ibv_pd *pd)
{
	uint64_t record;

	if (!handle_table_lookup(&domains, (uintptr_t)pd, &record))
		return NULL;
	return (struct domain *)(uintptr_t)record;
}

static void note_loss(void)
{
	uint64_t now = __atomic_load_n(&last_serial, __ATOMIC_RELAXED);
	uint64_t noted = __atomic_load_n(&last_serial_at_a_loss, __ATOMIC_RELAXED);

	/* Of two at the same time, the later one is noted. */
	while (noted < now &&
	       !__atomic_compare_exchange_n(&last_serial_at_a_loss, &noted, now, true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static void discard_memory(struct domain_memory *memory)
{
	if (memory && memory->device_fd >= 0)
		raw_close(memory->device_fd);
	free(memory);
}

static void discard(struct domain *domain)
{
	if (!domain)
		return;
	discard_memory(domain->unprotected);
	free(domain);
}

/*
 * What is still known of an earlier domain at that address: it was deallocated behind our back, by
 * the library itself, or by a thread that has yet to take it out.
 */
static void forget_earlier(const struct ibv_pd *pd)
{
	struct domain *earlier;
	uint64_t record;

	if (!handle_table_remove(&domains, (uintptr_t)pd, &record))
		return;
	note_loss();
	earlier = (struct domain *)(uintptr_t)record;
	if (!__atomic_load_n(&earlier->is_leaving, __ATOMIC_RELAXED))
		discard(earlier);
}

/* Without memory for it, the domain is known by its address alone. */
static void remember(const struct ibv_pd *pd, struct domain *domain)
{
	uint64_t record = (uintptr_t)domain;

	forget_earlier(pd);
	if (domain && handle_table_insert(&domains, (uintptr_t)pd, &record))
		discard(domain);
}

static struct domain *new_domain(void)
{
	struct domain *domain = calloc(1, sizeof(*domain));

	if (domain)
		domain->serial = __atomic_add_fetch(&last_serial, 1, __ATOMIC_RELAXED);
	return domain;
}

static struct ibv_pd *made(struct ibv_pd *pd)
{
	int saved_errno = errno;

	if (!pd)
		return NULL;
	context_hook(pd->context);
	if (native_buffers_are_used())
		return pd;
	remember(pd, new_domain());
	errno = saved_errno;
	return pd;
}

struct ibv_pd *domain_alloc(struct ibv_context *context)
{
	original_ibv_alloc_pd_function *alloc_pd = original(ibv_alloc_pd);

	config_get();
	if (!alloc_pd) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return made(alloc_pd(context));
}

struct ibv_pd *domain_import(struct ibv_context *context, uint32_t pd_handle)
{
	original_ibv_import_pd_function *import_pd = original(ibv_import_pd);

	config_get();
	if (!import_pd) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return made(import_pd(context, pd_handle));
}

/*
 * A domain is about to be deallocated; NULL if it is unknown, or another thread does that. Until it
 * is gone it stays what it is: the call may fail, because others use it.
 */
static struct domain *leave(const struct ibv_pd *pd)
{
	struct domain *domain = find(pd);

	/* Before the call: after it, another thread may be given the address. */
	if (!domain || __atomic_exchange_n(&domain->is_leaving, true, __ATOMIC_RELAXED))
		return NULL;
	note_loss();
	return domain;
}

static void stay(struct domain *domain)
{
	if (domain)
		__atomic_store_n(&domain->is_leaving, false, __ATOMIC_RELAXED);
}

/* The domain that was at @pd is gone: with what was known of it, and perhaps too early. */
static void gone(const struct ibv_pd *pd, struct domain *domain, const void *caller)
{
	int saved_errno = errno;

	if (!domain)
		return;
	/* Unless there is another at the address by now. */
	handle_table_remove_if(&domains, (uintptr_t)pd, (uintptr_t)domain);
	if (__atomic_load_n(&domain->buffers, __ATOMIC_RELAXED))
		report_problem(PROBLEM_DEALLOC_WITH_BUFFERS, (uintptr_t)pd, caller);
	discard(domain);
	errno = saved_errno;
}

/* One parent domain less that is this very object; false if there is none. */
static bool drop_stand_in(struct ibv_pd *pd)
{
	struct domain *domain = find(pd);
	uint64_t count;

	if (!domain)
		return false;
	count = __atomic_load_n(&domain->stand_ins, __ATOMIC_RELAXED);
	while (count)
		if (__atomic_compare_exchange_n(&domain->stand_ins, &count, count - 1, true,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	return false;
}

int domain_dealloc(struct ibv_pd *pd, const void *caller, bool *is_gone)
{
	original_ibv_dealloc_pd_function *dealloc_pd = original(ibv_dealloc_pd);
	struct domain *domain;
	int result;

	*is_gone = false;
	config_get();
	if (!dealloc_pd)
		return EOPNOTSUPP;
	if (drop_stand_in(pd))
		return 0;
	domain = leave(pd);
	result = dealloc_pd(pd);
	*is_gone = !result;
	if (*is_gone)
		gone(pd, domain, caller);
	else
		stay(domain);
	return result;
}

void domain_unimport(struct ibv_pd *pd, const void *caller)
{
	original_ibv_unimport_pd_function *unimport_pd = original(ibv_unimport_pd);
	struct domain *domain;

	config_get();
	if (!unimport_pd)
		return;
	domain = leave(pd);
	unimport_pd(pd);
	gone(pd, domain, caller);
}

/*
 * Where the buffers of an unprotected domain come from. It is opened now, so that what is wrong
 * with it is said now. NULL with errno set.
 */
static struct domain_memory *open_unprotected_memory(void)
{
	const struct config *config = config_get();
	bool is_udmabuf = config->cc_rehearsal && !*config->cc_heap;
	struct domain_memory *memory;
	int fd;

	if (is_udmabuf)
		fd = backing_open_udmabuf();
	else
		fd = backing_open_heap(*config->cc_heap ? config->cc_heap : HEAP_OF_CC_GUESTS);
	if (fd < 0)
		return NULL;
	memory = malloc(sizeof(*memory));
	if (!memory) {
		raw_close(fd);
		errno = ENOMEM;
		return NULL;
	}
	*memory = (struct domain_memory){
		.backing = is_udmabuf ? &backing_udmabuf : &backing_dma_heap,
		.choice = &config->backing,
		.device_fd = fd,
	};
	return memory;
}

/* Give a domain its memory; a stand-in may have been given it before. False if it is unknown. */
static bool adopt(const struct ibv_pd *pd, struct domain_memory *memory)
{
	struct domain_memory *expected = NULL;
	struct domain *domain = find(pd);

	if (!domain)
		return false;
	/* release: pairs with the acquire in domain_memory() */
	if (!__atomic_compare_exchange_n(&domain->unprotected, &expected, memory, false,
					 __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		discard_memory(memory);
	return true;
}

/* The provider's parent domain or, in a rehearsal without one, the domain itself, counted. */
static struct ibv_pd *make_parent(alloc_parent_domain_function *provider,
				  struct ibv_context *context,
				  struct ibv_parent_domain_init_attr *attr)
{
	int saved_errno = errno;
	struct domain *domain;
	struct ibv_pd *parent;

	if (provider) {
		parent = provider(context, attr);
		if (parent || !is_unsupported(errno) || !config_get()->cc_rehearsal)
			return parent;
	}
	domain = (attr->comp_mask & ~KNOWN_TO_STAND_INS) ? NULL : find(attr->pd);
	if (!domain) {
		errno = EINVAL;
		return NULL;
	}
	__atomic_add_fetch(&domain->stand_ins, 1, __ATOMIC_RELAXED);
	errno = saved_errno;
	return attr->pd;
}

/*
 * Providers know the opt-in since the library has buffers: such a one has queues to place as well.
 * In a rehearsal they need not know that there is anything to opt into.
 */
static bool is_shown_opt_in(void)
{
	return original(ibv_alloc_buf) && !config_get()->cc_rehearsal;
}

/* Only what the mask names is read. */
static struct ibv_parent_domain_init_attr
without_opt_in(const struct ibv_parent_domain_init_attr *attr)
{
	struct ibv_parent_domain_init_attr copy = {
		.pd = attr->pd,
		.td = attr->td,
		.comp_mask = attr->comp_mask & ~ALLOW_UNPROTECTED,
	};

	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) {
		copy.alloc = attr->alloc;
		copy.free = attr->free;
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
		copy.pd_context = attr->pd_context;
	return copy;
}

struct ibv_pd *domain_alloc_parent(alloc_parent_domain_function *provider,
				   struct ibv_context *context,
				   struct ibv_parent_domain_init_attr *attr)
{
	bool is_opt_in = attr->comp_mask & ALLOW_UNPROTECTED;
	struct ibv_parent_domain_init_attr plain = without_opt_in(attr);
	struct domain_memory *memory = NULL;
	struct ibv_pd *parent;
	bool is_gone;
	int error;

	/* Here for its trace only. */
	if (native_buffers_are_used())
		return provider(context, attr);
	if (is_opt_in && (context_capabilities(context) & IBV_DEVICE_CC_DMA_BOUNCE)) {
		memory = open_unprotected_memory();
		if (!memory)
			return NULL;
	}
	parent = make_parent(provider, context, is_opt_in && !is_shown_opt_in() ? &plain : attr);
	if (!parent) {
		error = errno;
		goto err_memory;
	}
	if (parent != attr->pd)
		made(parent);
	if (memory && !adopt(parent, memory)) {
		error = ENOMEM;
		goto err_parent;
	}
	return parent;

err_parent:
	domain_dealloc(parent, NULL, &is_gone);
err_memory:
	discard_memory(memory);
	errno = error;
	return NULL;
}

bool domain_is(const struct ibv_pd *pd, uint64_t serial)
{
	const struct domain *domain;

	/*
	 * Relaxed: whoever may not use a domain any more, as it is gone, knows so from the thread
	 * that deallocated it, and with that what it noted.
	 */
	if (__builtin_expect(serial > __atomic_load_n(&last_serial_at_a_loss, __ATOMIC_RELAXED), 1))
		return true;
	domain = find(pd);
	return serial == (domain ? domain->serial : 0);
}

struct domain_memory domain_memory(const struct ibv_pd *pd)
{
	const struct backing_choice *choice = &config_get()->backing;
	const struct domain *domain = find(pd);
	const struct domain_memory *unprotected = NULL;

	/* acquire: pairs with the release in adopt() */
	if (domain)
		unprotected = __atomic_load_n(&domain->unprotected, __ATOMIC_ACQUIRE);
	if (unprotected)
		return *unprotected;
	return (struct domain_memory){backing_of_kind(choice->kind), choice, -1};
}

bool domain_is_stand_in(const struct ibv_pd *pd)
{
	const struct domain *domain = find(pd);

	return domain && __atomic_load_n(&domain->stand_ins, __ATOMIC_RELAXED);
}

uint64_t domain_add_buffer(const struct ibv_pd *pd)
{
	struct domain *domain = find(pd);

	if (!domain)
		return 0;
	__atomic_add_fetch(&domain->buffers, 1, __ATOMIC_RELAXED);
	return domain->serial;
}

void domain_drop_buffer(const struct ibv_pd *pd, uint64_t serial)
{
	struct domain *domain = find(pd);

	if (domain && domain->serial == serial)
		__atomic_sub_fetch(&domain->buffers, 1, __ATOMIC_RELAXED);
}
