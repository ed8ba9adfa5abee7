// SPDX-License-Identifier: BSD-2-Clause
/* Generated code without names, beside files that are mapped no longer: their numbers are
 * nobody's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#undef fail /* ours is meant */

#include "pipeline/profile_builder.h"
#include "record/name_ledger.h"

enum { PID = 7 };

static void no_one(void *arg, uint32_t module)
{
}

static uint32_t add_module(struct module_table *modules, enum module_kind kind,
			   const char *path)
{
	const struct module module = {
		.kind = kind, .pid = PID, .ino = kind == MODULE_FILE, .path = path
	};
	uint32_t id;

	assert_int_equal(module_id(modules, &module, &id), 0);
	module_hold(modules, id);
	return id;
}

static void count_of_generated(struct module_table *modules, uint32_t jit,
			       struct name_ledger *ret)
{
	uint32_t codes[STACK_HEAD + 1] = { 0, HOOK_ONCPU, END_START, 0, 1 };
	const struct sample_owner owner = { .time_ns = 1, .weight_ns = 1, .tgid = PID };
	const struct frame frame = { .module = jit, .offset = 0x1000 };
	AUTO(aggregator) aggregator = NULL;
	AUTO(names) names = NULL;
	AUTO(profile_builder) builder = NULL;
	uint32_t id;

	assert_int_equal(aggregator_new(&aggregator), 0);
	assert_int_equal(names_new(&names), 0);
	assert_int_equal(aggregator_frame_id(aggregator, &frame, &id), 0);
	codes[STACK_HEAD] = CODE_FRAME | id;
	assert_int_equal(aggregator_add(aggregator, codes, STACK_HEAD + 1, &owner), 0);
	assert_int_equal(profile_builder_new(&builder, aggregator, modules), 0);
	assert_int_equal(profile_builder_finish(builder, names), 0);
	assert_int_equal(name_ledger_count(ret,
					   &(struct name_ledger_source){
						   aggregator, modules, names,
						   profile_builder_profile(builder) }),
			 0);
}

static void a_module_that_was_let_go_made_no_code(void **state)
{
	AUTO(module_table) modules = NULL;
	struct name_ledger ledger;
	uint32_t gone, jit;

	assert_int_equal(module_table_new(&modules), 0);
	gone = add_module(modules, MODULE_FILE, "/usr/bin/gone");
	add_module(modules, MODULE_FILE, "/usr/bin/node");
	jit = add_module(modules, MODULE_JIT, "[jit]");
	module_release(modules, gone);
	for (int i = 0; i < 2; i++) /* looked up since the last time: it stays once */
		assert_int_equal(module_trim(modules, no_one, NULL), 0);
	assert_int_equal(module_serial(modules, gone), 0);
	count_of_generated(modules, jit, &ledger);
	assert_int_equal(ledger.frames, 1);
	assert_int_equal(ledger.n_modules, 1);
	assert_int_equal(ledger.modules[0].remedy, REMEDY_JIT);
	assert_non_null(ledger.modules[0].asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_module_that_was_let_go_made_no_code),
	};

	return cmocka_run_group_tests_name("name_ledger", tests, NULL, NULL);
}
