/* SPDX-License-Identifier: BSD-2-Clause */
/* Which files ticks may walk by in a process that was not heard of yet. */
#include "base/error.h"
#include "base/vec.h"

#include "publish_world.h"

#define AT	   0x7f0000001000ULL
#define FILE_PAGES 16

enum { P = 1, OTHER };

static void answer(uint64_t ino)
{
	world_answer(METADATA, ino, 0);
	world_answer(TABLE, ino, 0);
	world_pass(0);
}

static void map_and_answer(int pid, uint64_t ino)
{
	world_map(pid, ino, AT + ino * 0x100000);
	world_pass(0);
	answer(ino);
}

/* By both halves of what has to be known, and as it is on disk. */
static void one_that_is_known_is_told(void **state)
{
	const struct unwind_file *told = &world.told[1];

	world_begin();
	assert_int_equal(ftruncate(world.files[1].fd, 300), 0);
	world_map(P, 1, AT);
	world_pass(0);
	world_answer(TABLE, 1, 0);
	world_pass(0);
	assert_int_equal(told->table, 0);
	world_answer(METADATA, 1, 0);
	world_pass(0);
	world_check("told");
	assert_int_not_equal(told->table, 0);
	assert_int_equal(told->bytes, 300);
	assert_int_not_equal(told->written_ns, 0);
	assert_int_equal(told->texts[0].begin, TEXT_PGOFF);
	assert_int_equal(told->texts[0].end, TEXT_PGOFF + TEXT_BYTES);
	/* a mapping of it is where the published one is */
	assert_int_equal(world_mapping(P, AT)->bias,
			 AT - TEXT_PGOFF - told->texts[0].shift);
	assert_int_equal(world_mapping(P, AT)->flags, told->flags);
	assert_int_equal(told->texts[1].end, 0);
	assert_int_equal(ftruncate(world.files[1].fd, 0), 0);
	world_end();
}

static void take_part(uint32_t flag, unsigned int part)
{
	world_begin();
	world.files[1].flags = flag;
	world_map(P, 1, AT);
	world_pass(0);
	world_answer(TABLE, 1, 0);
	world_pass(0);
	assert_int_equal(publisher_parts(world.publisher), 0);
	world_answer(METADATA, 1, 0);
	world_pass(0);
	assert_int_equal(publisher_parts(world.publisher), part);
	world_end();
}

/* Once their tables may lead ticks. */
static void luajit_and_hosts_take_their_parts(void **state)
{
	take_part(UNWIND_LUAJIT, PART_LUAJIT);
	take_part(UNWIND_HOST | UNWIND_HOST_OF_FILES, PART_HOSTED);
	take_part(UNWIND_HOST, 0); /* of code that it does not generate */
}

/* Its async callers would be missing, and nobody would say so. */
static void one_with_keys_is_not(void **state)
{
	world_begin();
	world.files[1].n_keys = 1;
	map_and_answer(P, 1);
	assert_true(world_walks_by_table(P, 1, AT + 0x100000));
	assert_int_equal(world.told[1].table, 0);
	assert_int_equal(publisher_parts(world.publisher), PART_CHAINS);
	world_end();
}

static void one_without_a_table_is_not(void **state)
{
	world_begin();
	world_map(P, 1, AT);
	world_pass(0);
	world_answer(METADATA, 1, 0);
	world_answer(TABLE, 1, -ENODATA);
	world_pass(0);
	assert_true(world_walks_by_fp(P, AT));
	assert_int_equal(world.told[1].table, 0);
	world_end();
}

/* Then its processes are waited for, as without. */
static void no_room_to_tell(void **state)
{
	world_begin();
	world.tell_err = -E2BIG;
	map_and_answer(P, 1);
	assert_true(world_walks_by_table(P, 1, AT + 0x100000));
	assert_int_equal(world.told[1].table, 0);
	world_end();
}

static void one_written_over_is_told_anew(void **state)
{
	world_begin();
	map_and_answer(P, 1);
	assert_int_not_equal(world.told[1].table, 0);
	assert_int_equal(ftruncate(world.files[1].fd, 100), 0);
	world_map(OTHER, 1, AT);
	world_pass(10 * MS);
	assert_int_equal(world.told[1].table, 0);
	for (int i = 0; i < 50; i++) {
		publisher_on_awaited(world.publisher, OTHER, AT, world.now_ns);
		world_pass(200 * MS);
		answer(1);
	}
	assert_int_not_equal(world.told[1].table, 0);
	assert_int_equal(world.told[1].bytes, 100);
	world_check("written over");
	assert_int_equal(ftruncate(world.files[1].fd, 0), 0);
	world_end();
}

/* Its pages are another's by then. */
static void one_whose_table_went_is_told_no_more(void **state)
{
	unsigned int n_told = 0;

	world_begin();
	for (uint64_t ino = 1; ino <= WORLD_PAGES / FILE_PAGES; ino++) {
		world.files[ino].n_pages = FILE_PAGES;
		map_and_answer(P, ino);
	}
	world_exit(P);
	world_pass(100000 * MS);
	for (uint64_t ino = 50; ino < 50 + WORLD_PAGES / FILE_PAGES; ino++) {
		world.files[ino].n_pages = FILE_PAGES;
		map_and_answer(OTHER, ino);
		world_pass(2 * PAGE_QUARANTINE_NS);
		world_check("room");
	}
	for (int i = 0; i < 50; i++) {
		publisher_on_awaited(world.publisher, OTHER, AT + 50 * 0x100000,
				     world.now_ns);
		world_pass(200 * MS);
		for (uint64_t ino = 50; ino < 70; ino++)
			answer(ino);
		world_check("once more");
	}
	for (uint64_t ino = 1; ino < 50; ino++)
		n_told += world.told[ino].table != 0;
	assert_true(world_counts().tables.evicted > 0);
	assert_true(n_told < WORLD_PAGES / FILE_PAGES / 2);
	world_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_is_known_is_told),
		cmocka_unit_test(luajit_and_hosts_take_their_parts),
		cmocka_unit_test(one_with_keys_is_not),
		cmocka_unit_test(one_without_a_table_is_not),
		cmocka_unit_test(no_room_to_tell),
		cmocka_unit_test(one_written_over_is_told_anew),
		cmocka_unit_test(one_whose_table_went_is_told_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
