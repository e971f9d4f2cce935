// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What one thread can expect of a handle table.  Each test is its own process. */
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "keys.h"

#define MILLION 1000000ul

static struct handle_table table = HANDLE_TABLE_INITIALIZER(1);

Test(table, finds_what_was_inserted)
{
	insert_key(&table, key_of(1));

	cr_assert(has_key(&table, key_of(1)));
}

Test(table, does_not_find_absent_keys)
{
	cr_assert(lacks_key(&table, key_of(1)));
	insert_key(&table, key_of(1));

	cr_assert(lacks_key(&table, key_of(2)));
	cr_assert(lacks_key(&table, key_of(1) + 1));
	cr_assert(lacks_key(&table, 1));
	cr_assert(lacks_key(&table, UINTPTR_MAX));
}

Test(table, takes_any_key_but_zero)
{
	cr_assert_eq(insert_key(&table, 0), EINVAL);
	cr_assert(lacks_key(&table, 0));
	cr_assert_not(remove_key(&table, 0));

	cr_assert_eq(insert_key(&table, 1), 0);
	cr_assert_eq(insert_key(&table, UINTPTR_MAX), 0);
	cr_assert(has_key(&table, 1));
	cr_assert(has_key(&table, UINTPTR_MAX));
}

Test(table, remove_returns_the_record_once)
{
	insert_key(&table, key_of(1));

	cr_assert(remove_key(&table, key_of(1)));
	cr_assert_not(remove_key(&table, key_of(1)));
}

Test(table, remove_if_takes_that_record_only)
{
	static const uint64_t records[] = {10, 20};
	uint64_t record;

	cr_assert_eq(handle_table_insert(&table, 7, &records[0]), 0);
	cr_assert(!handle_table_remove_if(&table, 7, records[1]));
	cr_assert(!handle_table_remove_if(&table, 8, records[0]));
	cr_assert(handle_table_lookup(&table, 7, &record));
	cr_assert_eq(record, records[0]);
	cr_assert(handle_table_remove_if(&table, 7, records[0]));
	cr_assert(!handle_table_remove_if(&table, 7, records[0]));
	cr_assert(!handle_table_lookup(&table, 7, &record));
}

Test(table, does_not_find_what_was_removed)
{
	insert_keys(&table, 0, 1000);

	cr_assert_eq(remove_keys(&table, 0, 500), 500);

	cr_assert_eq(count_keys(&table, 0, 500), 0);
	cr_assert_eq(count_keys(&table, 500, 1000), 500);
}

Test(table, finds_the_new_record_of_a_reinserted_key)
{
	uint64_t record = 1;

	handle_table_insert(&table, 7, &record);
	handle_table_remove(&table, 7, &record);
	record = 2;
	handle_table_insert(&table, 7, &record);
	record = 0;

	cr_assert(handle_table_lookup(&table, 7, &record));
	cr_assert_eq(record, 2);
}

Test(table, keeps_records_of_every_width)
{
	unsigned int words;

	for (words = 1; words <= HANDLE_TABLE_MAX_WORDS; words++) {
		struct handle_table wide = HANDLE_TABLE_INITIALIZER(words);

		cr_assert_eq(insert_keys(&wide, 0, 20000), 20000);
		cr_assert_eq(count_keys(&wide, 0, 30000), 20000);
		cr_assert_eq(remove_keys(&wide, 0, 20000), 20000);
		cr_assert_eq(count_keys(&wide, 0, 30000), 0);
		handle_table_destroy(&wide);
	}
}

Test(table, grows_to_a_million)
{
	unsigned long size;

	for (size = 16; size < MILLION; size *= 2) {
		cr_assert_eq(insert_keys(&table, size == 16 ? 0 : size / 2, size),
			     size == 16 ? 16 : size / 2);
		cr_assert(has_key(&table, key_of(0)));
		cr_assert(lacks_key(&table, key_of(size)));
	}
	cr_assert_eq(insert_keys(&table, size / 2, MILLION), MILLION - size / 2);
	cr_assert_eq(count_keys(&table, 0, 2 * MILLION), MILLION);
}

Test(table, takes_no_more_than_64_bytes_an_entry_when_large)
{
	unsigned long size;

	for (size = 0; size < MILLION; size += 10000) {
		insert_keys(&table, size, size + 10000);
		if (size >= 50000)
			cr_assert_leq(handle_table_bytes(&table), 64 * (size + 10000), "%lu", size);
	}
}

