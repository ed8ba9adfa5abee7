/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What of a process's mappings ticks look at: all of them, if they fit; and when there
 * are too many, files before generated code.
 */
#include "base/vec.h"

#include "publish_world.h"

#define P    1
#define LOW  0x10000000ULL
#define HIGH 0x7f0000001000ULL
#define GAP  0x10000ULL

static uint32_t n_mappings(void)
{
	return world.processes[P].n_mappings;
}

static void map_code(uint64_t at, uint64_t bytes)
{
	world_map_bytes(P, 0, 0, at, bytes);
}

/* As a search expects them. */
static void expect_sorted(void)
{
	const struct unwind_mapping *all =
		world.pages[world.processes[P].mapping_table].mappings;

	assert_in_range(n_mappings(), 1, UNWIND_MAPPINGS_MAX);
	for (uint32_t i = 1; i <= n_mappings(); i++) {
		assert_true(all[i].start < all[i].end);
		assert_true(i == 1 || all[i - 1].end <= all[i].start);
	}
}

static void neighbours_are_one(void **state)
{
	world_begin();
	for (int i = 0; i < 5; i++)
		map_code(LOW + (uint64_t)i * 0x1000, 0x1000);
	map_code(LOW + 6 * 0x1000, 0x1000); /* behind a gap */
	world_map(P, 1, LOW + 7 * 0x1000);
	map_code(LOW + 8 * 0x1000, 0x1000);
	world_pass(10 * MS);
	assert_int_equal(n_mappings(), 4);
	expect_sorted();
	assert_true(world_walks_by_fp(P, LOW));
	assert_true(world_walks_by_fp(P, LOW + 5 * 0x1000 - 1));
	assert_null(world_mapping(P, LOW + 5 * 0x1000));
	assert_true(world_walks_by_fp(P, LOW + 6 * 0x1000));
	assert_true(world_awaits(P, LOW + 7 * 0x1000));
	assert_true(world_walks_by_fp(P, LOW + 8 * 0x1000));
	assert_int_equal(world_counts().mapping_tables.cut, 0);
	world_end();
}

/* By which a tick knows that there is more than it was told. */
static void all_its_code_is_summed(void **state)
{
	const uint64_t bytes = 0x3000;

	world_begin();
	map_code(LOW, bytes);
	map_code(LOW + GAP, bytes);
	map_code(LOW + GAP, bytes); /* in its place */
	world_map(P, 1, HIGH);
	world_pass(10 * MS);
	assert_int_equal(world.processes[P].code_bytes, 2 * bytes + TEXT_BYTES);
	world_map(P, 2, HIGH + GAP);
	world_pass(10 * MS);
	assert_int_equal(world.processes[P].code_bytes, 2 * bytes + 2 * TEXT_BYTES);
	world_end();
}

/* A JIT's, with libraries highest: these are behind every stack. */
static void files_come_first(void **state)
{
	world_begin();
	for (uint64_t i = 0; i < UNWIND_MAPPINGS_MAX + 100; i++)
		map_code(LOW + i * GAP, 0x1000);
	for (uint64_t ino = 1; ino <= 20; ino++)
		world_map(P, ino, HIGH + ino * GAP);
	world_pass(10 * MS);
	for (int i = 0; i < 100 && world_worker.jobs.n; i++) {
		world_worker.jobs.items[0].is_answered = true;
		world_pass(MS);
	}
	assert_int_equal(n_mappings(), UNWIND_MAPPINGS_MAX);
	expect_sorted();
	for (uint64_t ino = 1; ino <= 20; ino++)
		assert_true(world_walks_by_table(P, ino, HIGH + ino * GAP));
	assert_int_equal(world_counts().mapping_tables.cut, 120);
	world_end();
}

static void of_generated_code_the_largest(void **state)
{
	world_begin();
	for (uint64_t i = 0; i < UNWIND_MAPPINGS_MAX + 100; i++)
		map_code(LOW + i * GAP, i % 10 ? 0x2000 : 0x1000);
	world_pass(10 * MS);
	assert_int_equal(n_mappings(), UNWIND_MAPPINGS_MAX);
	expect_sorted();
	for (uint64_t i = 0; i < UNWIND_MAPPINGS_MAX + 100; i++)
		if (i % 10)
			assert_true(world_walks_by_fp(P, LOW + i * GAP));
	world_end();
}

