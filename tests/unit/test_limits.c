/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What others make long or many on purpose: paths, mappings of processes that forked
 * from each other, mappings that are gone, of which no record tells.
 */
#include "proc/process.h"

#include "base/intern.h"
#include "core/aggregator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define PAGE	   4096
#define CHILDREN   64
#define LONG_BYTES 4000

static void bytes_are_limited(void **state)
{
	char text[LONG_BYTES];
	struct intern *table;
	uint32_t id, first;
	size_t n = 0;

	assert_int_equal(intern_new(&table, 1u << 20), 0);
	intern_limit_bytes(table, 100 * LONG_BYTES);
	memset(text, 'x', sizeof(text));
	for (int i = 0; i < 1000; i++) {
		memcpy(text, &i, sizeof(i));
		n += intern_id(table, text, sizeof(text), &id) == 0;
		if (!i)
			first = id;
	}
	assert_int_equal(n, 100);
	assert_int_equal(intern_count(table), 100);
	/* what is there is found, and nothing costs nothing */
	memcpy(text, &(int){ 0 }, sizeof(int));
	assert_int_equal(intern_id(table, text, sizeof(text), &id), 0);
	assert_int_equal(id, first);
	assert_int_equal(intern_id(table, "", 0, &id), 0);
	assert_int_equal(intern_id(table, "a", 1, &id), INTERN_FULL);
	intern_free(table);
}

static void paths_of_files_are_limited(void **state)
{
	size_t bytes = 0, refused = 0;
	struct module_table *modules;
	char path[LONG_BYTES + 1];
	uint32_t id;

	assert_int_equal(module_table_new(&modules), 0);
	memset(path, 'x', LONG_BYTES);
	path[LONG_BYTES] = '\0';
	for (uint64_t i = 1; !refused; i++) {
		const struct module module = { .kind = MODULE_FILE,
					       .ino = i,
					       .path = path };
		int err = module_id(modules, &module, &id);

		assert_true(!err || err == INTERN_FULL);
		bytes += err ? 0 : LONG_BYTES;
		refused += err != 0;
		assert_true(bytes <= MODULE_BYTES_MAX);
	}
	assert_true(bytes > MODULE_BYTES_MAX / 2);
	module_table_free(modules);
}

static void map(struct process_table *table, uint32_t pid, uint64_t start)
{
	const struct side_event event = { .kind = SIDE_MMAP,
					  .time_ns = 1,
					  .pid = pid,
					  .tid = pid,
					  .start = start,
					  .bytes = PAGE,
					  .path = "/lib" };

	assert_int_equal(process_apply(table, &event), 0);
}

static size_t all_mappings(const struct process_table *table)
{
	const struct process *process;
	size_t sum = 0, n;

	for (size_t i = 0; (process = process_next(table, &i));) {
		process_mappings(process, &n);
		sum += n;
	}
	return sum;
}

static void map_path(struct process_table *table, uint32_t pid, uint64_t i, size_t n)
{
	struct side_event event = { .kind = SIDE_MMAP,
				    .time_ns = 1,
				    .pid = pid,
				    .tid = pid,
				    .start = (i + 1) * PAGE,
				    .bytes = PAGE,
				    .ino = pid * 1000000ULL + i };

	memset(event.path, 'x', n);
	event.path[0] = '/';
	event.path[n] = '\0';
	assert_int_equal(process_apply(table, &event), 0);
}

/* Somebody maps all that he can: then others still have room for their files. */
static void nobody_takes_all_room_for_paths(void **state)
{
	struct module_table *modules;
	struct process_table *table;
	uint64_t refused;

	assert_int_equal(module_table_new(&modules), 0);
	assert_int_equal(process_table_new(&table, modules, NULL), 0);
	for (uint32_t pid = 1; pid <= 8; pid++)
		for (uint64_t i = 0; i < 3000; i++)
			map_path(table, pid, i, 4000);
	refused = process_counts(table)->refused;
	assert_true(refused > 10000);
	for (uint64_t i = 0; i < 200; i++)
		map_path(table, 9, i, 100);
	assert_int_equal(process_counts(table)->refused, refused);
	/* what is there is nobody's burden */
	map_path(table, 1, 0, 4000);
	assert_int_equal(process_counts(table)->refused, refused);
	process_table_free(table);
	module_table_free(modules);
}

