/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known of a module's file comes in pieces: its metadata from one worker,
 * its table from another or out of the cache, and processes map it meanwhile. In
 * every order, each of them must be walked by that table in the end, and by frame
 * pointer where a piece cannot be had.
 */
#include "base/vec.h"

#include "publish_world.h"

enum { P = 1, Q };

#define AT 0x7f0000001000ULL

struct trial {
	bool comes[2]; /* enum piece */
	int err[2];
	uint64_t born_ns; /* of processes and what they map */
};

static void trial_begin(struct trial *t)
{
	world_begin();
	*t = (struct trial){ .born_ns = world.now_ns };
}

/* A: the first process maps the file; B: another one does; M, T: metadata and table
 * come, or the word that they do not. */
static void happen(struct trial *t, char what)
{
	if (what == 'A' || what == 'B')
		world_map(what == 'A' ? P : Q, 1, AT);
	else
		t->comes[what == 'M' ? METADATA : TABLE] = true;
	for (int again = 0; again < 2; again++) {
		for (int piece = METADATA; piece <= TABLE; piece++)
			if (t->comes[piece])
				world_answer((enum piece)piece, 1, t->err[piece]);
		assert_true(world_flush() >= 0);
	}
}

static void expect(const char *order, bool table)
{
	for (int pid = P; pid <= Q; pid++)
		if (table ? !world_walks_by_table(pid, 1, AT)
			  : !world_walks_by_fp(pid, AT))
			fail_msg("order %s, process %d: not by %s", order, pid,
				 table ? "its table" : "frame pointer");
}

static const char *const orders[] = { "ABMT", "ABTM", "AMBT", "AMTB", "ATBM", "ATMB" };

static void try_all(int metadata_err, int table_err)
{
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		struct trial t;

		trial_begin(&t);
		t.err[METADATA] = metadata_err;
		t.err[TABLE] = table_err;
		for (const char *step = orders[i]; *step; step++)
			happen(&t, *step);
		expect(orders[i], !metadata_err && !table_err);
		assert_int_equal(world.files[1].n_asked[METADATA], 1);
		assert_int_equal(world.files[1].n_asked[TABLE], 1);
		world_end();
	}
}

static void all_come(void **state)
{
	try_all(0, 0);
}

static void no_table(void **state)
{
	try_all(0, -ENODATA);
}

static void no_metadata(void **state)
{
	try_all(-EBADMSG, 0);
}

static void nothing_comes(void **state)
{
	try_all(-EPIPE, -EPIPE);
}

/* ---- a tick that waits too long ---- */

#define OVERDUE_NS  2000000000ULL
#define UNMAPPED_NS 200000000ULL

static bool on_awaited(uint64_t addr, uint64_t time_ns)
{
	bool unmapped = publisher_on_awaited(world.publisher, P, addr, time_ns);

	assert_true(world_flush() >= 0);
	return unmapped;
}

/* As if a write had got lost: what ticks find is put right, and counted. */
static void what_got_lost_is_told_again(void **state)
{
	struct trial t;
	const struct process_info *what = &world.processes[P];

	trial_begin(&t);
	for (const char *step = "ABMT"; *step; step++)
		happen(&t, *step);
	memset(&world.pages[what->mapping_table].mappings[1], 0,
	       sizeof(struct unwind_mapping));
	assert_false(on_awaited(AT, t.born_ns + OVERDUE_NS - 1));
	assert_null(world_mapping(P, AT));
	assert_int_equal(world_counts().overdue, 0);
	assert_false(on_awaited(AT, t.born_ns + OVERDUE_NS));
	expect("ABMT", true);
	assert_int_equal(world_counts().overdue, 1);
	assert_int_equal(world_counts().requested_again, 1);
	/* at once it is not tried again */
	assert_false(on_awaited(AT, t.born_ns + OVERDUE_NS));
	assert_int_equal(world_counts().requested_again, 1);
	world_end();
}

static void a_busy_worker_is_not_asked_twice(void **state)
{
	struct trial t;

	trial_begin(&t);
	for (const char *step = "ABM"; *step; step++)
		happen(&t, *step);
	assert_false(on_awaited(AT, t.born_ns + OVERDUE_NS));
	assert_int_equal(world_counts().slow, 1);
	assert_int_equal(world_counts().overdue, 0);
	assert_int_equal(world_counts().requested_again, 0);
	/* that it comes at all is not believed for ever */
	world.now_ns += 64000000000ULL;
	assert_false(on_awaited(AT, t.born_ns + OVERDUE_NS + 60000000000ULL));
	assert_int_equal(world_counts().slow, 1);
	assert_int_equal(world_counts().overdue, 1);
	assert_int_equal(world_counts().requested_again, 0);
	happen(&t, 'T');
	expect("ABMT", true);
	assert_int_equal(world.files[1].n_asked[TABLE], 1);
	world_end();
}

