/* SPDX-License-Identifier: BSD-2-Clause */
/* What follows from made-up figures: the rate falls before the budget is broken, rises
 * where there is room for twice the cost, does not swing, and stays within its bounds. */
#include "agent/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define TURN_NS	    10000000000.0
#define CPU_MAX	    0.005
#define BYTES_MAX   1000
#define KERNEL_PART 5 /* of what sampling costs, one in five */

static struct budget budget_of(unsigned int hz)
{
	struct budget budget;

	budget_begin(&budget, hz, CPU_MAX, BYTES_MAX);
	return budget;
}

/* A turn with this share of a CPU, and what of it is sampling. */
static void turn(struct budget *budget, double share, double sampling)
{
	budget_add_cpu(budget, (uint64_t)(share * TURN_NS),
		       (uint64_t)(sampling / KERNEL_PART * TURN_NS), (uint64_t)TURN_NS);
}

/* Turns with this share of a CPU, all for sampling, whatever the rate. */
static unsigned int after(struct budget *budget, unsigned int turns, double share)
{
	while (turns--)
		turn(budget, share, share);
	return budget_hz(budget);
}

/* Turns in which each tick a second costs so much, and all else `other`. Returns how
 * often the rate changed; *ret_most: the highest mean. */
static unsigned int live(struct budget *budget, unsigned int turns, double other,
			 double each, double *ret_most)
{
	unsigned int changes = 0;

	for (*ret_most = 0; turns--;) {
		unsigned int hz = budget_hz(budget);

		turn(budget, other + each * hz, each * hz);
		changes += budget_hz(budget) != hz;
		if (budget->mean > *ret_most)
			*ret_most = budget->mean;
	}
	return changes;
}

static void within_the_budget_nothing_changes(void **state)
{
	struct budget budget = budget_of(19);

	assert_int_equal(after(&budget, 1000, 0.88 * CPU_MAX), 19);
	assert_false(budget_is_broken(&budget));
}

static void it_falls_before_the_mean_is_beyond(void **state)
{
	struct budget budget = budget_of(19);
	double most;

	assert_int_equal(live(&budget, 100, 0, 1.5 * CPU_MAX / 19, &most), 1);
	assert_int_equal(budget_hz(&budget), 9);
	assert_true(most < CPU_MAX);
}

static void a_burst_that_is_over_costs_nothing(void **state)
{
	struct budget budget = budget_of(19);

	assert_int_equal(after(&budget, 1, 5 * CPU_MAX), 19);
	assert_true(after(&budget, 10, 0.2 * CPU_MAX) == 19);
}

static void it_never_leaves_its_bounds(void **state)
{
	for (unsigned int hz = 1; hz <= 1000; hz += 37) {
		struct budget budget = budget_of(hz);

		assert_int_equal(after(&budget, 100, 1), BUDGET_HZ_MIN);
		assert_true(budget_is_broken(&budget));
		assert_int_equal(after(&budget, 500, 0), hz);
		assert_false(budget_is_broken(&budget));
	}
}

static void it_rises_again_a_step_at_a_time(void **state)
{
	static const unsigned int steps[] = { 2, 4, 9, 19, 19 };
	struct budget budget = budget_of(19);

	after(&budget, 100, 1);
	while (after(&budget, 1, 0) == 1)
		;
	for (unsigned int i = 0; i < 5; i++) {
		assert_int_equal(budget_hz(&budget), steps[i]);
		after(&budget, 1, 0);
	}
}

/* Whatever a tick costs, and all else: it finds its rate and stays there. */
static void it_does_not_swing(void **state)
{
	for (double other = 0; other < 2; other += 0.05)
		for (double each = 0.001; each < 2; each *= 1.3) {
			struct budget budget = budget_of(99);
			double most;

			after(&budget, 20, 1);
			live(&budget, 200, other * CPU_MAX, each * CPU_MAX, &most);
			assert_int_equal(live(&budget, 1000, other * CPU_MAX,
					      each * CPU_MAX, &most),
					 0);
			assert_true(most < CPU_MAX || budget_is_broken(&budget));
		}
}

/* Half of next to nothing saves nothing. */
static void other_work_costs_no_samples(void **state)
{
	struct budget budget = budget_of(19);
	double most;

	assert_int_equal(live(&budget, 100, 3 * CPU_MAX, 0.2 * CPU_MAX / 19, &most), 0);
	assert_true(budget_is_broken(&budget));
	/* a tenth of it is sampling: until that is small, too */
	assert_int_equal(live(&budget, 100, 3 * CPU_MAX, 0.5 * CPU_MAX / 19, &most), 1);
	assert_int_equal(budget_hz(&budget), 9);
	assert_true(budget_is_broken(&budget));
}

static void a_turn_without_time_is_none(void **state)
{
	struct budget budget = budget_of(19);

	budget_add_cpu(&budget, 1000000000, 0, 0);
	assert_true(budget.cpu == 0);
	assert_true(budget.mean == 0);
}

static void names_are_not_looked_for_while_memory_is_short(void **state)
{
	static const struct {
		uint64_t bytes, let_go;
		bool is_full, is_short;
	} turns[] = {
		{ 890, 0, false, false },  { 910, 100, true, true },
		{ 910, 10, true, true }, /* it stays so */
		{ 890, 0, false, true },   { 810, 0, false, true },
		{ 790, 0, false, false },  { 890, 0, false, false },
		{ 910, 30, true, false }, /* names are not why */
		{ 1490, 30, true, false }, { 1510, 30, true, true },
		{ 790, 0, false, false },  { 2000, 0, true, true },
		{ 0, 0, false, false },
	};
	struct budget budget = budget_of(19);

	for (size_t i = 0; i < sizeof(turns) / sizeof(*turns); i++) {
		assert_int_equal(budget_is_full(&budget, turns[i].bytes),
				 turns[i].is_full);
		budget_set_bytes(&budget, turns[i].bytes, turns[i].let_go);
		assert_int_equal(budget.is_short, turns[i].is_short);
	}
	assert_int_equal(budget_hz(&budget), 19);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(within_the_budget_nothing_changes),
		cmocka_unit_test(it_falls_before_the_mean_is_beyond),
		cmocka_unit_test(a_burst_that_is_over_costs_nothing),
		cmocka_unit_test(it_never_leaves_its_bounds),
		cmocka_unit_test(it_rises_again_a_step_at_a_time),
		cmocka_unit_test(it_does_not_swing),
		cmocka_unit_test(other_work_costs_no_samples),
		cmocka_unit_test(a_turn_without_time_is_none),
		cmocka_unit_test(names_are_not_looked_for_while_memory_is_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
