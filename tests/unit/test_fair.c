/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who maps many files, or one under many names, costs nobody else his tables. The
 * worker does one thing after the other here, so what others wait is counted in what it
 * did for somebody else meanwhile.
 */
#include "base/clock.h"
#include "base/vec.h"
#include "publish/turns.h"

#include "publish_users.h"

/* The next thing that the worker was asked; how many it did until this file's table is
 * there, or -1. */
static int answer_until_ready(int pid, uint64_t ino, uint64_t at)
{
	for (int n = 0; n < 500; n++) {
		if (world_walks_by_table(pid, ino, at))
			return n;
		if (!world_worker.jobs.n)
			return -1;
		world_worker.jobs.items[0].is_answered = true;
		world_pass(1000);
	}
	return -1;
}

/* ---- names of one file ---- */

static void links_are_one_file(void **state)
{
	begin();
	for (int link = 0; link < 20; link++)
		world_map_link(GREEDY, 1, link, AT(link));
	world_pass(0);
	world_map(OTHER, 2, AT(0));
	world_pass(0);
	assert_int_equal(world.files[1].n_asked[METADATA], 1);
	assert_int_equal(world.files[1].n_asked[TABLE], 1);
	assert_in_range(answer_until_ready(OTHER, 2, AT(0)), 1, 4);
	for (int link = 0; link < 20; link++)
		assert_true(world_walks_by_table(GREEDY, 1, AT(link)));
	world_check("links");
	world_end();
}

/* One name leads nowhere while its process is in a hurry; another process's does. */
static void a_link_that_was_missed(void **state)
{
	begin();
	world_map_link(GREEDY, 1, 0, AT(0));
	world_pass(0);
	world.files[1].open_err = -ENOENT;
	world_map_link(GREEDY, 1, 1, AT(1));
	world_pass(10 * MS);
	assert_true(world_walks_by_fp(GREEDY, AT(1)));
	world.files[1].open_err = 0;
	world_map_link(OTHER, 1, 1, AT(1));
	world_pass(10 * MS);
	assert_true(answer_until_ready(GREEDY, 1, AT(0)) > 0);
	world_pass(10 * MS);
	assert_true(world_walks_by_table(OTHER, 1, AT(1)));
	assert_true(world_walks_by_table(GREEDY, 1, AT(1)));
	assert_int_equal(world.files[1].n_asked[TABLE], 1);
	world_end();
}

/* Keys, too, are of the file, whatever it is called. */
static void links_have_keys(void **state)
{
	begin();
	world.files[1].n_keys = 1;
	world_map_link(GREEDY, 1, 0, AT(0));
	world_map_link(OTHER, 1, 1, AT(0));
	world_pass(0);
	world_answer(METADATA, 1, 0);
	world_pass(10 * MS);
	for (int pid = GREEDY; pid <= OTHER; pid++)
		assert_int_equal(world.processes[pid].key_addr[0],
				 AT(0) + KEY_VADDR - TEXT_VADDR);
	assert_int_equal(world_counts().processes, 2);
	world_end();
}

/* ---- many files ---- */

static void others_have_their_turn(void **state)
{
	begin();
	for (uint64_t ino = 1; ino <= 30; ino++)
		world_map(GREEDY, ino, AT(ino));
	world_pass(0);
	world_map(OTHER, 35, AT(0));
	world_pass(0);
	/* what is under way, one more of his, and our own two */
	assert_in_range(answer_until_ready(OTHER, 35, AT(0)), 1, 20);
	/* few are left of his: the workers have all of them by now */
	world_map(THIRD, 36, AT(0));
	world_pass(0);
	assert_in_range(answer_until_ready(THIRD, 36, AT(0)), 1, 36);
	assert_true(answer_until_ready(GREEDY, 30, AT(30)) > 0);
	world_end();
}

