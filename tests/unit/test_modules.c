/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of modules lets go what nobody needs, and gives its numbers again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <string.h>

#include "pipeline/profile_builder.h"
#include "pipeline/window.h"

static uint32_t add_file(struct module_table *modules, const char *path)
{
	const struct module module = { .kind = MODULE_FILE, .ino = 1, .path = path };
	uint32_t id;

	assert_int_equal(module_id(modules, &module, &id), 0);
	return id;
}

static uint32_t dump_of(const char *path)
{
	const struct module module = { .kind = MODULE_FILE, .path = path };

	return module_jitdump_pid(&module);
}

static void the_name_of_a_dump_says_whose_it_is(void **state)
{
	assert_int_equal(dump_of("/tmp/jit-123.dump"), 123);
	assert_int_equal(dump_of("jit-123.dump"), 123);
	/* bun's has the thread before it */
	assert_int_equal(dump_of("/tmp/jit-124-123.dump"), 123);
	assert_int_equal(dump_of("/tmp/jit-124-123-122.dump"), 0);
	assert_int_equal(dump_of("/tmp/jit-124-123-3Z5svY"), 123);
	assert_int_equal(dump_of("/tmp/jit-124-123-3Z5sv"), 0);
	assert_int_equal(dump_of("/tmp/jit-124-3Z5svY"), 0);
	assert_int_equal(dump_of("/tmp/jit-124-123"), 0);
	assert_int_equal(dump_of("/tmp/jit-124-.dump"), 0);
	assert_int_equal(dump_of("/tmp/jit--123.dump"), 0);
	assert_int_equal(dump_of("/tmp/jit-124- 123.dump"), 0);
	assert_int_equal(dump_of("/tmp/jit-123.dump.1"), 0);
	assert_int_equal(dump_of("/tmp/jit-4294967297.dump"), 0);
	assert_int_equal(dump_of("/tmp/jit-124-4294967297.dump"), 0);
	assert_int_equal(dump_of("/tmp/jit-0123.dump"), 0);
	assert_int_equal(dump_of("/tmp/ajit-123.dump"), 0);
}

static void no_one(void *arg, uint32_t module)
{
}

static void a_number_that_is_given_again_is_another_module(void **state)
{
	const struct profile_sources sources = { .all_modules = true };
	AUTO(module_table) modules = NULL;
	AUTO(window) window = NULL;
	AUTO(profile_builder) builder = NULL;
	const struct profile *r;
	uint32_t held, id;

	assert_int_equal(module_table_new(&modules), 0);
	assert_int_equal(window_new(&window, modules), 0);
	assert_int_equal(
		profile_builder_new(&builder, window_aggregator(window), modules), 0);
	profile_builder_set_sources(builder, &sources);
	held = add_file(modules, "/held");
	module_hold(modules, held);
	id = add_file(modules, "/gone");
	assert_int_equal(profile_builder_update(builder), 0);
	/* looked up since the last time: it stays once */
	assert_int_equal(module_trim(modules, no_one, NULL), 0);
	assert_int_equal(add_file(modules, "/gone"), id);
	assert_int_equal(module_trim(modules, no_one, NULL), 0);
	assert_int_equal(module_trim(modules, no_one, NULL), 0);
	assert_int_equal(module_serial(modules, id), 0);
	assert_int_equal(module_counts(modules).let_go, 1);
	assert_int_equal(add_file(modules, "/new"), id);
	assert_int_equal(add_file(modules, "/held"), held);
	assert_int_equal(profile_builder_update(builder), 0);
	r = profile_builder_profile(builder);
	assert_int_equal(r->modules.n, MODULE_ID_VDSO + 1 + 3);
	assert_string_equal(profile_module_name(r, MODULE_ID_VDSO + 1), "held");
	assert_string_equal(profile_module_name(r, MODULE_ID_VDSO + 2), "gone");
	assert_string_equal(profile_module_name(r, MODULE_ID_VDSO + 3), "new");
	module_release(modules, held);
}

static void what_is_let_go_is_not_found_and_what_stays_is(void **state)
{
	AUTO(module_table) modules = NULL;
	uint32_t ids[3000];
	char path[32];

	assert_int_equal(module_table_new(&modules), 0);
	for (int i = 0; i < 3000; i++) {
		snprintf(path, sizeof(path), "/file%d", i);
		ids[i] = add_file(modules, path);
	}
	assert_true(module_table_is_crowded(modules));
	assert_int_equal(module_trim(modules, no_one, NULL), 0);
	assert_false(module_table_is_crowded(modules));
	for (int i = 0; i < 3000; i += 3)
		module_mark(modules, ids[i]);
	assert_int_equal(module_trim(modules, no_one, NULL), 0);
	assert_int_equal(module_counts(modules).let_go, 2000);
	assert_int_equal(module_counts(modules).now, 1000 + MODULE_ID_VDSO + 1);
	for (int i = 0; i < 3000; i++) {
		snprintf(path, sizeof(path), "/file%d", i);
		if (i % 3)
			assert_int_equal(module_serial(modules, ids[i]), 0);
		else
			assert_int_equal(add_file(modules, path), ids[i]);
	}
}

/* Whose paths are long fill it sooner than any number of modules does. */
static void a_full_table_is_gone_through(void **state)
{
	AUTO(module_table) modules = NULL;
	char path[4096];
	struct module module = { .kind = MODULE_FILE, .ino = 1, .path = path };
	uint32_t id;
	int err = 0;

	assert_int_equal(module_table_new(&modules), 0);
	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	for (int i = 0; !err; i++) {
		if (module_table_is_crowded(modules))
			assert_int_equal(module_trim(modules, no_one, NULL), 0);
		for (uint32_t k = 1; k < module_count(modules); k++)
			if (module_serial(modules, k)) /* somebody maps all of them */
				module_mark(modules, k);
		snprintf(path + 1, 16, "%d", i);
		path[strlen(path)] = 'x';
		err = module_id(modules, &module, &id);
		assert_in_range(i, 0, 100000);
	}
	assert_true(err > 0);
	for (int i = 0; i < 2; i++) { /* he has ended */
		assert_true(i || module_table_is_crowded(modules));
		assert_int_equal(module_trim(modules, no_one, NULL), 0);
	}
	assert_int_equal(module_id(modules, &module, &id), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_that_is_given_again_is_another_module),
		cmocka_unit_test(what_is_let_go_is_not_found_and_what_stays_is),
		cmocka_unit_test(a_full_table_is_gone_through),
		cmocka_unit_test(the_name_of_a_dump_says_whose_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