static void nobody_takes_all_room_for_mappings(void **state)
{
	struct module_table *modules;
	struct process_table *table;
	uint64_t refused;

	assert_int_equal(module_table_new(&modules), 0);
	assert_int_equal(process_table_new(&table, modules, NULL), 0);
	for (uint32_t pid = 1; pid <= 40; pid++)
		for (uint64_t i = 1; i < MAPPINGS_MAX; i++)
			map(table, pid, 2 * i * PAGE);
	refused = process_counts(table)->refused;
	assert_true(refused > 20 * (MAPPINGS_MAX - 2000));
	for (uint64_t i = 1; i <= 500; i++)
		map(table, 41, 2 * i * PAGE);
	assert_int_equal(process_counts(table)->refused, refused);
	process_table_free(table);
	module_table_free(modules);
}

static void fork_child(struct process_table *table, uint32_t pid)
{
	const struct side_event fork = {
		.kind = SIDE_FORK, .time_ns = 1, .pid = pid, .tid = pid, .ppid = 1
	};

	assert_int_equal(process_apply(table, &fork), 0);
}

static void end(struct process_table *table, uint32_t pid)
{
	const struct side_event exit = {
		.kind = SIDE_EXIT, .time_ns = 2, .pid = pid, .tid = pid
	};

	assert_int_equal(process_apply(table, &exit), 0);
}

/* One process maps as much as it may, and each child one page of its own more. */
static void mappings_of_all_are_limited(void **state)
{
	struct module_table *modules;
	struct process_table *table;
	uint64_t refused;

	assert_int_equal(module_table_new(&modules), 0);
	assert_int_equal(process_table_new(&table, modules, NULL), 0);
	for (uint64_t i = 1; i < MAPPINGS_MAX; i++)
		map(table, 1, 2 * i * PAGE);
	assert_int_equal(process_counts(table)->refused, 0);
	for (uint32_t pid = 2; pid < CHILDREN; pid++) {
		fork_child(table, pid);
		map(table, pid, PAGE);
	}
	refused = process_counts(table)->refused;
	assert_true(refused > 0 && refused < CHILDREN);
	/* those who share the first one's have no list */
	assert_true(all_mappings(table) - refused * (MAPPINGS_MAX - 1) <=
		    MAPPINGS_ALL_MAX);

	/* what ends gives it back */
	for (uint32_t pid = 2; pid < CHILDREN; pid++)
		end(table, pid);
	process_forget(table, UINT64_MAX);
	fork_child(table, CHILDREN);
	map(table, CHILDREN, PAGE);
	assert_int_equal(process_counts(table)->refused, refused);
	process_table_free(table);
	module_table_free(modules);
}

/* Whoever renames threads without end has those beyond a limit called so, and not by
 * the first name that there was. */
static void names_of_threads_are_limited(void **state)
{
	const struct aggregator_thread *nobody;
	struct aggregator *aggregator;
	char name[16];
	size_t bytes;
	uint32_t id;
	int err = 0;

	assert_int_equal(aggregator_new(&aggregator), 0);
	for (unsigned int i = 0; !err && i <= COMMS_MAX; i++) {
		snprintf(name, sizeof(name), "t%u", i);
		err = intern_id(aggregator->comms, name, strlen(name), &id);
	}
	assert_int_equal(err, INTERN_FULL);
	assert_string_equal(intern_string(aggregator->comms, 0), COMM_OTHER);
	nobody = intern_bytes(aggregator->threads, 0, &bytes);
	assert_int_equal(nobody->comm, 0);
	aggregator_free(aggregator);
}

