// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * An operation that is stopped after any of its instructions stops nobody.
 *
 * The processor's trap flag stops the operation.  Then fork() makes a process in
 * which it stands still while others use the table, from the signal handler.
 * There it either goes on afterwards, and has to end well, or never does.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "keys.h"

#if defined(__x86_64__)

#define TRAP_FLAG	0x100
#define FULL_LEAF	136ul	/* 85 % of the slots of a leaf of 4 KiB */
#define SPLIT_LEAF	544ul	/* the same of 16 KiB */
#define OTHERS		100000ul
#define IN_FLIGHT	key_of(OTHERS - 1)
#define MANY_STOPS	80

static struct handle_table table;
static unsigned long before;	/* keys [0, before) are in */
static bool inserting;
static bool for_ever;
static unsigned long stride;	/* stop after so many instructions each time */
static unsigned long steps, stops, bad_stops;
static volatile sig_atomic_t stopped;	/* we are the process that was stopped */

/* What others do while the operation stands still */
static bool others_can_work(void)
{
	return count_keys(&table, 0, before) == before &&
	       insert_keys(&table, OTHERS, OTHERS + 500) == 500 &&
	       count_keys(&table, OTHERS, OTHERS + 1000) == 500 &&
	       remove_keys(&table, OTHERS, OTHERS + 500) == 500 &&
	       count_keys(&table, OTHERS, OTHERS + 500) == 0 &&
	       count_keys(&table, 0, before) == before;
}

/* Everything can be taken out, and the key that was in flight if it is in */
static bool all_is_well(bool must_be_in, bool must_be_out)
{
	bool in = has_key(&table, IN_FLIGHT);

	return (in || !must_be_in) && (!in || !must_be_out) &&
	       others_can_work() &&
	       remove_key(&table, IN_FLIGHT) == in &&
	       remove_keys(&table, 0, before) == before &&
	       count_keys(&table, 0, before) == 0 && lacks_key(&table, IN_FLIGHT);
}

static void on_step(int signal, siginfo_t *info, void *context)
{
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
	int status = 0;
	pid_t child;

	(void)signal;
	(void)info;
	if (++steps % stride)
		return;
	child = fork();
	if (child) {
		stops++;
		bad_stops += child < 0 || waitpid(child, &status, 0) != child ||
			     status != 0;
		return;
	}
	alarm(10);	/* others that wait for us would do so for ever */
	*flags &= ~TRAP_FLAG;
	stopped = true;
	if (!others_can_work())
		_exit(1);
	if (for_ever)
		_exit(!all_is_well(false, false));
}

static void trap(bool on)
{
	unsigned long flags = __builtin_ia32_readeflags_u64();

	flags = on ? flags | TRAP_FLAG : flags & ~(unsigned long)TRAP_FLAG;
	/* The compiler must not read @stopped before the last stop */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__builtin_ia32_writeeflags_u64(flags);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void run_stopping(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO };
	bool done;

	action.sa_sigaction = on_step;
	sigaction(SIGTRAP, &action, NULL);
	trap(true);
	if (inserting)
		done = insert_key(&table, IN_FLIGHT) == 0;
	else
		done = remove_key(&table, IN_FLIGHT);
	trap(false);
	if (stopped)
		_exit(!(done && all_is_well(inserting, !inserting)));
	cr_assert(done);
	cr_assert(all_is_well(inserting, !inserting));
}

static void stop_insert(unsigned long keys)
{
	table = (struct handle_table)HANDLE_TABLE_INITIALIZER(1);
	inserting = true;
	before = keys;
	insert_keys(&table, 0, keys);
	run_stopping();
}

static void stop_remove(unsigned long keys, unsigned long left)
{
	table = (struct handle_table)HANDLE_TABLE_INITIALIZER(1);
	before = left;
	insert_keys(&table, 0, keys);
	insert_key(&table, IN_FLIGHT);
	remove_keys(&table, left, keys);
	run_stopping();
}

/* From @from on, so many keys that one more makes a leaf grow */
static unsigned long keys_before_growth(unsigned long from)
{
	unsigned long keys;
	uint64_t epoch;

	table = (struct handle_table)HANDLE_TABLE_INITIALIZER(1);
	insert_keys(&table, 0, from);
	for (keys = from;; keys++) {
		epoch = table.epoch;
		insert_key(&table, IN_FLIGHT);
		if (table.epoch != epoch)
			break;
		remove_key(&table, IN_FLIGHT);
		insert_key(&table, key_of(keys));
	}
	handle_table_destroy(&table);
	return keys;
}

