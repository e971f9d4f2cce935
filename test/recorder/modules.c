// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which module a record's caller is in: also of modules that come and go. */
#define _GNU_SOURCE
#include "recorder.h"
#include "module.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY 300

static struct ibv_pd *pd;

static void begin(void)
{
	trace_this_process();
	pd = make_domain();
}

static const char *module_path(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", getenv("RECORDER_PROGRAMS"), name);
	return path;
}

/* The place of a module that registers, and is unloaded again. */
static uintptr_t register_in(const char *path, uintptr_t address)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	module_function *function;
	Dl_info info;

	cr_assert_not_null(handle, "%s", dlerror());
	function = (module_function *)dlsym(handle, "module_register");
	cr_assert_not_null(function);
	cr_assert_not_null(function(ibv_reg_mr, pd, address));
	cr_assert_neq(dladdr((void *)function, &info), 0);
	cr_assert_eq(dlclose(handle), 0);
	return (uintptr_t)info.dli_fbase;
}

/* What a reader takes for the caller of the latest call. */
static const struct ibvbuf_trace_module *caller_of_latest(void)
{
	const struct trace *trace = trace_now();
	const struct ibvbuf_trace_record *record = trace_last(trace);

	return trace_module_of(trace, record->caller, record->time);
}

Test(one_modules, a_module_that_is_gone_is_in_the_table)
{
	const struct ibvbuf_trace_module *module;
	uintptr_t place;

	begin();
	place = register_in(module_path("module_a.so"), 4096);
	module = caller_of_latest();
	cr_assert_not_null(module);
	cr_assert_str_eq(module->path, module_path("module_a.so"));
	cr_assert_eq(module->start, place);
	cr_assert_eq(module->bias, place);
	cr_assert_eq(module->build_id_length, 20);
}

Test(one_modules, a_module_without_a_build_id)
{
	const struct ibvbuf_trace_module *module;

	begin();
	register_in(module_path("module_b.so"), 4096);
	module = caller_of_latest();
	cr_assert_not_null(module);
	cr_assert_str_eq(module->path, module_path("module_b.so"));
	cr_assert_eq(module->build_id_length, 0);
}

/* The linker puts it there where the first one was. */
Test(one_modules, modules_that_take_turns_at_a_place)
{
	static const char *const names[] = {"module_a.so", "module_b.so"};
	uintptr_t place, places[2];
	int turn;

	begin();
	places[0] = register_in(module_path(names[0]), 4096);
	places[1] = register_in(module_path(names[1]), 4096);
	if (places[0] != places[1])
		cr_skip_test("they are at places of their own");
	cr_assert_str_eq(caller_of_latest()->path, module_path(names[1]));
	for (turn = 0; turn < 6; turn++) {
		place = register_in(module_path(names[turn % 2]), 4096);
		cr_assert_eq(place, places[0]);
		cr_assert_str_eq(caller_of_latest()->path, module_path(names[turn % 2]),
				 "in turn %d", turn);
	}
}

Test(one_modules, a_module_that_comes_back_is_entered_once)
{
	int times;

	begin();
	for (times = 0; times < 10; times++)
		register_in(module_path("module_a.so"), 4096);
	/* This program, too. */
	cr_assert_eq(trace_now()->module_count, 2);
}

Test(one_modules, more_modules_than_there_is_room_for)
{
	void *handles[MANY];
	struct trace *trace;
	int i;

	begin();
	for (i = 0; i < MANY; i++) {
		char command[2 * PATH_MAX], name[32];
		module_function *function;

		snprintf(name, sizeof(name), "module_%d.so", i);
		snprintf(command, sizeof(command), "LD_PRELOAD= cp %s %s",
			 module_path("module_a.so"), scratch_path(name));
		cr_assert_eq(system(command), 0);
		handles[i] = dlopen(scratch_path(name), RTLD_NOW);
		cr_assert_not_null(handles[i], "%s", dlerror());
		function = (module_function *)dlsym(handles[i], "module_register");
		function(ibv_reg_mr, pd, 4096);
		function(ibv_reg_mr, pd, 4096);
	}
	trace = trace_now();
	cr_assert_eq(trace->module_count, trace->header.module_capacity);
	cr_assert_eq(trace->header.unlisted, 1 + MANY - trace->header.module_capacity);
	cr_assert_eq(trace->count, 1 + 2 * MANY);
	for (i = 0; i < MANY; i++)
		dlclose(handles[i]);
}

static pthread_barrier_t meeting;

static void meet(const struct standin_call *call)
{
	(void)call;
	pthread_barrier_wait(&meeting);
	pthread_barrier_wait(&meeting);
}

static void *call_for_long(void *argument)
{
	module_function *function = (module_function *)argument;

	function(ibv_reg_mr, pd, 8192);
	return NULL;
}

/* A call from a module that another call, which began later and ended earlier, has entered. */
Test(one_modules, calls_that_were_under_way_when_their_module_was_entered)
{
	void *handle = dlopen(module_path("module_a.so"), RTLD_NOW);
	module_function *function = (module_function *)dlsym(handle, "module_register");
	pthread_t thread;

	begin();
	pthread_barrier_init(&meeting, NULL, 2);
	standin_interrupt(STANDIN_ibv_reg_mr, meet);
	pthread_create(&thread, NULL, call_for_long, (void *)function);
	pthread_barrier_wait(&meeting);
	standin_interrupt(STANDIN_ibv_reg_mr, NULL);
	function(ibv_reg_mr, pd, 4096);
	pthread_barrier_wait(&meeting);
	pthread_join(thread, NULL);
	cr_assert_eq(trace_last(trace_now())->address, 8192);
	cr_assert_not_null(caller_of_latest());
	cr_assert_str_eq(caller_of_latest()->path, module_path("module_a.so"));
}