static void more_files_than_fit(void **state)
{
	world_begin();
	map_code(LOW, 0x1000);
	for (uint64_t i = 0; i < UNWIND_MAPPINGS_MAX + 7; i++)
		world_map(P, 1 + i % 100, HIGH + i * GAP);
	world_pass(10 * MS);
	assert_int_equal(n_mappings(), UNWIND_MAPPINGS_MAX);
	expect_sorted();
	assert_null(world_mapping(P, LOW));
	assert_true(world_awaits(P, HIGH)); /* the program */
	for (uint64_t i = 1; i <= 7; i++)
		assert_null(world_mapping(P, HIGH + i * GAP));
	assert_true(world_awaits(P, HIGH + 8 * GAP));
	assert_true(world_awaits(P, HIGH + (UNWIND_MAPPINGS_MAX + 6) * GAP));
	assert_int_equal(world_counts().mapping_tables.cut, 8);
	world_end();
}

/* For whom there was no room is not forgotten: nothing that it does would ask again. */
static void room_that_comes_later(void **state)
{
	world_begin_with((struct publisher_config){ .tables = true, .maps.n_pages = 3 });
	for (int pid = 1; pid <= 3; pid++)
		world_map(pid, 1, HIGH);
	world_pass(10 * MS);
	assert_true(world_awaits(2, HIGH));
	assert_null(world_mapping(3, HIGH));
	world_exit(1);
	world_pass(10 * MS);
	world_pass(1000 * MS); /* what ticks may look at rests */
	world_pass(1000 * MS);
	assert_true(world_awaits(3, HIGH));
	world_end();
}

/* ---- who maps all the time ---- */

/* As a JIT does that never has its code writable and executable at a time: what it has
 * mapped is the same behind each change. */
static void what_comes_to_the_same_is_no_news(void **state)
{
	world_begin();
	world_map(P, 1, HIGH);
	map_code(LOW, 0x10000);
	world_pass(10 * MS);
	for (int i = 0; i < 1000; i++) {
		map_code(LOW + 0x1000 * (uint64_t)(i % 4), 0x1000);
		world_pass(MS);
	}
	assert_int_equal(world_counts().mapping_tables.made, 1);
	assert_int_equal(n_mappings(), 2);
	assert_true(world_walks_by_fp(P, LOW));
	map_code(LOW + 0x20000, 0x1000);
	world_pass(100 * MS);
	assert_int_equal(world_counts().mapping_tables.made, 2);
	assert_true(world_walks_by_fp(P, LOW + 0x20000));
	world_end();
}

/* Where one file's code is mapped in the place of another's: until that is published
 * ticks have the other's rules. */
static void what_is_replaced_is_told(void **state)
{
	AUTO(replaced) replaced = NULL;
	uint64_t at;

	assert_int_equal(replaced_new(&replaced), 0);
	world_begin_with(
		(struct publisher_config){ .tables = true, .replaced = replaced });
	world_map_bytes(P, 1, 0, HIGH, 0x4000);
	world_map_bytes(P, 1, 0, HIGH, 0x4000); /* the same */
	world_pass(10 * MS);
	world_map_bytes(P, 2, 0, HIGH + GAP, 0x4000); /* where nothing was */
	world_pass(10 * MS);
	assert_true(replaced_is_empty(replaced, P));
	at = world.now_ns;
	world_map_bytes(P, 2, 0, HIGH, 0x1000);
	assert_false(replaced_is_stale(replaced, P, HIGH, at - 1));
	world_pass(10 * MS);
	assert_true(replaced_is_stale(replaced, P, HIGH, at));
	assert_false(replaced_is_stale(replaced, P, HIGH + 0x1000, at));
	assert_false(replaced_is_stale(replaced, P, HIGH, world.now_ns));
	/* what is there again before anybody was told of the other */
	at = world.now_ns;
	world_map_bytes(P, 1, 0, HIGH, 0x1000);
	world.now_ns += MS;
	world_map_bytes(P, 2, 0, HIGH, 0x1000);
	world_pass(10 * MS);
	assert_true(replaced_is_stale(replaced, P, HIGH, at + MS - 1));
	assert_false(replaced_is_stale(replaced, P, HIGH, at + MS));
	world_end();
}

/* And one that has always something else: its pages rest a second each, and others need
 * some. */
static void one_that_changes_leaves_room_for_others(void **state)
{
	world_begin_with(
		(struct publisher_config){ .tables = true, .maps.n_pages = 200 });
	for (int i = 0; i < 4000; i++) {
		map_code(LOW + (uint64_t)(i % 2) * 0x1000, 0x1000 + 0x1000 * (i % 2));
		world_map_bytes(P, 0, 0, LOW + GAP, 0x1000 + 0x1000 * (uint64_t)(i % 7));
		world_map_bytes(P, 1 + (uint64_t)(i % 2), 0, HIGH, 0x1000);
		world_pass(MS / 8);
	}
	world_map(2, 1, HIGH);
	world_pass(10 * MS);
	assert_true(world_awaits(2, HIGH));
	assert_int_equal(world_counts().mapping_tables.refused, 0);
	/* what it has in the end is told */
	world_pass(100 * MS);
	assert_int_equal(world_counts().mapping_tables.refused, 0);
	world_end();
}