/* Pages of this process that are in memory, in bytes */
static size_t resident(void)
{
	unsigned long size, pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	cr_assert_not_null(file);
	cr_assert_eq(fscanf(file, "%lu %lu", &size, &pages), 2);
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

Test(table, tells_how_much_memory_it_occupies)
{
	size_t before = resident();
	size_t grown;

	insert_keys(&table, 0, 200000);

	grown = resident() - before;
	cr_assert_lt(grown, handle_table_bytes(&table) + (1 << 20));
	cr_assert_gt(grown, handle_table_bytes(&table) - (1 << 20));
}

Test(table, gives_memory_back_when_it_shrinks)
{
	size_t empty = resident();

	insert_keys(&table, 0, MILLION);
	cr_assert_eq(remove_keys(&table, 0, MILLION), MILLION);

	cr_assert_lt(handle_table_bytes(&table), 1 << 20);
	cr_assert_lt(resident(), empty + (2 << 20));
}

Test(table, needs_no_more_memory_the_longer_it_is_used)
{
	size_t early;
	unsigned long i;

	insert_keys(&table, 0, 100);
	for (i = 0; i < 10000; i++) {
		remove_key(&table, key_of(i));
		insert_key(&table, key_of(i + 100));
	}
	early = handle_table_bytes(&table);
	for (; i < 10 * MILLION; i++) {
		remove_key(&table, key_of(i));
		insert_key(&table, key_of(i + 100));
	}

	cr_assert_leq(handle_table_bytes(&table), early);
	cr_assert_eq(count_keys(&table, i, i + 100), 100);
}

struct visits {
	unsigned char of[3000];
	unsigned int total;
	unsigned int limit;
};

static bool visit(uintptr_t key, const uint64_t *record, void *arg)
{
	struct visits *visits = arg;

	cr_assert(record_is_of(&table, key, record));
	visits->of[(key - key_of(0)) >> 12]++;
	return ++visits->total < visits->limit;
}

Test(table, for_each_visits_each_key_once)
{
	static struct visits visits = {.limit = UINT32_MAX};
	unsigned int i;

	insert_keys(&table, 0, 3000);
	handle_table_for_each(&table, visit, &visits);

	for (i = 0; i < 3000; i++)
		cr_assert_eq(visits.of[i], 1, "key %u", i);
}

Test(table, for_each_stops_when_told)
{
	static struct visits visits = {.limit = 10};

	insert_keys(&table, 0, 3000);
	handle_table_for_each(&table, visit, &visits);

	cr_assert_eq(visits.total, 10);
}

static bool visit_and_remove(uintptr_t key, const uint64_t *record, void *arg)
{
	cr_assert(remove_key(&table, key));
	return visit(key, record, arg);
}

Test(table, for_each_may_remove_what_it_visits)
{
	static struct visits visits = {.limit = UINT32_MAX};

	insert_keys(&table, 0, 3000);
	handle_table_for_each(&table, visit_and_remove, &visits);

	cr_assert_eq(visits.total, 3000);
	cr_assert_eq(count_keys(&table, 0, 3000), 0);
}

Test(table, for_each_visits_nothing_in_an_empty_table)
{
	unsigned long visited = 0;

	handle_table_for_each(&table, count_visit, &visited);
	cr_assert_eq(visited, 0);
}

Test(table, leaves_errno_alone)
{
	errno = ENOTTY;
	insert_keys(&table, 0, 100000);
	count_keys(&table, 0, 200000);
	remove_keys(&table, 0, 100000);

	cr_assert_eq(errno, ENOTTY);
}

Test(table, insert_says_enomem_and_loses_nothing)
{
	struct rlimit limit = {256 << 20, 256 << 20};
	unsigned long inserted = 0;
	int ret;

	cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
	errno = ENOTTY;
	while ((ret = insert_key(&table, key_of(inserted))) == 0)
		inserted++;

	cr_assert_eq(ret, ENOMEM);
	cr_assert_eq(errno, ENOTTY);
	cr_assert_gt(inserted, 100000);
	cr_assert_eq(count_keys(&table, 0, 2 * inserted), inserted);
	cr_assert_eq(remove_keys(&table, 0, inserted), inserted);
	cr_assert_eq(insert_keys(&table, 0, inserted / 2), inserted / 2);
}

Test(table, insert_says_enomem_when_there_is_none_at_all)
{
	struct rlimit limit = {1 << 20, 1 << 20};

	cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);

	cr_assert_eq(insert_key(&table, key_of(0)), ENOMEM);
	cr_assert(lacks_key(&table, key_of(0)));
}

Test(table, does_not_hang_on_a_key_inserted_over_and_over)
{
	int i, ret = 0;

	for (i = 0; i < 2000 && !ret; i++)
		ret = insert_key(&table, key_of(0));

	cr_assert_eq(ret, ENOMEM);
	cr_assert(has_key(&table, key_of(0)));
}
