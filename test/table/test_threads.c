// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What several threads, and processes after fork(), can expect */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "keys.h"

#define ROUNDS 20000ul
#define STABLE 2000ul

static struct handle_table table = HANDLE_TABLE_INITIALIZER(3);
static pthread_barrier_t barrier;
static bool over;

static unsigned long wins[2];

static void *race_to_remove(void *arg)
{
	unsigned long *won = arg;
	unsigned long i;

	for (i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&barrier);
		if (won == &wins[0])
			insert_key(&table, key_of(i));
		pthread_barrier_wait(&barrier);
		*won += remove_key(&table, key_of(i));
	}
	return NULL;
}

Test(threads, one_of_two_removers_wins, .timeout = 30)
{
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, race_to_remove, &wins[1]);
	race_to_remove(&wins[0]);
	pthread_join(thread, NULL);

	cr_assert_eq(wins[0] + wins[1], ROUNDS);
	cr_assert_eq(count_keys(&table, 0, ROUNDS), 0);
}

/* A key that goes and comes with another record meanwhile */
static void *renew(void *arg)
{
	uint64_t old[3], new[3] = {0};

	pthread_barrier_wait(&barrier);
	while (new[0] < ROUNDS) {
		if (handle_table_remove(&table, key_of(0), old))
			wins[0]++;
		new[0]++;
		if (handle_table_insert(&table, key_of(0), new))
			return arg;
	}
	return NULL;
}

Test(threads, remove_if_never_takes_another_record, .timeout = 30)
{
	uint64_t record[3] = {0}, taken = 0;
	pthread_t thread;
	void *failed;

	pthread_barrier_init(&barrier, NULL, 2);
	cr_assert_eq(handle_table_insert(&table, key_of(0), record), 0);
	pthread_create(&thread, NULL, renew, &table);
	pthread_barrier_wait(&barrier);
	while (record[0] < ROUNDS)
		if (handle_table_lookup(&table, key_of(0), record) &&
		    handle_table_remove_if(&table, key_of(0), record[0]))
			taken++;
	pthread_join(thread, &failed);
	cr_assert_null(failed);
	/* All that were inserted went by one of the two, and the last was taken here. */
	cr_assert_eq(wins[0] + taken, ROUNDS + 1);
	cr_assert(!handle_table_lookup(&table, key_of(0), record));
}

/* Grows and shrinks the table above its first STABLE keys, again and again */
static void *breathe(void *arg)
{
	unsigned long from = STABLE + (unsigned long)(uintptr_t)arg * 100000;

	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		insert_keys(&table, from, from + 20000);
		remove_keys(&table, from, from + 20000);
	}
	return NULL;
}

static unsigned char visits[STABLE];

static bool visit(uintptr_t key, const uint64_t *record, void *arg)
{
	unsigned long index = (key - key_of(0)) >> 12;

	cr_assert(record_is_of(&table, key, record));
	if (index < STABLE)
		visits[index]++;
	(void)arg;
	return true;
}

Test(threads, for_each_visits_what_is_in_all_the_time_once, .timeout = 30)
{
	pthread_t thread;
	unsigned int i, round;

	insert_keys(&table, 0, STABLE);
	pthread_create(&thread, NULL, breathe, NULL);
	for (round = 1; round <= 50; round++) {
		handle_table_for_each(&table, visit, NULL);
		for (i = 0; i < STABLE; i++)
			cr_assert_eq(visits[i], round, "key %u", i);
	}
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

/* In the child: the parent's other threads are gone, in the middle of it all */
static int use_after_fork(void)
{
	if (count_keys(&table, 0, STABLE) != STABLE)
		return 1;
	if (insert_keys(&table, 1000000, 1030000) != 30000)
		return 2;
	if (count_keys(&table, 1000000, 1040000) != 30000)
		return 3;
	if (remove_keys(&table, 1000000, 1030000) != 30000)
		return 4;
	if (remove_keys(&table, 0, STABLE) != STABLE)
		return 5;
	if (count_keys(&table, 0, STABLE))
		return 6;
	return 0;
}

Test(threads, a_child_goes_on_with_the_table, .timeout = 30)
{
	pthread_t thread[3];
	unsigned int i;
	int status;

	insert_keys(&table, 0, STABLE);
	for (i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, breathe, (void *)(uintptr_t)i);
	for (i = 0; i < 40; i++) {
		pid_t child = fork();

		if (!child) {
			alarm(10);
			_exit(use_after_fork());
		}
		cr_assert_gt(child, 0);
		cr_assert_eq(waitpid(child, &status, 0), child);
		cr_assert_eq(status, 0, "fork %u, status %#x", i, status);
	}
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	for (i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	cr_assert_eq(count_keys(&table, 0, STABLE), STABLE);
}
