/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * There is room for so many tables. Who maps a lot and does not run it must not keep the
 * room from those who run; nor who runs a lot from those who want a little.
 */
#include "base/vec.h"
#include "publish/tables_parts.h"

#include "publish_world.h"

#define AT(i)	   (0x7f0000001000ULL + (uint64_t)(i)*0x100000)
#define FILE_PAGES 16
#define SECOND	   (1000 * MS)

enum { GREEDY = 1, OTHER, THIRD };

static void begin(void)
{
	world_begin();
	for (int i = 0; i < WORLD_FILES; i++)
		world.files[i].n_pages = FILE_PAGES;
	world.procs[GREEDY].uid = 1000;
	world.procs[THIRD].uid = 1001;
}

static void answer_all(void)
{
	for (int i = 0; i < 1000 && world_worker.jobs.n; i++) {
		world_worker.jobs.items[0].is_answered = true;
		world_pass(10000);
	}
}

static void map_files(int pid, uint64_t from, uint64_t n)
{
	for (uint64_t ino = from; ino < from + n; ino++)
		world_map(pid, ino, AT(ino));
	world_pass(0);
	answer_all();
}

static unsigned int n_by_table(int pid, uint64_t from, uint64_t n)
{
	unsigned int found = 0;

	for (uint64_t ino = from; ino < from + n; ino++)
		found += world_walks_by_table(pid, ino, AT(ino));
	return found;
}

/* A sample whose stack leads through these files, whole or cut for want of a table. */
static void sample(int pid, uint64_t from, uint64_t n)
{
	struct {
		struct sample_rec rec;
		uint64_t words[WORLD_FILES];
	} s = { .rec = { .ts_ns = world.now_ns,
			 .tgid = (uint32_t)pid,
			 .n_words = (unsigned short)n,
			 .n_thread = (unsigned short)n } };

	for (uint64_t i = 0; i < n; i++) {
		s.words[i] = (uint64_t)FRAME_CALLER << FRAME_KIND_SHIFT | AT(from + i);
		if (world_awaits(pid, AT(from + i)))
			publisher_on_awaited(world.publisher, (uint32_t)pid, AT(from + i),
					     world.now_ns);
	}
	publisher_on_sample(world.publisher, &s.rec);
}

/* Some seconds in which these are sampled, ten times each. */
static void run(int seconds, int pid, uint64_t from, uint64_t n)
{
	for (int i = 0; i < 10 * seconds; i++) {
		sample(pid, from, n);
		world_pass(SECOND / 10);
		answer_all();
	}
	world_check("run");
}

static void a_sleeper_makes_room(void **state)
{
	begin();
	map_files(GREEDY, 1, 30); /* twice what there is room for */
	assert_in_range(n_by_table(GREEDY, 1, 30), 10, 15);
	map_files(OTHER, 40, 3);
	run(4, OTHER, 40, 3);
	assert_int_equal(n_by_table(OTHER, 40, 3), 3);
	world_end();
}

/* There is always room for what a new process maps, or none of its stacks is whole. */
static void mappings_have_room(void **state)
{
	begin();
	map_files(GREEDY, 1, 30);
	for (int pid = OTHER; pid < OTHER + 10; pid++)
		world_map(pid, 1, AT(1));
	world_pass(10 * MS);
	for (int pid = OTHER; pid < OTHER + 10; pid++)
		assert_non_null(world_mapping(pid, AT(1)));
	assert_int_equal(world_counts().mapping_tables.refused, 0);
	world_end();
}

static void what_is_hit_stays(void **state)
{
	begin();
	map_files(GREEDY, 1, 14);
	assert_int_equal(n_by_table(GREEDY, 1, 14), 14);
	run(15, GREEDY, 1, 7);
	map_files(GREEDY, 40, 6);
	run(4, GREEDY, 1, 7);
	assert_int_equal(n_by_table(GREEDY, 1, 7), 7);
	run(4, GREEDY, 40, 6);
	assert_int_equal(n_by_table(GREEDY, 40, 6), 6);
	world_end();
}

/* While there was room, nobody looked which tables were of use: these are. */
static void what_was_used_stays_when_room_gets_short(void **state)
{
	begin();
	map_files(GREEDY, 1, 6);
	run(15, GREEDY, 1, 6);
	map_files(GREEDY, 40, 20);
	assert_int_equal(n_by_table(GREEDY, 1, 6), 6);
	world_end();
}

/* Nothing goes for what has no room even so. */
static void what_never_fits_takes_nothing(void **state)
{
	begin();
	map_files(GREEDY, 1, 14);
	run(15, GREEDY, 1, 1); /* the others sleep */
	world.files[50].n_pages = WORLD_PAGES + 1;
	map_files(OTHER, 50, 1);
	run(4, OTHER, 50, 1);
	assert_int_equal(n_by_table(OTHER, 50, 1), 0);
	assert_int_equal(n_by_table(GREEDY, 1, 14), 14);
	assert_int_equal(world_counts().tables.evicted, 0);
	world_end();
}