/* A sample with n frames that are seen for the first time; how many got a place. */
static unsigned int add_sample(struct aggregator *aggregator, uint32_t module,
			       unsigned int n)
{
	static uint64_t next;
	unsigned int placed = 0;

	assert_int_equal(aggregator_begin_sample(aggregator, 0), 0);
	for (unsigned int i = 0; i < n; i++) {
		const struct frame frame = { .offset = next++, .module = module };
		uint32_t id;

		placed += !aggregator_frame_id(aggregator, &frame, &id);
	}
	return placed;
}

/* Who makes his stacks up brings hundreds of new frames a sample; others a few. */
static void made_up_stacks_leave_room(void **state)
{
	const unsigned int most = FRAME_BYTES_MAX / sizeof(struct frame);
	struct aggregator *aggregator;

	assert_int_equal(aggregator_new(&aggregator), 0);
	for (unsigned int i = 0; i < most / 2; i += 500)
		assert_int_equal(add_sample(aggregator, 1, 500), 500);
	for (unsigned int i = 0; i < most; i += 500) {
		add_sample(aggregator, 1, 500);
		if (i % 10000 == 0)
			assert_int_equal(add_sample(aggregator, 2, 10), 10);
	}
	assert_true(intern_count(aggregator->frames) < most / 4 * 3);
	aggregator_free(aggregator);
}

#define MADE_FRAMES 500

/* A stack whose first n frames nobody else has; 1: it is there as it was made. */
static int add_stack(struct aggregator *aggregator, uint32_t user, uint32_t n)
{
	const struct sample_owner owner = { .time_ns = 1, .weight_ns = 1, .tgid = 1 };
	uint32_t codes[STACK_HEAD + MADE_FRAMES] = { [STACK_ENDING] = END_START };
	size_t before = intern_count(aggregator->stacks);
	static uint64_t next = 1;

	assert_int_equal(aggregator_begin_sample(aggregator, user), 0);
	for (uint32_t i = 0; i < MADE_FRAMES; i++) {
		const struct frame frame = { .offset = i < n ? next++ : 0, .module = i };
		uint32_t id;

		if (aggregator_frame_id(aggregator, &frame, &id))
			break;
		codes[STACK_HEAD + codes[STACK_THREAD]++] = id;
	}
	assert_int_equal(aggregator_add(aggregator, codes,
					STACK_HEAD + codes[STACK_THREAD], &owner),
			 0);
	return codes[STACK_THREAD] == MADE_FRAMES &&
	       intern_count(aggregator->stacks) > before;
}

/* All that they bring is gone through when the recording ends. Others bring a few frames
 * with each stack, as many as they like, and so may who is root. */
static void made_up_stacks_of_a_user_end_in_time(void **state)
{
	const unsigned int samples = 2000;
	struct aggregator *aggregator;
	size_t made = 0;

	assert_int_equal(aggregator_new(&aggregator), 0);
	for (unsigned int i = 0; i < samples; i++) {
		made += add_stack(aggregator, 1, MADE_FRAMES);
		assert_true(add_stack(aggregator, 2, 3));
	}
	assert_true(made * MADE_FRAMES > SHARE_NODES / 2);
	assert_true(made * MADE_FRAMES <=
		    SHARE_NODES + samples * SHARE_NODES_A_SAMPLE + MADE_FRAMES);
	assert_int_equal(aggregator->samples.over_share, samples - made);
	assert_int_equal(aggregator->timeline.total, 2 * samples);
	/* nothing of theirs is new: one place more, where all of them are cut */
	assert_true(intern_count(aggregator->frames) < (made + 20) * MADE_FRAMES);
	assert_int_equal(intern_count(aggregator->stacks), made + samples + 1);
	for (unsigned int i = 0; i < samples; i++)
		assert_true(add_stack(aggregator, 0, MADE_FRAMES));
	aggregator_free(aggregator);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_limited),
		cmocka_unit_test(names_of_threads_are_limited),
		cmocka_unit_test(paths_of_files_are_limited),
		cmocka_unit_test(mappings_of_all_are_limited),
		cmocka_unit_test(nobody_takes_all_room_for_paths),
		cmocka_unit_test(nobody_takes_all_room_for_mappings),
		cmocka_unit_test(made_up_stacks_leave_room),
		cmocka_unit_test(made_up_stacks_of_a_user_end_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
