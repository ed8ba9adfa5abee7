/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who maps many files, or one under many names, costs nobody else his tables. The
 * worker does one thing after the other here, so what others wait is counted in what it
 * did for somebody else meanwhile.
 */
#include "base/vec.h"
#include "publish/turns.h"

#include "publish_world.h"

#define AT(i) (0x7f0000001000ULL + (uint64_t)(i)*0x100000)

enum { GREEDY = 1, OTHER, THIRD };

static void begin(void)
{
	world_begin_with((struct publisher_config){ .tables = true });
	world.procs[GREEDY].uid = 1000;
	world.procs[OTHER].uid = 0;
	world.procs[THIRD].uid = 1001;
}

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
	uint32_t module;

	for (; *order; order++) {
		assert_true(turns_next(turns, &module));
		assert_int_equal(module, *order);
	}
	assert_false(turns_next(turns, &module));
}

static void owners_take_turns(void **state)
{
	struct turns *turns;

	assert_int_equal(turns_new(&turns), 0);
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

/* Who comes and goes gets no more turns than who stays. */
static void many_owners(void **state)
{
	uint32_t module, n_stays = 0;
	struct turns *turns;

	assert_int_equal(turns_new(&turns), 0);
	for (uint32_t i = 0; i < 1000; i++)
		turns_add(turns, 7, i, TURN_MAPPED);
	for (uint32_t i = 0; i < 1000; i++) {
		turns_add(turns, 100 + i % 3, 5000 + i, TURN_MAPPED);
		assert_true(turns_next(turns, &module));
		n_stays += module < 1000;
	}
	assert_in_range(n_stays, 250, 750);
	while (turns_next(turns, &module))
		n_stays += module < 1000;
	assert_int_equal(n_stays, 1000);
	turns_free(turns);
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
		cmocka_unit_test(many_owners),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
