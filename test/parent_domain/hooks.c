// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which contexts have their operation exchanged, when, and for what. */
#define _GNU_SOURCE
#include "domains.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static struct provider_device device;

static void assert_opt_in_works(struct ibv_pd *pd)
{
	struct ibv_pd *parent = parent_with(&device, pd, ALLOW_UNPROTECTED);

	cr_assert_not_null(parent);
	cr_assert_eq(device.parents_made, 1);
	cr_assert_eq(device.seen.comp_mask, 0);
	cr_assert_eq(ibv_dealloc_pd(parent), 0);
}

Test(hooks, a_device_opened_by_the_library)
{
	place_device(&device, 0);
	cr_assert_eq(ibv_open_device(&device.opened.device), context_of(&device));
	cr_assert(is_hooked(&device));
	assert_opt_in_works(library_new_domain(context_of(&device)));
}

/* As mlx5dv_open_device() and librdmacm of some releases do. */
Test(hooks, a_device_opened_round_the_library)
{
	place_device(&device, 0);
	cr_assert_not(is_hooked(&device));
	assert_opt_in_works(new_domain(&device));
	cr_assert(is_hooked(&device));
}

Test(hooks, a_device_whose_domain_is_imported)
{
	struct ibv_pd *pd;

	place_device(&device, 0);
	pd = ibv_import_pd(context_of(&device), 77);
	cr_assert_not_null(pd);
	cr_assert_eq(pd->handle, 77);
	cr_assert(is_hooked(&device));
	assert_opt_in_works(pd);
	ibv_unimport_pd(pd);
	cr_assert_eq(library_domains(), 0);
}

Test(hooks, a_device_that_is_opened_and_has_several_domains_is_hooked_once)
{
	parent_operation *hook;

	place_device(&device, 0);
	ibv_open_device(&device.opened.device);
	hook = device.extended.alloc_parent_domain;
	new_domain(&device);
	cr_assert_eq(device.extended.alloc_parent_domain, hook);
	assert_opt_in_works(new_domain(&device));
}

Test(hooks, two_devices_of_a_provider_have_the_same_hook)
{
	static struct provider_device other;

	place_device(&device, 3);
	place_device(&other, 3);
	new_domain(&device);
	new_domain(&other);
	cr_assert(is_hooked(&device));
	cr_assert_eq(device.extended.alloc_parent_domain, other.extended.alloc_parent_domain);
}

Test(hooks, each_provider_has_a_hook_of_its_own)
{
	static struct provider_device other;
	struct ibv_pd *pd, *pd_of_other;

	place_device(&device, 0);
	place_device(&other, 1);
	pd = new_domain(&device);
	pd_of_other = new_domain(&other);
	cr_assert_neq(device.extended.alloc_parent_domain, other.extended.alloc_parent_domain);
	cr_assert_not_null(parent_with(&device, pd, ALLOW_UNPROTECTED));
	cr_assert_not_null(parent_with(&other, pd_of_other, ALLOW_UNPROTECTED));
	cr_assert_eq(device.seen_by, 0);
	cr_assert_eq(other.seen_by, 1);
	cr_assert_eq(device.parents_made, 1);
	cr_assert_eq(other.parents_made, 1);
}

/* There is a hook for each of eight providers. What comes after them answers as without the shim.
 */
Test(hooks, more_providers_than_hooks)
{
	static struct provider_device devices[PROVIDERS];
	struct ibv_pd *pd[PROVIDERS];
	int i;

	for (i = 0; i < PROVIDERS; i++) {
		place_device(&devices[i], i);
		pd[i] = new_domain(&devices[i]);
	}
	for (i = 0; i < PROVIDERS; i++) {
		cr_assert_eq(is_hooked(&devices[i]), i < 8, "provider %d", i);
		if (i < 8)
			cr_assert_not_null(parent_with(&devices[i], pd[i], ALLOW_UNPROTECTED));
		else
			assert_fails_with(EINVAL,
					  parent_with(&devices[i], pd[i], ALLOW_UNPROTECTED));
		cr_assert_not_null(parent_with(&devices[i], pd[i], 0));
		cr_assert_eq(devices[i].seen_by, i);
	}
}

static pthread_barrier_t start;