/* It was taken back while it slept. */
static void who_wakes_up_gets_it_back(void **state)
{
	begin();
	map_files(GREEDY, 1, 14);
	map_files(OTHER, 40, 6);
	run(15, OTHER, 40, 6);
	assert_int_equal(n_by_table(OTHER, 40, 6), 6);
	assert_true(n_by_table(GREEDY, 1, 14) < 14);
	for (uint64_t ino = 1; ino <= 14; ino++) {
		run(3, GREEDY, ino, 1);
		assert_int_equal(n_by_table(GREEDY, ino, 1), 1);
	}
	assert_true(world_counts().tables.evicted > 0);
	assert_int_equal(world_counts().overdue, 0); /* no mistake of ours */
	world_end();
}

/* However busy he is with what he has. */
static void nobody_takes_more_than_his_share(void **state)
{
	begin();
	map_files(OTHER, 40, 5);
	run(1, OTHER, 40, 5);
	map_files(GREEDY, 1, 30);
	for (int i = 0; i < 30; i++) {
		run(1, GREEDY, 1, 30);
		run(1, OTHER, 40, 5);
		assert_int_equal(n_by_table(OTHER, 40, 5), 5);
	}
	/* nor does he keep it from who comes later */
	map_files(THIRD, 60, 3);
	for (int i = 0; i < 4; i++) {
		run(1, GREEDY, 1, 30);
		run(1, THIRD, 60, 3);
	}
	assert_int_equal(n_by_table(THIRD, 60, 3), 3);
	assert_int_equal(n_by_table(OTHER, 40, 5), 5);
	world_end();
}

static void happen(uint64_t *random)
{
	int pid = 1 + (int)(next_random(random) % 6);
	uint64_t ino = 1 + next_random(random) % 40, i = 0;

	switch (next_random(random) % 10) {
	case 0:
	case 1:
	case 2:
		world_map(pid, ino, AT(ino));
		break;
	case 3:
		world_exec(pid);
		break;
	case 4:
		world_exit(pid);
		break;
	case 5:
		world_fork(pid, pid % 6 + 1);
		break;
	case 6:
		sample(pid, ino, 1 + ino % 5);
		break;
	case 7:
		world.now_ns += next_random(random) % (4 * SECOND);
		break;
	default:
		while (i++ < 4 && world_worker.jobs.n) {
			size_t at = next_random(random) % world_worker.jobs.n;

			world_worker.jobs.items[at].is_answered = true;
			world_worker.jobs.items[at].err =
				next_random(random) % 16 ? 0 : -EBADMSG;
		}
	}
}

/* Whatever happens, nobody is walked by another file's table, and nothing is lost for
 * ever: what is sampled long enough has its table, as long as it fits. */
static void at_random(void **state)
{
	uint64_t random = 88172645463325252ULL;

	for (int trial = 0; trial < 60; trial++) {
		begin();
		for (int pid = 1; pid <= 6; pid++)
			world.procs[pid].uid = (uid_t)pid % 3;
		for (int i = 0; i < WORLD_FILES; i++)
			world.files[i].n_pages = 1 + (uint32_t)i % 24;
		for (int i = 0; i < 600; i++) {
			happen(&random);
			world_pass(next_random(&random) % (20 * MS));
			world_check("at random");
		}
		answer_all();
		world_map(7, 77, AT(77));
		run(5, 7, 77, 1);
		assert_int_equal(n_by_table(7, 77, 1), 1);
		world_end();
	}
}

/* ---- a clock that a look at it moves on ---- */

static uint64_t clock_ns, look_ns;

static uint64_t moving_now(void)
{
	return clock_ns += look_ns;
}

/* So many tables that find no room where one user has all of it: how many got some? */
static unsigned long evicted_for(int n, uint64_t ns)
{
	const struct outside outside = { .now_ns = moving_now,
					 .reach = world_reach,
					 .write = world_write };
	const struct publish_maps maps = { .n_pages = 64 };
	struct tables tables = { .outside = &outside };
	struct table wanted = { .n_pages = 1, .owner = 1001 };

	clock_ns = 100 * SECOND;
	look_ns = ns;
	assert_int_equal(page_allocator_new(&tables.allocator, &maps, &outside), 0);
	while (page_allocator_alloc(tables.allocator, 1, clock_ns))
		;
	for (int i = 0; i < 2 * n; i++)
		vec_push(&tables.tables, ((struct table){ .state = TABLE_READY,
							  .n_pages = 1,
							  .users = 1,
							  .owner = 1000,
							  .hit_ns = clock_ns }));
	for (int i = 0; i < n; i++) {
		wanted.is_worth_a_try = true;
		assert_int_equal(tables_take(&tables, &wanted), 0);
	}
	page_allocator_free(tables.allocator);
	vec_free(&tables.tables);
	vec_free(&tables.news);
	return tables.counts.evicted;
}

/* Whoever can be many users can let each table that comes look at all others. */
static void looking_for_room_has_a_bound(void **state)
{
	unsigned long evicted;

	assert_int_equal(evicted_for(1000, 1000), 1000);
	evicted = evicted_for(1000, 5 * MS);
	assert_in_range(evicted, 2, (clock_ns - 100 * SECOND) / (20 * 5 * MS) + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sleeper_makes_room),
		cmocka_unit_test(mappings_have_room),
		cmocka_unit_test(what_is_hit_stays),
		cmocka_unit_test(what_was_used_stays_when_room_gets_short),
		cmocka_unit_test(what_never_fits_takes_nothing),
		cmocka_unit_test(who_wakes_up_gets_it_back),
		cmocka_unit_test(nobody_takes_more_than_his_share),
		cmocka_unit_test(at_random),
		cmocka_unit_test(looking_for_room_has_a_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
