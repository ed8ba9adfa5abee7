/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is known by when he began (docs/decisions/identity.md), and what ticks believe. */
#include "base/error.h"
#include "base/vec.h"

#include "publish_world.h"

#define AT	0x7f0000001000ULL
#define ALSO_AT 0x7f0000101000ULL

enum { P = 1 };

/* Its beginning was told, so nobody has to ask /proc, nor to wait until it is older. */
static void who_was_told_of_is_not_read(void **state)
{
	world_begin();
	world.procs[P].err = -ESRCH;
	world_tell_exec(P);
	world_map(P, 1, AT);
	world_pass(0);
	assert_true(world_awaits(P, AT));
	assert_false(publisher_is_unsure(world.publisher));
	assert_int_equal(world.n_puts, 1);
	assert_int_equal(world.n_removed, 0);
	/* what it runs next has the same number, and nothing that is known */
	world_pass(MS);
	world_begin_life(P);
	assert_false(world_is_believed(P));
	world_map(P, 2, ALSO_AT);
	world_pass(0);
	assert_int_equal(world.n_puts, 2);
	assert_false(world_is_believed(P));
	world_end();
}

/* The kernel's half did not hear of it, or knows better. */
static void who_was_told_of_is_read_if_that_is_stale(void **state)
{
	world_begin();
	world_tell_exec(P);
	world_map(P, 1, AT);
	world_pass(10 * MS);
	world.procs[P].until_ns = 0;
	assert_false(world_is_believed(P));
	publisher_on_stale(world.publisher, P);
	world_pass(0);
	assert_true(world_is_believed(P));
	world_map(P, 2, ALSO_AT);
	world_pass(0);
	assert_true(world_is_believed(P));
	world_end();
}

/* As one that changes what it is known by, by prctl(2), faster than it can be read. */
static void what_is_always_stale_is_read_less_and_less(void **state)
{
	unsigned int before;

	world_begin();
	world_tell_exec(P);
	world_map(P, 1, AT);
	world_pass(10 * MS);
	before = world.n_identities;
	for (int i = 0; i < 500; i++) {
		world.procs[P].start_ticks = 8000 + (uint64_t)i;
		publisher_on_stale(world.publisher, P);
		world_pass(2 * MS);
	}
	assert_in_range(world.n_identities - before, 3, 12); /* of 1000 */
	assert_int_equal(world_counts().stale, 500);
	world_pass(10000 * MS);
	publisher_on_stale(world.publisher, P);
	world_pass(0);
	assert_true(world_is_believed(P));
	world_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_was_told_of_is_not_read),
		cmocka_unit_test(who_was_told_of_is_read_if_that_is_stale),
		cmocka_unit_test(what_is_always_stale_is_read_less_and_less),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