static void *make_domain(void *argument)
{
	struct provider_device *devices = argument;
	int i;

	for (i = 0; i < PROVIDERS; i++) {
		pthread_barrier_wait(&start);
		new_domain(&devices[i]);
	}
	return NULL;
}

Test(hooks, two_threads_make_the_first_domain_at_the_same_time)
{
	static struct provider_device devices[PROVIDERS];
	pthread_t other;
	int round, i;

	cr_assert_eq(pthread_barrier_init(&start, NULL, 2), 0);
	for (round = 0; round < 200; round++) {
		/* All of two providers in turn: in the first round no hook has been given out. */
		for (i = 0; i < PROVIDERS; i++)
			place_device(&devices[i], i % 2);
		cr_assert_eq(pthread_create(&other, NULL, make_domain, devices), 0);
		make_domain(devices);
		pthread_join(other, NULL);
		for (i = 0; i < PROVIDERS; i++) {
			struct ibv_pd *pd = library_new_domain(context_of(&devices[i]));

			cr_assert(is_hooked(&devices[i]));
			cr_assert_not_null(parent_with(&devices[i], pd, ALLOW_UNPROTECTED));
			cr_assert_eq(devices[i].parents_made, 1);
			cr_assert_eq(devices[i].seen_by, i % 2);
			cr_assert_eq(devices[i].extended.alloc_parent_domain,
				     devices[i % 2].extended.alloc_parent_domain);
		}
	}
}

Test(hooks, a_provider_without_parent_domains_stays_without)
{
	place_device(&device, 0);
	device.extended.alloc_parent_domain = NULL;
	assert_fails_with(EOPNOTSUPP, parent_with(&device, new_domain(&device), ALLOW_UNPROTECTED));
	cr_assert_null(device.extended.alloc_parent_domain);
}

Test(hooks, a_context_of_an_older_kind_is_left_alone)
{
	place_device(&device, 0);
	device.extended.context.abi_compat = NULL;
	new_domain(&device);
	cr_assert_not(is_hooked(&device));
}

/* struct verbs_context grows at its front: a context of a release before the member ends there. */
Test(hooks, a_context_that_is_too_small_is_left_alone)
{
	place_device(&device, 0);
	device.extended.sz =
		sizeof(device.extended) - offsetof(struct verbs_context, alloc_parent_domain) - 8;
	new_domain(&device);
	cr_assert_not(is_hooked(&device));
}

/* The device's directory in sysfs, with a driver of that name. */
static void give_driver(const char *driver)
{
	char directory[] = "/tmp/ibvbuf-driver.XXXXXX";
	char path[PATH_MAX], target[PATH_MAX];

	cr_assert_not_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/device", directory);
	cr_assert_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/device/driver", directory);
	snprintf(target, sizeof(target), "../../../../bus/pci/drivers/%s", driver);
	cr_assert_eq(symlink(target, path), 0);
	snprintf(device.opened.device.ibdev_path, sizeof(device.opened.device.ibdev_path), "%s",
		 directory);
	new_domain(&device);

	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(directory);
}

/*
 * The RDMA device of Linux's ionic_rdma is a child of the PCI device, whose driver is ionic. Its
 * provider tells its contexts by the operation.
 */
Test(hooks, ionic_is_left_alone_and_that_is_said)
{
	setenv("IBVBUF_DIAGNOSTICS", "verbose", 1);
	capture_errors();
	place_device(&device, 0);
	give_driver("ionic");
	cr_assert_not(is_hooked(&device));
	cr_assert_eq(occurrences(captured_errors(), "ionic"), 1);
	new_domain(&device);
	cr_assert_eq(occurrences(captured_errors(), "ionic"), 1);
}

Test(hooks, other_drivers_are_not_ionic)
{
	static const char *const names[] = {"mlx5_core", "ionic_en", "xionic", "ion"};
	size_t i;

	setenv("IBVBUF_DIAGNOSTICS", "verbose", 1);
	capture_errors();
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		place_device(&device, 0);
		give_driver(names[i]);
		cr_assert(is_hooked(&device), "%s", names[i]);
	}
	cr_assert_eq(occurrences(captured_errors(), "are left alone"), 0);
}
