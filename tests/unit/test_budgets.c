// SPDX-License-Identifier: BSD-2-Clause
/* What a user may cost us, and what becomes of who has cost more. */
#include "base/clock.h"
#include "base/vec.h"
#include "publish/turns.h"

#include "publish_users.h"

/* Who has used his up goes behind all others, and only when nothing else is read. */
static void without_a_budget_last(void **state)
{
	struct budgets *budgets;
	struct turns *turns;
	struct turn_taken turn;

	assert_int_equal(budgets_new(&budgets), 0);
	assert_int_equal(turns_new(&turns, budgets), 0);
	budgets_charge(budgets, 1000, BUDGET_NS + 1, 0);
	for (uint32_t i = 'a'; i <= 'c'; i++) {
		turns_add(turns, 1000, i, TURN_SAMPLED);
		turns_add(turns, 1001, i + 10, TURN_MAPPED);
	}
	for (uint32_t i = 'a'; i <= 'c'; i++) {
		assert_true(turns_next(turns, 0, true, &turn));
		assert_int_equal(turn.module, i + 10);
		assert_int_equal(turn.owner, 1001);
		assert_false(turn.is_over_budget);
	}
	assert_false(turns_next(turns, 0, false, &turn));
	assert_true(turns_next(turns, 0, true, &turn));
	assert_int_equal(turn.module, 'a');
	assert_true(turn.is_over_budget);
	/* a little comes back with the time */
	assert_true(turns_next(turns, BUDGET_REFILL, false, &turn));
	assert_int_equal(turn.module, 'b');
	assert_false(turn.is_over_budget);
	turns_free(turns);
	budgets_free(budgets);
}

static void a_budget_comes_back(void **state)
{
	struct budgets *budgets;

	assert_int_equal(budgets_new(&budgets), 0);
	for (int i = 0; i < 100; i++)
		budgets_charge(budgets, 1000, BUDGET_NS, 7);
	assert_true(budgets_are_over(budgets, 1000, 7));
	assert_true(budgets_are_over(budgets, 1000, 7 + BUDGET_NS * (BUDGET_REFILL - 1)));
	assert_false(budgets_are_over(budgets, 1000, 7 + BUDGET_NS * BUDGET_REFILL));
	assert_int_equal(budgets_used_ns(budgets, 1000, 7 + BUDGET_NS * BUDGET_REFILL),
			 BUDGET_NS);
	/* nobody else pays for it; root never does */
	assert_false(budgets_are_over(budgets, 1001, 7));
	budgets_charge(budgets, 0, 100 * BUDGET_NS, 7);
	assert_false(budgets_are_over(budgets, 0, 7));
	assert_false(budgets_are_over(NULL, 1000, 7));
	budgets_free(budgets);
	budgets_free(NULL);
}

/* A user that is made up for each file takes no memory without bound. */
static void so_many_users(void **state)
{
	struct budgets *budgets;

	assert_int_equal(budgets_new(&budgets), 0);
	for (uid_t uid = 1; uid <= 70000; uid++)
		budgets_charge(budgets, uid, 2 * BUDGET_NS, 0);
	assert_true(budgets_are_over(budgets, 1, 0));
	assert_false(budgets_are_over(budgets, 70000, 0)); /* there is no room for it */
	budgets_charge(budgets, 70000, 2 * BUDGET_NS, 3 * BUDGET_NS * BUDGET_REFILL);
	assert_true(budgets_are_over(budgets, 70000, 3 * BUDGET_NS * BUDGET_REFILL));
	budgets_free(budgets);
}

/* How many answers until all of THIRD's files 60 to 79 have their tables, when each file
 * of GREEDY takes so long? */
static int answers_until_third(uint64_t greedy_ns)
{
	int n = 0;

	begin();
	for (uint64_t ino = 1; ino <= 50; ino++)
		world_map(GREEDY, ino, AT(ino));
	world_pass(0);
	for (uint64_t ino = 60; ino <= 79; ino++)
		world_map(THIRD, ino, AT(ino));
	world_pass(0);
	while (!world_walks_by_table(THIRD, 79, AT(79))) {
		struct world_job *job = &world_worker.jobs.items[0];

		job->is_answered = true;
		job->cpu_ns = world_ino(job->cookie) <= 50 ? greedy_ns : 0;
		world_pass(1000);
		n++;
	}
	while (world_worker.jobs.n) {
		world_worker.jobs.items[0].is_answered = true;
		world_pass(1000);
	}
	for (uint64_t ino = 1; ino <= 50; ino++)
		assert_true(world_walks_by_table(GREEDY, ino, AT(ino)));
	return n;
}

