// SPDX-License-Identifier: BSD-2-Clause
/* When a JVM is read, and how long ticks find what was read of it. */
#include "publish_world.h"

#define P      1
#define LIBJVM 1
#define AT     0x7f0000001000ULL
#define HEAP   0x7f0010000000ULL
#define WHERE  (AT + KEY_VADDR - TEXT_VADDR)

static void begin_jvm(void)
{
	world_begin();
	world.files[LIBJVM].is_jvm = true;
	world_map(P, LIBJVM, AT);
	world_pass(10 * MS);
	world_answer(METADATA, LIBJVM, 0);
	world_answer(TABLE, LIBJVM, -ENOENT);
	world_pass(0);
}

static bool ticks_find_it(int pid)
{
	return world_is_believed(pid) && world.processes[pid].has_hotspot &&
	       world.hotspots[pid].interpreter == WHERE;
}

static void is_read_once_it_has_code(void **state)
{
	begin_jvm();
	world_pass(1000 * MS);
	assert_int_equal(world.n_hotspots_read, 0);
	assert_false(publisher_is_unsure(world.publisher));
	assert_int_equal(publisher_parts(world.publisher), 0);
	world_map(P, 0, HEAP);
	world_pass(0);
	assert_int_equal(world.n_hotspots_read, 1);
	assert_int_equal(publisher_parts(world.publisher), PART_HOTSPOT);
	assert_true(ticks_find_it(P));
	/* and once more, but not each time that it maps something */
	for (uint64_t i = 1; i < 100; i++) {
		world_map(P, 0, HEAP + i * 0x10000);
		world_pass(100 * MS);
	}
	assert_int_equal(world.n_hotspots_read, 2);
	assert_true(ticks_find_it(P));
	world_end();
}

static void is_asked_again_while_it_starts(void **state)
{
	begin_jvm();
	world.hotspot_err = -EAGAIN;
	world_map(P, 0, HEAP);
	world_pass(0);
	assert_true(publisher_is_unsure(world.publisher));
	world_pass(1 * MS);
	assert_int_equal(world.n_hotspots_read, 1);
	for (int i = 0; i < 1000; i++)
		world_pass(100 * MS);
	assert_in_range(world.n_hotspots_read, 20, 100); /* less and less often */
	assert_false(world.processes[P].has_hotspot);
	world.hotspot_err = 0;
	world_pass(2000 * MS);
	assert_true(ticks_find_it(P));
	assert_false(publisher_is_unsure(world.publisher));
	world_end();
}

static void what_is_none_is_asked_once(void **state)
{
	static const int errors[] = { -ENOTSUP, -EPERM, -EFAULT, -ETIMEDOUT };

	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		begin_jvm();
		world.hotspot_err = errors[i];
		world_map(P, 0, HEAP);
		for (int k = 0; k < 100; k++)
			world_pass(100 * MS);
		assert_int_equal(world.n_hotspots_read, 1);
		assert_false(world.processes[P].has_hotspot);
		world_end();
	}
}

/* What it was stays true of it if it can't be read later. */
static void one_that_is_lost_stays(void **state)
{
	begin_jvm();
	world_map(P, 0, HEAP);
	world_pass(0);
	world.hotspot_err = -ETIMEDOUT;
	for (int i = 0; i < 100; i++)
		world_pass(100 * MS);
	assert_int_equal(world.n_hotspots_read, 2);
	assert_true(ticks_find_it(P));
	world_end();
}

static void ends_with_its_program(void **state)
{
	for (int is_exec = 0; is_exec < 2; is_exec++) {
		begin_jvm();
		world_map(P, 0, HEAP);
		world_pass(0);
		assert_true(ticks_find_it(P));
		if (is_exec)
			world_exec(P);
		else
			world_exit(P);
		world_pass(100 * MS);
		assert_int_equal(world.hotspots[P].interpreter, 0);
		world_end();
	}
}

/* The kernel's half hands on what was published; the child's JVM is read by itself. */
static void a_child_has_its_own(void **state)
{
	enum { CHILD = 2 };

	begin_jvm();
	world_map(P, 0, HEAP);
	world_pass(0);
	world_pass(10 * MS);
	world_fork(P, CHILD);
	world_pass(10 * MS);
	assert_true(ticks_find_it(CHILD));
	world_exit(P);
	world_pass(10 * MS);
	assert_true(ticks_find_it(CHILD));
	world_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_read_once_it_has_code),
		cmocka_unit_test(is_asked_again_while_it_starts),
		cmocka_unit_test(what_is_none_is_asked_once),
		cmocka_unit_test(one_that_is_lost_stays),
		cmocka_unit_test(ends_with_its_program),
		cmocka_unit_test(a_child_has_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