/* A tick waited for what is there by now: its sample is late, as the worker was. */
static void what_came_since_is_not_lost(void **state)
{
	struct trial t;

	trial_begin(&t);
	for (const char *step = "ABM"; *step; step++)
		happen(&t, *step);
	world.now_ns = t.born_ns + OVERDUE_NS + 10 * MS;
	happen(&t, 'T');
	assert_false(on_awaited(AT, t.born_ns + OVERDUE_NS));
	/* while ticks are loaded with what it takes, say */
	world.now_ns += 2100 * MS;
	assert_false(on_awaited(AT, t.born_ns + OVERDUE_NS + 400 * MS));
	assert_int_equal(world_counts().slow, 1);
	assert_int_equal(world_counts().overdue, 0);
	assert_int_equal(world_counts().requested_again, 0);
	/* but not for ever */
	world.now_ns += 5000 * MS;
	assert_false(on_awaited(AT, world.now_ns));
	assert_int_equal(world_counts().overdue, 1);
	world_end();
}

/* What a process maps is told anew with each change. A tick that falls into that waits
 * for it, whatever it runs, and not since that was mapped. */
static void who_maps_more_does_not_wait_for_what_is_there(void **state)
{
	struct trial t;

	trial_begin(&t);
	for (const char *step = "ABMT"; *step; step++)
		happen(&t, *step);
	world.now_ns += 10000 * MS;
	world_map(P, 0, AT + 0x100000);
	assert_true(world_flush() >= 0);
	assert_false(on_awaited(AT, world.now_ns - 1));
	assert_false(on_awaited(AT, world.now_ns + 400 * MS));
	assert_int_equal(world_counts().overdue, 0);
	assert_int_equal(world_counts().requested_again, 0);
	/* but not for ever */
	world.now_ns += 600 * MS;
	assert_false(on_awaited(AT, world.now_ns));
	assert_int_equal(world_counts().overdue, 1);
	world_end();
}

/* While something is put, ticks find what was there before, whole. */
static int put(const struct publish_maps *maps, pid_t tgid,
	       const struct process_info *process_info)
{
	if (world.is_published[tgid])
		assert_non_null(world_mapping(tgid, AT));
	return world_put(maps, tgid, process_info);
}

static void who_maps_more_keeps_what_is_there_until_then(void **state)
{
	struct outside outside = world_outside;

	outside.put = put;
	world_begin_in(&outside, (struct publisher_config){ .tables = true });
	for (uint64_t i = 0; i < 3; i++) {
		world_map(P, 0, AT + i * 0x100000);
		world_pass(10 * MS);
	}
	assert_true(world.n_puts >= 3);
	world_end();
}

/* Code that was moved there: /proc is to be asked. */
static void nothing_mapped_there(void **state)
{
	struct trial t;

	trial_begin(&t);
	for (const char *step = "ABMT"; *step; step++)
		happen(&t, *step);
	assert_false(on_awaited(AT + 0x100000, t.born_ns + UNMAPPED_NS - 1));
	assert_true(on_awaited(AT + 0x100000, t.born_ns + UNMAPPED_NS));
	assert_int_equal(world_counts().overdue, 0);
	world_end();
}

/* Of one that maps too much to be read at the start it is known that it is there. */
static void who_was_left_is_read_when_it_runs(void **state)
{
	uint64_t born_ns;

	world_begin();
	born_ns = world.now_ns;
	world_exec(P);
	world_pass(0);
	assert_false(on_awaited(AT, born_ns));
	assert_true(on_awaited(AT, born_ns + UNMAPPED_NS));
	assert_false(on_awaited(AT, born_ns + UNMAPPED_NS)); /* a moment ago */
	world_exit(P);
	world_pass(0);
	assert_false(on_awaited(AT, born_ns + 2 * UNMAPPED_NS));
	world_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_come),
		cmocka_unit_test(no_table),
		cmocka_unit_test(no_metadata),
		cmocka_unit_test(nothing_comes),
		cmocka_unit_test(what_got_lost_is_told_again),
		cmocka_unit_test(a_busy_worker_is_not_asked_twice),
		cmocka_unit_test(what_came_since_is_not_lost),
		cmocka_unit_test(who_maps_more_does_not_wait_for_what_is_there),
		cmocka_unit_test(who_maps_more_keeps_what_is_there_until_then),
		cmocka_unit_test(nothing_mapped_there),
		cmocka_unit_test(who_was_left_is_read_when_it_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