/* As many of 200 keys as must be left for the remove that halves their leaf */
static unsigned long keys_before_shrinking(void)
{
	unsigned long keys;
	bool shrunk = false;

	for (keys = 60; keys > 0 && !shrunk; keys--) {
		uint64_t epoch;

		table = (struct handle_table)HANDLE_TABLE_INITIALIZER(1);
		insert_keys(&table, 0, 200);
		insert_key(&table, IN_FLIGHT);
		remove_keys(&table, keys, 200);
		epoch = table.epoch;
		remove_key(&table, IN_FLIGHT);
		shrunk = table.epoch != epoch;
		handle_table_destroy(&table);
	}
	cr_assert(shrunk);
	return keys + 1;
}

Test(stops, the_first_insert_returns, .timeout = 30)
{
	stride = 5;
	for_ever = false;
	stop_insert(0);

	cr_assert_gt(stops, MANY_STOPS);
	cr_assert_eq(bad_stops, 0);
}

Test(stops, the_first_insert_never_returns, .timeout = 30)
{
	stride = 5;
	for_ever = true;
	stop_insert(0);

	cr_assert_gt(stops, MANY_STOPS);
	cr_assert_eq(bad_stops, 0);
}

Test(stops, an_insert_returns, .timeout = 30)
{
	stride = 1;
	for_ever = false;
	stop_insert(50);

	cr_assert_gt(stops, 50);
	cr_assert_eq(bad_stops, 0);
}

Test(stops, an_insert_never_returns, .timeout = 30)
{
	stride = 1;
	for_ever = true;
	stop_insert(50);

	cr_assert_gt(stops, 50);
	cr_assert_eq(bad_stops, 0);
}

Test(stops, an_insert_that_doubles_a_leaf_returns, .timeout = 30)
{
	stride = 131;
	for_ever = false;
	stop_insert(keys_before_growth(FULL_LEAF));

	cr_assert_gt(stops, MANY_STOPS);
	cr_assert_eq(bad_stops, 0);
}

Test(stops, an_insert_that_doubles_a_leaf_never_returns, .timeout = 30)
{
	stride = 131;
	for_ever = true;
	stop_insert(keys_before_growth(FULL_LEAF));

	cr_assert_gt(stops, MANY_STOPS);
	cr_assert_eq(bad_stops, 0);
}

Test(stops, an_insert_that_splits_a_leaf_returns, .timeout = 30)
{
	stride = 599;
	for_ever = false;
	stop_insert(keys_before_growth(SPLIT_LEAF));

	cr_assert_gt(stops, MANY_STOPS);
	cr_assert_eq(bad_stops, 0);
}

Test(stops, an_insert_that_splits_a_leaf_never_returns, .timeout = 30)
{
	stride = 599;
	for_ever = true;
	stop_insert(keys_before_growth(SPLIT_LEAF));

	cr_assert_gt(stops, MANY_STOPS);
	cr_assert_eq(bad_stops, 0);
}

Test(stops, a_remove_returns, .timeout = 30)
{
	stride = 1;
	for_ever = false;
	stop_remove(50, 50);

	cr_assert_gt(stops, 50);
	cr_assert_eq(bad_stops, 0);
}

Test(stops, a_remove_never_returns, .timeout = 30)
{
	stride = 1;
	for_ever = true;
	stop_remove(50, 50);

	cr_assert_gt(stops, 50);
	cr_assert_eq(bad_stops, 0);
}

Test(stops, a_remove_that_halves_a_leaf_returns, .timeout = 30)
{
	stride = 97;
	for_ever = false;
	stop_remove(200, keys_before_shrinking());

	cr_assert_gt(stops, MANY_STOPS);
	cr_assert_eq(bad_stops, 0);
}

Test(stops, a_remove_that_halves_a_leaf_never_returns, .timeout = 30)
{
	stride = 97;
	for_ever = true;
	stop_remove(200, keys_before_shrinking());

	cr_assert_gt(stops, MANY_STOPS);
	cr_assert_eq(bad_stops, 0);
}

#endif
