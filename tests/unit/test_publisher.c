/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What ticks find of processes, whatever happens to these, and in whatever order.
 */
#include "base/error.h"
#include "base/vec.h"

#include "publish_world.h"

#define AT	0x7f0000001000ULL
#define ALSO_AT 0x7f0000101000ULL
#define EXEC_MS 3 /* how long an incarnation is young */

enum { P = 1, Q, CHILD };

/* P maps a file whose metadata and table are there, and is old enough. */
static void begin_known(uint32_t n_keys)
{
	world_begin();
	world.files[1].n_keys = n_keys;
	world_map(P, 1, AT);
	world_pass(0);
	assert_true(world_answer(METADATA, 1, 0));
	assert_true(world_answer(TABLE, 1, 0));
	world_pass(10 * MS);
}

/* ---- who it is ---- */

static void the_young_are_asked_again(void **state)
{
	world_begin();
	world_map(P, 1, AT);
	world_pass(0);
	assert_true(publisher_is_unsure(world.publisher));
	assert_true(world_awaits(P, AT));
	/* its exec was under way: only now it is where its stack begins */
	world.procs[P].start_stack = 0x7ffe00000000;
	assert_false(world_is_believed(P));
	world_pass(EXEC_MS * MS);
	assert_true(publisher_is_unsure(world.publisher));
	world_pass(1);
	assert_false(publisher_is_unsure(world.publisher));
	assert_true(world_is_believed(P));
	world_end();
}

static void who_is_in_an_exec_is_asked_with_each_flush(void **state)
{
	world_begin();
	world.procs[P].err = -ESRCH;
	world_map(P, 1, AT);
	world_pass(MS);
	assert_int_equal(world.n_puts, 0);
	world.procs[P].err = 0;
	world_pass(MS);
	assert_true(world_is_believed(P));
	assert_true(publisher_is_unsure(world.publisher));
	world_pass(EXEC_MS * MS);
	assert_false(publisher_is_unsure(world.publisher));
	assert_int_equal(world_counts().refused, 0);
	world_end();
}

/* It runs another program by now, of which no record has come: what was read would
 * lend its life to the old one's addresses. */
static void who_maps_something_else_gets_nothing(void **state)
{
	world_begin();
	world.procs[P].is_elsewhere = true;
	world_map(P, 1, AT);
	world_pass(MS);
	world_pass(10 * MS);
	world_pass(10 * MS);
	assert_int_equal(world.n_puts, 0);
	assert_false(publisher_is_unsure(world.publisher));
	world_end();
}

/* While it is young that may be its exec. */
static void who_is_hidden_is_counted_once_it_is_old(void **state)
{
	world_begin();
	world.procs[P].err = -EPERM;
	world_map(P, 1, AT);
	world_pass(0);
	world_pass(MS);
	assert_int_equal(world_counts().hidden, 0);
	world_pass(10 * MS);
	assert_int_equal(world_counts().hidden, 1);
	assert_int_equal(world_counts().refused, 0);
	/* nor is one that was there before us, of whom nothing else is known */
	world.procs[7].err = -EPERM;
	for (int i = 0; i < 3; i++)
		publisher_on_awaited(world.publisher, 7, AT, world.now_ns);
	publisher_on_awaited(world.publisher, 8, AT, world.now_ns);
	assert_int_equal(world_counts().hidden, 2);
	assert_false(publisher_is_unsure(world.publisher));
	assert_int_equal(world.n_puts, 0);
	world_end();
}

static void what_is_stale_is_read_again(void **state)
{
	begin_known(0);
	assert_true(world_walks_by_table(P, 1, AT));
	world.procs[P].start_ticks = 7777;
	assert_false(world_is_believed(P));
	world_pass(10 * MS); /* nobody said so yet */
	assert_false(world_is_believed(P));
	publisher_on_stale(world.publisher, P);
	world_pass(0);
	assert_true(world_walks_by_table(P, 1, AT));
	assert_int_equal(world_counts().stale, 1);
	/* of others nothing is known */
	publisher_on_stale(world.publisher, 39);
	assert_int_equal(world_counts().stale, 1);
	world_end();
}