/* ---- who shares one ---- */

static void who_forked_shares_until_one_maps_more(void **state)
{
	uint32_t mapping_table;

	world_begin();
	world_map(P, 1, HIGH);
	world_pass(10 * MS);
	mapping_table = world.processes[P].mapping_table;
	world_fork(P, 2);
	world_pass(10 * MS);
	assert_int_equal(world_counts().mapping_tables.made, 1);
	assert_int_equal(world.processes[2].mapping_table, mapping_table);
	world_map(2, 2, HIGH + GAP);
	world_pass(10 * MS);
	assert_int_equal(world_counts().mapping_tables.made, 2);
	assert_int_not_equal(world.processes[2].mapping_table, mapping_table);
	assert_true(world_awaits(P, HIGH));
	/* given up when nobody has it any more: whoever inherited it sees that */
	world_exit(P);
	world_pass(10 * MS);
	assert_int_equal(world.pages[mapping_table].mapping_head.generation, 0);
	assert_true(world_awaits(2, HIGH));
	world_end();
}

/* A mapping beyond its file's segments has no bias, so no table either. */
static void outside_of_all_segments(void **state)
{
	struct side_event event;

	world_begin();
	event = world_event(SIDE_MMAP, P);
	event.start = HIGH;
	event.bytes = 0x1000;
	event.pgoff = 0x900000;
	event.maj = 8;
	event.ino = 1;
	strcpy(event.path, "/file-1-0");
	world_hear(&event);
	world_pass(0);
	assert_true(world_answer(METADATA, 1, 0));
	assert_true(world_answer(TABLE, 1, 0));
	world_pass(10 * MS);
	assert_true(world_walks_by_fp(P, HIGH));
	world_end();
}

/* A tick may read between any two writes: a table is never there without its bias. */
static int (*plain_write)(const struct publish_maps *maps, uint32_t first,
			  const union unwind_page *pages, uint32_t n);

static int check_write(const struct publish_maps *maps, uint32_t first,
		       const union unwind_page *pages, uint32_t n)
{
	const struct unwind_mapping *mapping = world_mapping(P, HIGH),
				    before = { .table = mapping ? mapping->table : 1,
					       .bias = mapping ? mapping->bias : 0 };
	int err = plain_write(maps, first, pages, n);

	mapping = world_mapping(P, HIGH);
	if (mapping && mapping->table)
		assert_int_equal(mapping->bias, HIGH - TEXT_VADDR);
	if (mapping && mapping->table && !before.table) /* or in the middle of one */
		assert_int_equal(before.bias, mapping->bias);
	return err;
}

static void the_bias_comes_first(void **state)
{
	struct outside outside = world_outside;

	plain_write = world_outside.write;
	outside.write = check_write;
	world_begin_in(&outside, (struct publisher_config){ .tables = true });
	world_map(P, 1, HIGH);
	world_pass(10 * MS);
	assert_true(world_answer(METADATA, 1, 0));
	world_pass(MS);
	assert_true(world_answer(TABLE, 1, 0));
	world_pass(MS);
	assert_true(world_walks_by_table(P, 1, HIGH));
	world_end();
}

/* What is no longer mapped is never told, so whoever maps one page at random places has
 * ever more, and each time all of it is gone through. */
static void who_maps_very_much_is_published_now_and_then(void **state)
{
	enum { MUCH = 20000, MORE = 100 };
	unsigned long made;

	world_begin();
	for (uint64_t i = 0; i < MUCH; i++)
		world_map(P, 1, HIGH + i * GAP);
	world_pass(MS);
	made = world_counts().mapping_tables.made;
	assert_int_equal(made, 1);
	for (uint64_t i = 0; i < MORE; i++) {
		world_map(P, 1, LOW + i * GAP);
		world_pass(MS);
	}
	assert_in_range(world_counts().mapping_tables.made - made, 1, MORE / 10);
	world_pass(MUCH * 2000ULL);
	assert_non_null(world_mapping(P, LOW + (MORE - 1) * GAP));
	/* nobody else waits for that */
	world_map(P + 1, 1, LOW);
	world_pass(0);
	assert_non_null(world_mapping(P + 1, LOW));
	world_end();
}

/* ---- generated code beside who runs it ---- */

static const struct unwind_mapping_head *head(void)
{
	return &world.pages[world.processes[P].mapping_table].mapping_head;
}

