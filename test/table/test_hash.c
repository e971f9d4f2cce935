// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A handle table whose hash is as bad as the makefile says, and whose slots
 * wear out after a few uses, is slow but right.
 */
#include <criterion/criterion.h>

#include "keys.h"

#define MANY 5000ul

static struct handle_table table = HANDLE_TABLE_INITIALIZER(2);

Test(table_with_a_bad_hash, finds_inserted_and_no_other_keys)
{
	cr_assert_eq(insert_keys(&table, 0, MANY), MANY);

	cr_assert_eq(count_keys(&table, 0, 2 * MANY), MANY);
}

Test(table_with_a_bad_hash, does_not_find_what_was_removed)
{
	insert_keys(&table, 0, MANY);
	cr_assert_eq(remove_keys(&table, 0, MANY / 2), MANY / 2);

	cr_assert_eq(count_keys(&table, 0, MANY), MANY / 2);
	cr_assert_eq(count_keys(&table, MANY / 2, MANY), MANY / 2);
}

Test(table_with_a_bad_hash, can_be_emptied_and_filled_again)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		cr_assert_eq(insert_keys(&table, 0, MANY), MANY);
		cr_assert_eq(remove_keys(&table, 0, MANY), MANY);
	}
	cr_assert_eq(count_keys(&table, 0, MANY), 0);
	cr_assert_lt(handle_table_bytes(&table), 1 << 20);
}

Test(table_with_a_bad_hash, for_each_visits_each_key)
{
	unsigned long visited = 0;

	insert_keys(&table, 0, MANY);
	handle_table_for_each(&table, count_visit, &visited);

	cr_assert_eq(visited, MANY);
}

Test(table_with_a_bad_hash, survives_many_uses_of_a_slot)
{
	unsigned long i;

	insert_keys(&table, 0, 100);
	for (i = 0; i < 20000; i++) {
		cr_assert(remove_key(&table, key_of(i % 100)));
		cr_assert_eq(insert_key(&table, key_of(i % 100)), 0);
	}
	cr_assert_eq(count_keys(&table, 0, 200), 100);
	cr_assert_lt(handle_table_bytes(&table), 1 << 20);
}