/* A file of his that another maps as well waits for both. */
static void what_both_map_has_the_better_turn(void **state)
{
	begin();
	for (uint64_t ino = 1; ino <= 30; ino++)
		world_map(GREEDY, ino, AT(ino));
	world_pass(0);
	world_map(OTHER, 30, AT(0));
	world_pass(0);
	assert_in_range(answer_until_ready(OTHER, 30, AT(0)), 1, 20);
	world_end();
}

static void what_is_sampled_goes_first(void **state)
{
	begin();
	for (uint64_t ino = 1; ino <= 30; ino++)
		world_map(GREEDY, ino, AT(ino));
	world_pass(0);
	publisher_on_awaited(world.publisher, GREEDY, AT(30), world.now_ns);
	assert_in_range(answer_until_ready(GREEDY, 30, AT(30)), 1, 20);
	world_end();
}

static void nobody_is_forgotten(void **state)
{
	begin();
	for (uint64_t ino = 1; ino <= 24; ino++)
		world_map(GREEDY + (int)(ino % 3), ino, AT(ino));
	world_pass(0);
	assert_true(world_flush() > 0);
	while (world_worker.jobs.n) {
		world_worker.jobs.items[0].is_answered = true;
		world_pass(1000);
	}
	assert_int_equal(world_flush(), 0);
	for (uint64_t ino = 1; ino <= 24; ino++)
		assert_true(world_walks_by_table(GREEDY + (int)(ino % 3), ino, AT(ino)));
	world_end();
}

/* ---- turns ---- */

static void expect_turns(struct turns *turns, const char *order)
{
	struct turn_taken turn;

	for (; *order; order++) {
		assert_true(turns_next(turns, 0, false, &turn));
		assert_int_equal(turn.module, *order);
	}
	assert_false(turns_next(turns, 0, true, &turn));
}

static void owners_take_turns(void **state)
{
	struct turns *turns;

	assert_int_equal(turns_new(&turns, NULL), 0);
	turns_start(turns);
	for (char c = 'a'; c <= 'e'; c++)
		turns_add(turns, 1000, (uint32_t)c, TURN_MAPPED);
	turns_add(turns, 0, 'Y', TURN_MAPPED);
	turns_add(turns, 0, 'Z', TURN_MAPPED);
	turns_add(turns, 0, 'Z', TURN_MAPPED); /* it waits there already */
	turns_add(turns, 1000, 'e', TURN_SAMPLED);
	expect_turns(turns, "eYaZbcde");
	/* and again */
	turns_add(turns, 1000, 'a', TURN_MAPPED);
	turns_add(turns, 0, 'Z', TURN_SAMPLED);
	expect_turns(turns, "aZ");
	turns_free(turns);
	turns_free(NULL);
}

/* Whoever starts us waits for root's files, and not long for others'. */
static void root_goes_first_at_the_start(void **state)
{
	struct turns *turns;

	assert_int_equal(turns_new(&turns, NULL), 0);
	for (char c = 'a'; c <= 'c'; c++)
		turns_add(turns, 1000, (uint32_t)c, TURN_SAMPLED);
	for (char c = 'X'; c <= 'Z'; c++)
		turns_add(turns, 0, (uint32_t)c, TURN_MAPPED);
	expect_turns(turns, "XYZabc");
	turns_free(turns);
}

static uint64_t flush_ms(int all_ms, int roots_ms)
{
	uint64_t begun_ns = clock_now_ns();

	assert_true(publisher_flush(world.publisher,
				    &(struct wait_limits){ all_ms, roots_ms }) > 0);
	return (clock_now_ns() - begun_ns) / 1000000;
}