static void nothing_is_put_twice(void **state)
{
	unsigned int puts;

	begin_known(1);
	puts = world.n_puts;
	for (int i = 0; i < 5; i++)
		world_pass(1000 * MS);
	publisher_on_stale(world.publisher, P);
	world_pass(0);
	assert_int_equal(world.n_puts, puts);
	world_end();
}

/* ---- the kernel refuses ---- */

static void no_room_for_a_process(void **state)
{
	world_begin();
	world.put_err = -E2BIG;
	world_map(P, 1, AT);
	world_pass(0);
	assert_int_equal(world_counts().refused, 0); /* it will be tried again */
	world_pass(10 * MS);
	assert_int_equal(world_counts().refused, 1);
	world.put_err = 0;
	world_map(P, 2, ALSO_AT);
	world_pass(0);
	assert_true(world_awaits(P, AT));
	assert_int_equal(world_counts().processes, 0); /* without a key */
	world_end();
}

static void no_room_for_mappings(void **state)
{
	world_begin_with((struct publisher_config){ .tables = true, .maps.n_pages = 1 });
	world_map(P, 1, AT);
	world_pass(10 * MS);
	assert_int_equal(world_counts().mapping_tables.refused, 1);
	assert_int_equal(world.n_puts, 0);
	assert_null(world_mapping(P, AT));
	world_end();
}

static void a_failed_write_ends_the_run(void **state)
{
	world_begin();
	world.write_err = -EIO;
	world_map(P, 1, AT);
	assert_int_equal(world_flush(), -EIO);
	error_clear();
	world_end();
}

/* ---- forks and execs ---- */

static void a_child_has_what_its_parent_had(void **state)
{
	unsigned int puts;

	begin_known(1);
	assert_int_equal(world_counts().processes, 1);
	puts = world.n_puts;
	world.now_ns += MS;
	world_fork(P, CHILD);
	world_pass(MS);
	assert_true(world_walks_by_table(CHILD, 1, AT));
	assert_int_equal(world.n_puts, puts);
	assert_int_equal(world_counts().processes, 2);
	/* and keeps it when its parent is gone */
	world_exit(P);
	world_pass(10 * MS);
	assert_true(world_walks_by_table(CHILD, 1, AT));
	world_exit(CHILD);
	world_pass(10 * MS);
	assert_int_equal(world_counts().tables.pages, 2); /* the table's own */
	world_end();
}

/* The kernel could not pass on what was published only after the fork. */
static void a_child_from_before_is_published_itself(void **state)
{
	world_begin();
	world_map(P, 1, AT);
	world_fork(P, CHILD);
	world.is_published[CHILD] = false;
	world_pass(10 * MS);
	assert_true(world_awaits(CHILD, AT));
	world_end();
}

static void a_child_of_one_that_maps_more_keeps_the_old(void **state)
{
	begin_known(0);
	world.now_ns += MS;
	world_fork(P, CHILD);
	world_map(P, 2, ALSO_AT);
	world_pass(10 * MS);
	assert_true(world_walks_by_table(CHILD, 1, AT));
	assert_null(world_mapping(CHILD, ALSO_AT));
	assert_true(world_walks_by_table(P, 1, AT));
	assert_true(world_awaits(P, ALSO_AT));
	world_end();
}

static void an_exec_takes_everything_back(void **state)
{
	begin_known(1);
	world.now_ns += MS;
	world_exec(P);
	world_pass(0);
	assert_false(world.is_published[P]);
	assert_int_equal(world.n_removed, 1);
	world_map(P, 1, ALSO_AT);
	world_pass(10 * MS);
	assert_true(world_walks_by_table(P, 1, ALSO_AT));
	assert_null(world_mapping(P, AT));
	assert_int_equal(world.files[1].n_asked[TABLE], 1);
	world_end();
}

/* ---- keys ---- */

static uint64_t key_address(unsigned int i)
{
	return AT + KEY_VADDR - TEXT_VADDR + 4 * i;
}

