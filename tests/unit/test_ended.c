/* SPDX-License-Identifier: BSD-2-Clause */
/* Who has ended is forgotten when it is due and no sooner: of made-up lives, some of
 * whom are seen once more after their end, or whose pid is used again. */
#include "proc/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define PIDS  400
#define STEPS 200000
#define KEEP  2000

struct truth {
	bool is_there;
	uint64_t ended_ns; /* 0: it lives */
};

static void apply(struct process_table *table, enum side_kind kind, uint32_t pid,
		  uint64_t time_ns)
{
	static struct side_event event;

	event.kind = kind;
	event.pid = event.tid = pid;
	event.time_ns = time_ns;
	assert_int_equal(process_apply(table, &event), 0);
}

static void are_the_same(const struct process_table *table, const struct truth *truth)
{
	for (uint32_t i = 0; i < PIDS; i++) {
		const struct process *process = process_get(table, 1 + i);

		assert_int_equal(process != NULL, truth[i].is_there);
		if (process)
			assert_int_equal(process->ended_ns, truth[i].ended_ns);
	}
}

static void step(struct process_table *table, struct truth *truth, uint32_t i,
		 uint64_t now)
{
	struct truth *one = &truth[i];
	/* now and then an end is told late */
	uint64_t then = rand() % 8 ? now : now - (uint64_t)rand() % 100;

	switch (rand() % 4) {
	case 0:
		apply(table, SIDE_EXEC, 1 + i, now);
		*one = (struct truth){ .is_there = true };
		break;
	case 1:
		if (one->is_there && !one->ended_ns &&
		    then >= process_get(table, 1 + i)->born_ns) {
			apply(table, SIDE_EXIT, 1 + i, then);
			one->ended_ns = then;
		}
		break;
	case 2:
		process_seen(table, 1 + i, now);
		if (one->ended_ns)
			one->ended_ns = now;
		break;
	default:
		break;
	}
}

static void each_is_forgotten_when_it_is_due(void **state)
{
	static struct truth truth[PIDS];
	struct module_table *modules;
	struct process_table *table;
	uint64_t now = 1000000;

	assert_int_equal(module_table_new(&modules), 0);
	assert_int_equal(process_table_new(&table, modules, NULL), 0);
	srand(1);
	for (int n = 0; n < STEPS; n++) {
		now += (uint64_t)rand() % 20;
		step(table, truth, (uint32_t)rand() % PIDS, now);
		if (n % 16)
			continue;
		process_forget(table, now - KEEP);
		for (uint32_t i = 0; i < PIDS; i++)
			if (truth[i].ended_ns && truth[i].ended_ns < now - KEEP)
				truth[i] = (struct truth){ 0 };
		if (n % 64 == 0)
			are_the_same(table, truth);
	}
	process_forget(table, UINT64_MAX);
	for (uint32_t i = 0; i < PIDS; i++)
		if (truth[i].ended_ns)
			truth[i] = (struct truth){ 0 };
	are_the_same(table, truth);
	process_table_free(table);
	module_table_free(modules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_forgotten_when_it_is_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
