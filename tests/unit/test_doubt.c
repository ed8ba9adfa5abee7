// SPDX-License-Identifier: BSD-2-Clause
/* The bottom of a made stack is believed behind proven steps alone: a step that went
 * wrong ends at what nobody called as well. And where a return barrier stands, callers
 * are missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */

#include "pipeline/profile_builder.h"

enum { LEAF, CALLER, BOTTOM, N_FRAMES };

/* leaf, its caller, and what no call leads to, or (barrier) one caller more, with
 * the caller's name; bottom: the bottom's. The notes of that stack. */
static uint32_t notes_of(bool unproven, const char *barrier, const char *bottom)
{
	uint32_t codes[STACK_HEAD + N_FRAMES] = { 0, HOOK_ONCPU, END_START, 0, N_FRAMES };
	const struct sample_owner owner = { .time_ns = 1, .weight_ns = 1, .tgid = 1 };
	AUTO(aggregator) aggregator = NULL;
	AUTO(module_table) modules = NULL;
	AUTO(names) names = NULL;
	AUTO(profile_builder) builder = NULL;

	if (bottom)
		codes[STACK_ENDING] = END_FIBER;
	assert_int_equal(aggregator_new(&aggregator), 0);
	assert_int_equal(module_table_new(&modules), 0);
	assert_int_equal(names_new(&names), 0);
	for (int i = 0; i < N_FRAMES; i++) {
		const struct frame frame = { .offset = 0x1000 * (uint64_t)(i + 1),
					     .returned = i != LEAF,
					     .unproven = i == CALLER && unproven };
		uint32_t id;

		assert_int_equal(aggregator_frame_id(aggregator, &frame, &id), 0);
		codes[STACK_HEAD + i] = CODE_FRAME | id;
		if (i == CALLER && barrier)
			assert_int_equal(names_set(names, id, barrier), 0);
		if (i == BOTTOM && !barrier)
			assert_int_equal(
				names_set_bad_return(names, id, BAD_RETURN_BOTTOM), 0);
		if (i == BOTTOM && bottom)
			assert_int_equal(names_set(names, id, bottom), 0);
	}
	assert_int_equal(aggregator_add(aggregator, codes, STACK_HEAD + N_FRAMES, &owner),
			 0);
	assert_int_equal(profile_builder_new(&builder, aggregator, modules), 0);
	assert_int_equal(profile_builder_finish(builder, names), 0);
	return profile_builder_profile(builder)->stacks.items[0].notes;
}

static void behind_proven_steps_it_is_believed(void **state)
{
	uint32_t notes = notes_of(false, NULL, NULL);

	assert_true(notes & STACK_COMPLETE_THREAD);
	assert_int_equal(STACK_ENDING(notes, VIEW_THREAD), END_FIBER);
}

static void behind_an_unproven_one_it_is_cut(void **state)
{
	uint32_t notes = notes_of(true, NULL, NULL);

	assert_false(notes & STACK_COMPLETE_THREAD);
	assert_int_equal(STACK_ENDING(notes, VIEW_THREAD), END_BROKEN);
}

static void if_its_name_is_a_start_s_it_is_believed(void **state)
{
	uint32_t notes = notes_of(true, NULL, "runtime.goexit.abi0");

	assert_true(notes & STACK_COMPLETE_THREAD);
	assert_int_equal(STACK_ENDING(notes, VIEW_THREAD), END_FIBER);
	assert_false(notes_of(true, NULL, "runtime.goexits") & STACK_COMPLETE_THREAD);
}

static void behind_a_return_barrier_is_a_gap(void **state)
{
	uint32_t notes = notes_of(false, "StubRoutines (continuationstubs)", NULL);

	assert_true(notes & STACK_GAP_THREAD);
	assert_false(notes & STACK_COMPLETE_THREAD);
	notes = notes_of(false, "StubRoutines (compilerstubs)", NULL);
	assert_false(notes & STACK_GAP_THREAD);
	assert_true(notes & STACK_COMPLETE_THREAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(behind_proven_steps_it_is_believed),
		cmocka_unit_test(behind_an_unproven_one_it_is_cut),
		cmocka_unit_test(if_its_name_is_a_start_s_it_is_believed),
		cmocka_unit_test(behind_a_return_barrier_is_a_gap),
	};

	return cmocka_run_group_tests_name("doubt", tests, NULL, NULL);
}