static void keys_are_published_without_tables(void **state)
{
	world_begin_with((struct publisher_config){ .tables = false });
	world.files[1].n_keys = 2;
	world_map(P, 1, AT);
	world_pass(10 * MS);
	assert_int_equal(world.n_puts, 0);
	assert_true(world_answer(METADATA, 1, 0));
	world_pass(0);
	assert_true(world_is_believed(P));
	assert_int_equal(world.processes[P].key_addr[0], key_address(0));
	assert_int_equal(world.processes[P].key_addr[1], key_address(1));
	assert_int_equal(world.processes[P].key_addr[2], 0);
	assert_int_equal(world.files[1].n_asked[TABLE], 0);
	assert_int_equal(world_counts().processes, 1);
	world_end();
}

/* The set ones of too many go first, which is asked once a second, since a key is set
 * when its first operation runs. */
static void of_too_many_keys_the_set_ones_go_first(void **state)
{
	begin_known(KEYS_MAX + 2);
	assert_int_equal(world.processes[P].key_addr[0], key_address(0));
	assert_int_equal(world_counts().too_many_keys, 1);
	world_pass(0); /* asked just now */
	world.set_keys[0] = key_address(KEYS_MAX + 1);
	world_pass(100 * MS);
	assert_int_equal(world.processes[P].key_addr[0], key_address(0));
	world_pass(1000 * MS);
	assert_int_equal(world.processes[P].key_addr[0], key_address(KEYS_MAX + 1));
	assert_int_equal(world_counts().too_many_keys, 1);
	assert_int_equal(world_counts().too_many_set_keys, 0);
	world_end();
}

static void too_many_set_keys_are_counted_once(void **state)
{
	begin_known(KEYS_MAX + 2);
	for (unsigned int i = 0; i < KEYS_MAX + 1; i++)
		world.set_keys[i] = key_address(i);
	world_pass(1000 * MS);
	assert_int_equal(world_counts().too_many_set_keys, 1);
	world.is_hidden = true; /* no answer in time */
	world_pass(1000 * MS);
	world.is_hidden = false;
	world_pass(1000 * MS);
	assert_int_equal(world_counts().too_many_set_keys, 1);
	assert_int_equal(world_counts().too_many_keys, 1);
	/* a child inherits the question, and not the answer */
	world_fork(P, CHILD);
	world_pass(MS);
	assert_int_equal(world_counts().too_many_keys, 2);
	world_end();
}

/* ---- all orders ---- */

/* A, B: P, Q map the file; F: P forks; X: P becomes another program, which maps the
 * file elsewhere; S: a tick says that P's is stale; E: Q ends; M, T: metadata and table
 * come, as soon as they are asked. */
static const char steps[] = "ABFXSEMT";

#define N_STEPS (sizeof(steps) - 1)

struct trial {
	char order[N_STEPS + 1];
	int err[2];
	bool comes[2];
	bool has_forked, has_exec, q_ended;
	bool maps[4]; /* P, Q, the child: at AT */
};

static void let_come(const struct trial *t)
{
	for (int again = 0; again < 2; again++) {
		for (int piece = METADATA; piece <= TABLE; piece++)
			if (t->comes[piece])
				world_answer((enum piece)piece, 1, t->err[piece]);
		world_pass(1000);
	}
}

static void happen(struct trial *t, char step)
{
	switch (step) {
	case 'A':
		world_map(P, 1, AT);
		t->maps[P] = true;
		break;
	case 'B':
		if (!t->q_ended)
			world_map(Q, 1, AT);
		t->maps[Q] = !t->q_ended;
		break;
	case 'F':
		world_fork(P, CHILD);
		t->maps[CHILD] = t->maps[P];
		t->has_forked = true;
		break;
	case 'X':
		world_exec(P);
		world_map(P, 1, ALSO_AT);
		t->maps[P] = false;
		t->has_exec = true;
		break;
	case 'S':
		publisher_on_stale(world.publisher, P);
		break;
	case 'E':
		world_exit(Q);
		t->q_ended = true;
		t->maps[Q] = false;
		break;
	default:
		t->comes[step == 'M' ? METADATA : TABLE] = true;
	}
	world.now_ns += 1000;
	let_come(t);
	world_check(t->order);
}

static bool has_key(int pid, uint64_t addr)
{
	for (int i = 0; i < KEYS_MAX; i++)
		if (world.processes[pid].key_addr[i] == addr)
			return true;
	return false;
}

