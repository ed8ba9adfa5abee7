/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes of whose end no record came. The truth is this process itself and
 * children of it: one that lives, one that is gone, one that is a zombie, and one
 * that has the pid which the table knows as another's.
 */
#include "base/clock.h"
#include "base/vec.h"
#include "proc/reap.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "child.h"

struct world {
	struct module_table *modules;
	struct process_table *table;
	VEC(struct side_event) exits; /* by the reaping, not applied yet */
	unsigned int ends;	      /* that the table told of */
};

static void on_ended(void *arg, const struct process *process)
{
	struct world *w = arg;

	w->ends++;
}

static int begin(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	const struct process_sink sink = { .arg = w, .ended = on_ended };

	assert_int_equal(module_table_new(&w->modules), 0);
	assert_int_equal(process_table_new(&w->table, w->modules, &sink), 0);
	*state = w;
	return 0;
}

static int end(void **state)
{
	struct world *w = *state;

	process_table_free(w->table);
	module_table_free(w->modules);
	vec_free(&w->exits);
	free(w);
	return 0;
}

/* As a fork tells it, at that time. */
static void know(struct process_table *table, pid_t pid, uint64_t time_ns)
{
	const struct side_event fork = { .kind = SIDE_FORK,
					 .time_ns = time_ns,
					 .pid = (uint32_t)pid,
					 .tid = (uint32_t)pid,
					 .ppid = 1 };

	assert_int_equal(process_apply(table, &fork), 0);
}

static void begin_thread(struct process_table *table, pid_t pid)
{
	const struct side_event thread = { .kind = SIDE_FORK,
					   .time_ns = clock_now_ns(),
					   .pid = (uint32_t)pid,
					   .tid = (uint32_t)pid + 1,
					   .ppid = (uint32_t)pid };

	assert_int_equal(process_apply(table, &thread), 0);
}

static int on_told(void *arg, const void *record, size_t bytes)
{
	struct world *w = arg;
	struct side_event event;

	assert_int_equal(side_event_read(&event, record, bytes), 0);
	assert_int_equal(event.kind, SIDE_EXIT);
	return vec_push(&w->exits, event);
}

static void reap(struct world *w, const struct process_table *reaped)
{
	const struct event_sink sink = { .arg = w, .sideband = on_told };

	w->exits.n = 0;
	assert_int_equal(reap_lost_exits(NULL, w->table, reaped, &sink), 0);
}

static void apply(struct world *w)
{
	for (size_t i = 0; i < w->exits.n; i++)
		assert_int_equal(process_apply(w->table, &w->exits.items[i]), 0);
}

static bool has_ended(const struct world *w, pid_t pid)
{
	return process_get(w->table, (uint32_t)pid)->ended_ns != 0;
}

/* Ended, and not asked how: until it is, its number stays its own. */
static void make_zombie(pid_t pid)
{
	siginfo_t info;

	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

static void those_that_live_stay(void **state)
{
	struct world *w = *state;
	pid_t child = new_child();

	know(w->table, getpid(), clock_now_ns());
	know(w->table, child, clock_now_ns());
	reap(w, NULL);
	assert_int_equal(w->exits.n, 0);
	end_child(child);
}

static void those_that_are_gone_end(void **state)
{
	struct world *w = *state;
	pid_t gone = new_child(), zombie = new_child();

	know(w->table, getpid(), clock_now_ns());
	know(w->table, gone, clock_now_ns());
	know(w->table, zombie, clock_now_ns());
	begin_thread(w->table, gone); /* of whose end nothing is told either */
	end_child(gone);
	make_zombie(zombie);
	reap(w, NULL);
	assert_int_equal(w->exits.n, 2);
	apply(w);
	assert_true(has_ended(w, gone));
	assert_true(has_ended(w, zombie));
	assert_false(has_ended(w, getpid()));
	assert_int_equal(w->ends, 2);
	assert_int_equal(process_counts(w->table)->unheard, 2);

	reap(w, NULL);
	assert_int_equal(w->exits.n, 0);
	process_forget(w->table, UINT64_MAX);
	assert_null(process_get(w->table, (uint32_t)gone));
	end_child(zombie);
}

/* The table knows the pid from before its holder began. */
static void a_pid_of_another_ends_the_old_one_only(void **state)
{
	struct world *w = *state;
	uint64_t long_ago = clock_now_ns() / 2;
	pid_t child = new_child();

	know(w->table, child, long_ago);
	reap(w, NULL);
	assert_int_equal(w->exits.n, 1);
	apply(w);
	assert_true(has_ended(w, child));

	/* the record of its fork was on its way and came first */
	know(w->table, child, long_ago);
	reap(w, NULL);
	know(w->table, child, clock_now_ns());
	apply(w);
	assert_false(has_ended(w, child));
	end_child(child);
}

static void none_is_told_twice_of_two_tables(void **state)
{
	struct world *w = *state;
	struct process_table *other;
	pid_t both = new_child(), one = new_child();

	assert_int_equal(process_table_new(&other, w->modules, NULL), 0);
	know(other, both, clock_now_ns());
	know(w->table, both, clock_now_ns());
	know(w->table, one, clock_now_ns());
	end_child(both);
	end_child(one);
	reap(w, other);
	assert_int_equal(w->exits.n, 1);
	assert_int_equal(w->exits.items[0].pid, one);
	process_table_free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(those_that_live_stay, begin, end),
		cmocka_unit_test_setup_teardown(those_that_are_gone_end, begin, end),
		cmocka_unit_test_setup_teardown(a_pid_of_another_ends_the_old_one_only,
						begin, end),
		cmocka_unit_test_setup_teardown(none_is_told_twice_of_two_tables, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
