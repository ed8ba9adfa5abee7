// SPDX-License-Identifier: BSD-2-Clause
/* Whose file is named next: whoever has many slow ones delays the end by a bounded time,
 * and costs others no names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "sym/name_turns.h"

#define MS	    1000000ULL
#define NAME_ALL_MS 8000

static void one_user_has_all_the_time(void **state)
{
	AUTO(name_turns) turns = NULL;
	size_t what;
	int ms;

	assert_int_equal(name_turns_new(&turns, NAME_ALL_MS), 0);
	for (size_t i = 0; i < 300; i++)
		assert_int_equal(name_turns_add(turns, 1000, i), 0);
	assert_true(name_turns_next(turns, &what, &ms));
	assert_int_equal(what, 0);
	assert_int_equal(ms, NAME_TURN_MS);
	name_turns_took(turns, 100 * MS);
	assert_true(name_turns_next(turns, &what, &ms));
	assert_int_equal(what, 1);
	assert_int_equal(ms, NAME_TURN_MS);
}

/* All take what they are given; the sum has a bound, however many there are. */
static void all_together_have_a_bound(void **state)
{
	for (uid_t users = 1; users < 3000; users = users * 2 + 1) {
		AUTO(name_turns) turns = NULL;
		size_t what, n = 0;
		int ms, sum = 0;

		assert_int_equal(name_turns_new(&turns, NAME_ALL_MS), 0);
		for (size_t i = 0; i < 3000; i++)
			assert_int_equal(name_turns_add(turns, 1 + (uid_t)i % users, i),
					 0);
		for (; name_turns_next(turns, &what, &ms); n++) {
			sum += ms;
			name_turns_took(turns, (uint64_t)ms * MS);
		}
		assert_int_equal(n, 3000);
		assert_in_range(sum, NAME_ALL_MS / 2, NAME_ALL_MS);
	}
}

/* Three users with slow files, and one whose files take a millisecond. */
static void who_is_quick_is_named(void **state)
{
	AUTO(name_turns) turns = NULL;
	size_t what, named = 0;
	int ms;

	assert_int_equal(name_turns_new(&turns, NAME_ALL_MS), 0);
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(name_turns_add(turns, 1000 + (uid_t)(i % 3), i), 0);
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(name_turns_add(turns, 2000, 10000 + i), 0);
	while (name_turns_next(turns, &what, &ms)) {
		bool is_quick = what >= 10000;

		named += is_quick && ms > 1;
		name_turns_took(turns, (is_quick ? 1 : (uint64_t)ms) * MS);
	}
	assert_int_equal(named, 100);
}

static void root_goes_first_and_pays_nothing(void **state)
{
	AUTO(name_turns) turns = NULL;
	size_t what;
	int ms;

	assert_int_equal(name_turns_new(&turns, NAME_ALL_MS), 0);
	assert_int_equal(name_turns_add(turns, 1000, 7), 0);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(name_turns_add(turns, 0, i), 0);
	for (size_t i = 0; i < 5; i++) {
		assert_true(name_turns_next(turns, &what, &ms));
		assert_int_equal(what, i);
		assert_int_equal(ms, NAME_TURN_MS);
		name_turns_took(turns, (uint64_t)ms * MS);
	}
	assert_true(name_turns_next(turns, &what, &ms));
	assert_int_equal(what, 7);
	assert_int_equal(ms, NAME_TURN_MS);
	assert_false(name_turns_next(turns, &what, &ms));
}

/* Who took much time for his tables, or in the window before, is named later. */
static void what_was_used_before_counts(void **state)
{
	AUTO(name_turns) turns = NULL;
	AUTO(budgets) budgets = NULL;
	size_t what;
	int ms;

	assert_int_equal(budgets_new(&budgets), 0);
	budgets_charge(budgets, 1000, 3 * NAME_ALL_MS * MS, clock_now_ns());
	assert_int_equal(name_turns_new(&turns, NAME_ALL_MS), 0);
	name_turns_set_budgets(turns, budgets);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(name_turns_add(turns, 1000, i), 0);
	for (size_t i = 10; i < 13; i++)
		assert_int_equal(name_turns_add(turns, 1001, i), 0);
	for (size_t i = 10; i < 13; i++) {
		assert_true(name_turns_next(turns, &what, &ms));
		assert_int_equal(what, i);
		name_turns_took(turns, 1000 * MS);
	}
	assert_true(name_turns_next(turns, &what, &ms));
	assert_int_equal(what, 0);
	assert_true(budgets_used_ns(budgets, 1001, clock_now_ns()) > 1000 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_user_has_all_the_time),
		cmocka_unit_test(all_together_have_a_bound),
		cmocka_unit_test(who_is_quick_is_named),
		cmocka_unit_test(root_goes_first_and_pays_nothing),
		cmocka_unit_test(what_was_used_before_counts),
	};

	return cmocka_run_group_tests_name("name_turns", tests, NULL, NULL);
}