static void expect(const struct trial *t, int pid, uint64_t at)
{
	bool table = !t->err[METADATA] && !t->err[TABLE];
	bool is_right =
		table ? world_walks_by_table(pid, 1, at) : world_walks_by_fp(pid, at);

	if (!is_right)
		fail_msg("order %s, errors %d %d: process %d is not walked by %s",
			 t->order, t->err[METADATA], t->err[TABLE], pid,
			 table ? "its table" : "frame pointer");
	if (!t->err[METADATA] && !has_key(pid, at + KEY_VADDR - TEXT_VADDR))
		fail_msg("order %s: process %d has no key", t->order, pid);
}

static void try_order(struct trial t)
{
	world_begin();
	world.files[1].n_keys = 1;
	for (const char *step = t.order; *step; step++)
		happen(&t, *step);
	world_pass(10 * MS);
	world_pass(10 * MS);
	world_check(t.order);
	for (int pid = P; pid <= CHILD; pid++)
		if (t.maps[pid])
			expect(&t, pid, AT);
	expect(&t, P, ALSO_AT);
	assert_false(publisher_is_unsure(world.publisher));
	world_end();
}

/* Each order of what is left, behind the first n. */
static unsigned int try_orders(struct trial t, size_t n)
{
	unsigned int tried = 0;

	if (n == N_STEPS) {
		try_order(t);
		return 1;
	}
	for (size_t i = n; i < N_STEPS; i++) {
		struct trial next = t;

		next.order[n] = t.order[i];
		next.order[i] = t.order[n];
		tried += try_orders(next, n + 1);
	}
	return tried;
}

static void all_orders(void **state)
{
	struct trial t = { 0 };

	memcpy(t.order, steps, sizeof(steps));
	assert_int_equal(try_orders(t, 0), 40320);
}

static void all_orders_without_a_table(void **state)
{
	struct trial t = { .err = { 0, -ENODATA } };

	memcpy(t.order, steps, sizeof(steps));
	assert_int_equal(try_orders(t, 0), 40320);
}

/* Bytes that a table was made of are others now: nobody is walked by it any more, and who
 * is sampled there gets the new one. */
static void a_file_written_over_has_another_table(void **state)
{
	int fd;

	world_begin();
	fd = world.files[1].fd;
	world_map(1, 1, AT);
	world_pass(0);
	world_answer(METADATA, 1, 0);
	world_answer(TABLE, 1, 0);
	world_pass(0);
	assert_true(world_walks_by_table(1, 1, AT));
	assert_int_equal(ftruncate(fd, 100), 0);
	world_map(2, 1, AT);
	world_pass(10 * MS);
	assert_false(world_walks_by_table(1, 1, AT));
	assert_false(world_walks_by_table(2, 1, AT));
	for (int i = 0; i < 50; i++) {
		publisher_on_awaited(world.publisher, 2, AT, world.now_ns);
		world_pass(200 * MS);
		world_answer(METADATA, 1, 0);
		world_answer(TABLE, 1, 0);
	}
	assert_true(world_walks_by_table(2, 1, AT));
	assert_int_equal(ftruncate(fd, 0), 0);
	world_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_young_are_asked_again),
		cmocka_unit_test(who_is_in_an_exec_is_asked_with_each_flush),
		cmocka_unit_test(who_maps_something_else_gets_nothing),
		cmocka_unit_test(who_is_hidden_is_counted_once_it_is_old),
		cmocka_unit_test(what_is_stale_is_read_again),
		cmocka_unit_test(nothing_is_put_twice),
		cmocka_unit_test(no_room_for_a_process),
		cmocka_unit_test(no_room_for_mappings),
		cmocka_unit_test(a_failed_write_ends_the_run),
		cmocka_unit_test(a_child_has_what_its_parent_had),
		cmocka_unit_test(a_child_from_before_is_published_itself),
		cmocka_unit_test(a_child_of_one_that_maps_more_keeps_the_old),
		cmocka_unit_test(an_exec_takes_everything_back),
		cmocka_unit_test(keys_are_published_without_tables),
		cmocka_unit_test(of_too_many_keys_the_set_ones_go_first),
		cmocka_unit_test(too_many_set_keys_are_counted_once),
		cmocka_unit_test(all_orders),
		cmocka_unit_test(all_orders_without_a_table),
		cmocka_unit_test(a_file_written_over_has_another_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