static void generated_code_beside_its_host(void **state)
{
	world_begin();
	world.files[1].flags = UNWIND_HOST;
	world.files[1].hosted.cfa_offset = 48;
	world_map(P, 1, HIGH);
	world_map(P, 2, HIGH + GAP);
	map_code(LOW, 0x1000);
	world_map(P + 1, 2, HIGH);
	world_map_bytes(P + 1, 0, 0, LOW, 0x1000);
	world_pass(10 * MS);
	assert_int_equal(head()->host, 0);
	assert_false(world_mapping(P, LOW)->flags & UNWIND_HOST);
	for (uint64_t ino = 1; ino <= 2; ino++) {
		world_answer(METADATA, ino, 0);
		world_answer(TABLE, ino, 0);
	}
	world_pass(10 * MS);
	assert_true(world_walks_by_table(P, 1, HIGH));
	assert_int_equal(head()->host, world_mapping(P, HIGH)->table);
	assert_int_equal(head()->hosted.cfa_offset, 48);
	assert_int_equal(publisher_parts(world.publisher), PART_HOSTED);
	assert_true(world_walks_by_fp(P, LOW));
	assert_true(world_mapping(P, LOW)->flags & UNWIND_HOST);
	assert_true(world_mapping(P, HIGH)->flags & UNWIND_HOST);
	assert_false(world_mapping(P, HIGH + GAP)->flags & UNWIND_HOST);
	/* of another process */
	assert_true(world_walks_by_fp(P + 1, LOW));
	assert_false(world_mapping(P + 1, LOW)->flags & UNWIND_HOST);
	world_end();
}

/* Where Erlang's code returns to is an address of the process's. */
static void erlangs_code_beside_its_host(void **state)
{
	world_begin();
	world.files[1].flags = UNWIND_HOST;
	world.files[1].hosted.cfa = UNWIND_CFA_REG;
	world.files[1].hosted.cfa_offset = 0x7fff1234;
	world_map(P, 1, HIGH);
	map_code(LOW, 0x1000);
	for (int i = 0; i < 3; i++) {
		world_pass(10 * MS);
		world_answer(METADATA, 1, 0);
		world_answer(TABLE, 1, 0);
	}
	assert_true(world_walks_by_table(P, 1, HIGH));
	assert_int_equal((uint32_t)head()->hosted.cfa_offset,
			 (uint32_t)(world_mapping(P, HIGH)->bias + 0x7fff1234));
	world_end();
}

static void files_code_beside_its_host(void **state)
{
	world_begin();
	world.files[1].flags = UNWIND_KEEPS_FP | UNWIND_HOST | UNWIND_HOST_OF_FILES;
	world.files[2].flags = UNWIND_KEEPS_FP | UNWIND_CALLS;
	world_map(P, 1, HIGH);
	world_map(P, 2, HIGH + GAP);
	map_code(LOW, 0x1000);
	world_map(P + 1, 2, HIGH);
	world_pass(10 * MS);
	for (uint64_t ino = 1; ino <= 2; ino++) {
		world_answer(METADATA, ino, 0);
		world_answer(TABLE, ino, 0);
	}
	world_pass(10 * MS);
	assert_int_equal(head()->host, world_mapping(P, HIGH)->table);
	for (int i = 0; i < 2; i++) {
		const struct unwind_mapping *map = world_mapping(P, HIGH + i * GAP);

		assert_true(map->flags & UNWIND_HOST);
		assert_true(map->flags & UNWIND_HOST_OF_FILES);
		assert_false(map->flags & UNWIND_KEEPS_FP);
	}
	assert_true(world_mapping(P, HIGH + GAP)->flags & UNWIND_CALLS);
	assert_true(world_mapping(P, LOW)->flags & UNWIND_HOST);
	/* of another process */
	assert_false(world_mapping(P + 1, HIGH)->flags & UNWIND_HOST);
	assert_true(world_mapping(P + 1, HIGH)->flags & UNWIND_KEEPS_FP);
	world_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_its_code_is_summed),
		cmocka_unit_test(neighbours_are_one),
		cmocka_unit_test(files_come_first),
		cmocka_unit_test(of_generated_code_the_largest),
		cmocka_unit_test(more_files_than_fit),
		cmocka_unit_test(room_that_comes_later),
		cmocka_unit_test(what_comes_to_the_same_is_no_news),
		cmocka_unit_test(what_is_replaced_is_told),
		cmocka_unit_test(one_that_changes_leaves_room_for_others),
		cmocka_unit_test(who_forked_shares_until_one_maps_more),
		cmocka_unit_test(outside_of_all_segments),
		cmocka_unit_test(the_bias_comes_first),
		cmocka_unit_test(who_maps_very_much_is_published_now_and_then),
		cmocka_unit_test(generated_code_beside_its_host),
		cmocka_unit_test(erlangs_code_beside_its_host),
		cmocka_unit_test(files_code_beside_its_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