static void a_greedy_user_runs_out(void **state)
{
	int in_turns = answers_until_third(0), before_him;

	assert_int_equal(world_counts().tables.over_budget, 0);
	assert_int_equal(world_worker.n_behind, 0);
	world_end();
	before_him = answers_until_third(BUDGET_NS);
	/* both of a file's two answers; what he had under way, then only the other's */
	assert_in_range(in_turns, 2 * 36, 2 * 70);
	assert_in_range(before_him, 2 * 20, 2 * 37);
	assert_in_range(world_counts().tables.over_budget, 20, 50);
	assert_int_equal(world_worker.n_behind, 2 * world_counts().tables.over_budget);
	world_end();
}

static void use_up_budget_of_greedy(void)
{
	world_map(GREEDY, 1, AT(1));
	world_pass(0);
	world_worker.jobs.items[0].is_answered = true;
	world_worker.jobs.items[0].cpu_ns = 2 * BUDGET_NS;
	world_pass(1000);
	world_worker.jobs.items[0].is_answered = true;
	world_pass(1000);
	assert_true(world_walks_by_table(GREEDY, 1, AT(1)));
}

/* How often is he published, who maps something 160 times, every millisecond? */
static unsigned int puts_of_who_maps_all_the_time(int pid)
{
	unsigned int before = world.n_puts;

	for (uint64_t i = 0; i < 160; i++) {
		world_map(pid, i % 2, AT(100)); /* the file, and memory without one */
		world_pass(1000000);
	}
	world_pass(20000000);
	assert_true(world_walks_by_table(pid, 1, AT(100)));
	return world.n_puts - before;
}

/* At once, but for whose budget is over: now and then, and nothing of it is lost. */
static void whose_budget_is_over_is_published_now_and_then(void **state)
{
	begin();
	use_up_budget_of_greedy();
	world_map(THIRD, 1, AT(1));
	world_pass(1000);
	assert_in_range(puts_of_who_maps_all_the_time(THIRD), 155, 161);
	world_pass(PAGE_QUARANTINE_NS);
	/* a pause often ends with what was there when it began, which is no news */
	assert_in_range(puts_of_who_maps_all_the_time(GREEDY), 64 - 4, 64 + 7);
	world_end();
}

/* Code that is generated all the time has no file that costs us anything. */
static void generated_code_costs_nothing(void **state)
{
	begin();
	for (int i = 0; i < 100000; i++)
		world_map(GREEDY, 0, AT(i % 100));
	world_pass(0);
	world_map(GREEDY, 1, AT(200));
	world_pass(0);
	assert_int_equal(world.files[1].n_opened, 1);
	assert_int_equal(world_counts().tables.over_budget, 0);
	world_end();
}

/* Nobody opens more files for him, until it is seen that he runs them. */
static void whose_budget_is_over_is_heard_by_his_samples(void **state)
{
	begin();
	use_up_budget_of_greedy();

	world_map(GREEDY, 2, AT(2));
	world_map(THIRD, 60, AT(60));
	world_pass(1000);
	world_pass(1000);
	assert_true(world_awaits(GREEDY, AT(2)));
	assert_int_equal(world_counts().tables.over_budget, 1);
	assert_int_equal(world_ino(world_worker.jobs.items[0].cookie), 60);
	while (world_worker.jobs.n) {
		world_worker.jobs.items[0].is_answered = true;
		world_pass(1000);
	}
	assert_true(world_walks_by_table(THIRD, 60, AT(60)));
	assert_true(world_awaits(GREEDY, AT(2)));

	publisher_on_awaited(world.publisher, GREEDY, AT(2), world.now_ns);
	world_pass(1000);
	while (world_worker.jobs.n) {
		world_worker.jobs.items[0].is_answered = true;
		world_pass(1000);
	}
	assert_true(world_walks_by_table(GREEDY, 2, AT(2)));
	world_end();
}

/* That may be minutes, and is no mistake of ours. */
static void whose_budget_is_over_waits_for_others(void **state)
{
	begin();
	use_up_budget_of_greedy();
	world_map(GREEDY, 2, AT(2));
	world_pass(70000 * MS);
	publisher_on_awaited(world.publisher, GREEDY, AT(2), world.now_ns);
	assert_int_equal(world_counts().slow, 1);
	assert_int_equal(world_counts().overdue, 0);
	world_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_budget_last),
		cmocka_unit_test(a_budget_comes_back),
		cmocka_unit_test(so_many_users),
		cmocka_unit_test(a_greedy_user_runs_out),
		cmocka_unit_test(generated_code_costs_nothing),
		cmocka_unit_test(whose_budget_is_over_is_published_now_and_then),
		cmocka_unit_test(whose_budget_is_over_is_heard_by_his_samples),
		cmocka_unit_test(whose_budget_is_over_waits_for_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