/* Files that are never done: who waits for them, and for how long? */
static void nobody_waits_long_for_others(void **state)
{
	begin();
	world_map(GREEDY, 1, AT(1));
	world_pass(0);
	assert_in_range(flush_ms(0, 60000), 0, 30000);
	assert_in_range(flush_ms(50, 0), 50, 30000);
	world_map(OTHER, 2, AT(0));
	world_pass(0);
	assert_in_range(flush_ms(0, 200), 200, 30000);
	assert_true(answer_until_ready(OTHER, 2, AT(0)) >= 0);
	world_map(GREEDY, 4, AT(4));
	world_pass(0);
	assert_in_range(flush_ms(0, 60000), 0, 30000);
	/* what a user waits for as well is root's, too */
	world_map(GREEDY, 3, AT(3));
	world_pass(0);
	world_map(OTHER, 3, AT(3));
	world_pass(0);
	assert_in_range(flush_ms(0, 200), 200, 30000);
	world_end();
}

/* Who comes and goes gets no more turns than who stays. */
static void many_owners(void **state)
{
	struct turn_taken turn;
	struct turns *turns;
	uint32_t n_stays = 0;

	assert_int_equal(turns_new(&turns, NULL), 0);
	for (uint32_t i = 0; i < 1000; i++)
		turns_add(turns, 7, i, TURN_MAPPED);
	for (uint32_t i = 0; i < 1000; i++) {
		turns_add(turns, 100 + i % 3, 5000 + i, TURN_MAPPED);
		assert_true(turns_next(turns, 0, false, &turn));
		n_stays += turn.module < 1000;
	}
	assert_in_range(n_stays, 250, 750);
	while (turns_next(turns, 0, false, &turn))
		n_stays += turn.module < 1000;
	assert_int_equal(n_stays, 1000);
	turns_free(turns);
}

/* ---- openings ---- */

static int n_opened(uint64_t from, uint64_t to)
{
	int n = 0;

	for (uint64_t ino = from; ino <= to; ino++)
		n += world.files[ino].n_opened;
	return n;
}

/* To open a file takes time, too: nobody waits for all of somebody else's. */
static void who_maps_many_files_lets_others_in(void **state)
{
	begin();
	world.open_ns = MS;
	for (uint64_t ino = 1; ino <= 50; ino++)
		world_map(GREEDY, ino, AT(ino));
	world_map(THIRD, 60, AT(60));
	world_map(THIRD, 61, AT(61));
	world_pass(0);
	assert_int_equal(n_opened(60, 61), 2);
	assert_in_range(n_opened(1, 50), 2, 8);
	assert_true(publisher_is_behind(world.publisher));
	for (int i = 0; publisher_is_behind(world.publisher); i++) {
		assert_true(i < 20);
		world_pass(0);
	}
	assert_int_equal(n_opened(1, 50), 50);
	world_end();
}

/* Before its turn came, it was mapped no more, by whom it was noted for; and then others
 * map it. */
static void what_is_gone_before_its_turn_may_come_back(void **state)
{
	begin();
	world.open_ns = 10 * MS;
	world_map(GREEDY, 1, AT(1));
	world_map(GREEDY, 2, AT(2));
	world_pass(0);
	assert_int_equal(n_opened(1, 2), 1);
	world_exec(GREEDY);
	world_pass(0);
	assert_int_equal(n_opened(1, 2), 1);
	world_map(OTHER, 2, AT(2));
	world_pass(0);
	assert_int_equal(n_opened(2, 2), 1);
	world_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_are_one_file),
		cmocka_unit_test(a_link_that_was_missed),
		cmocka_unit_test(links_have_keys),
		cmocka_unit_test(others_have_their_turn),
		cmocka_unit_test(what_both_map_has_the_better_turn),
		cmocka_unit_test(what_is_sampled_goes_first),
		cmocka_unit_test(nobody_is_forgotten),
		cmocka_unit_test(owners_take_turns),
		cmocka_unit_test(root_goes_first_at_the_start),
		cmocka_unit_test(nobody_waits_long_for_others),
		cmocka_unit_test(many_owners),
		cmocka_unit_test(who_maps_many_files_lets_others_in),
		cmocka_unit_test(what_is_gone_before_its_turn_may_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
