// SPDX-License-Identifier: BSD-2-Clause
/* How a view is read around return addresses that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "core/view.h"
#include "sym/return_check.h"

#define FRAME(n)   (CODE_FRAME | (n))
#define THREAD(n)  0, HOOK_ONCPU, END_FP_ZERO, 0, n, 0
#define CHAIN_HEAD (CODE_SEGMENT | SEGMENT_CHAIN << 16 | END_DETACHED << 8)

static void expect(const uint32_t *codes, size_t n, enum view view,
		   const struct names *names, const uint32_t *want, size_t n_want)
{
	uint32_t out[VIEW_ROOM(32)];
	struct view_notes notes;

	assert_int_equal(
		view_read(&(struct view_stack){ codes, n, names }, view, out, &notes),
		n_want);
	assert_memory_equal(out, want, n_want * sizeof(*want));
	assert_true(notes.is_suspect);
}

#define EXPECT(codes, view, names, ...)                                                  \
	expect(codes, sizeof(codes) / 4, view, names, (const uint32_t[]){ __VA_ARGS__ }, \
	       sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4)

static void leaves_out_what_no_call_leads_to(void **state)
{
	static const uint32_t plain[] = { THREAD(4), FRAME(1), FRAME(2), FRAME(7),
					  FRAME(3) };
	static const uint32_t rooted[] = { THREAD(5),	  FRAME(1), FRAME(7),
					   CODE_ROOT | 0, FRAME(2), FRAME(3),
					   CHAIN_HEAD,	  1,	    FRAME(4) };
	AUTO(names) names = NULL;

	assert_int_equal(names_new(&names), 0);
	assert_int_equal(names_set_bad_return(names, 7, BAD_RETURN_MISTAKEN), 0);
	assert_int_equal(names_set(names, 3, "_start"), 0);
	EXPECT(plain, VIEW_THREAD, names, 1, 2, VIEW_CUT);
	EXPECT(rooted, VIEW_THREAD, names, 1, VIEW_GAP, 2, 3);
	EXPECT(rooted, VIEW_ASYNC, names, 1, VIEW_GAP, VIEW_BOUNDARY, 4);
}

#define RESUMED_BY (VIEW_BOUNDARY | BOUNDARY_FIBER)

/* A true step to what nobody called: there a stack begins that was made by hand. */
static void ends_where_a_stack_was_made(void **state)
{
	static const uint32_t plain[] = { 0, HOOK_ONCPU, END_START, 0,	      4,
					  0, FRAME(1),	 FRAME(2),  FRAME(7), FRAME(3) };
	static const uint32_t rooted[] = {
		0,	  HOOK_ONCPU,	 END_START, 0,	      5,	  0, FRAME(1),
		FRAME(7), CODE_ROOT | 0, FRAME(2),  FRAME(3), CHAIN_HEAD, 1, FRAME(4)
	};
	uint32_t out[VIEW_ROOM(STACK_HEAD + 8)];
	struct view_notes notes;
	AUTO(names) names = NULL;

	assert_int_equal(names_new(&names), 0);
	assert_int_equal(names_set_bad_return(names, 7, BAD_RETURN_BOTTOM), 0);
	assert_int_equal(names_set(names, 3, "_start"), 0);
	for (int view = VIEW_ASYNC; view <= VIEW_THREAD; view++) {
		assert_int_equal(
			view_read(&(struct view_stack){ plain, STACK_HEAD + 4, names },
				  view, out, &notes),
			2);
		assert_true(notes.is_complete && !notes.is_suspect &&
			    notes.ending == END_FIBER);
	}
	assert_int_equal(view_read(&(struct view_stack){ rooted, STACK_HEAD + 8, names },
				   VIEW_ASYNC, out, &notes),
			 5);
	assert_int_equal(out[1], RESUMED_BY);
	assert_int_equal(out[2], VIEW_GAP);
	assert_true(!notes.is_complete && notes.has_gap && notes.ending == END_DETACHED);
	/* who wrote that start gave it a name: what lies behind is as false */
	assert_int_equal(names_set(names, 7, "__start_context"), 0);
	assert_int_equal(view_read(&(struct view_stack){ plain, STACK_HEAD + 4, names },
				   VIEW_THREAD, out, &notes),
			 3);
	assert_int_equal(out[2], 7);
	assert_true(notes.is_complete && notes.ending == END_FIBER);
}

/* What the walk found itself is no frame; what it could not read, its file says. */
static void ends_at_a_bottom(void **state)
{
	uint32_t codes[] = {
		0, HOOK_ONCPU, END_FIBER, 0, 2, 0, FRAME(1), CODE_BOTTOM | 7
	};
	const struct view_stack unnamed = { codes, STACK_HEAD + 2, NULL };
	struct view_stack stack = unnamed;
	uint32_t out[VIEW_ROOM(STACK_HEAD + 2)];
	struct view_notes notes;
	AUTO(names) names = NULL;

	assert_int_equal(names_new(&names), 0);
	stack.names = names;
	assert_int_equal(view_read(&unnamed, VIEW_THREAD, out, &notes), 1);
	assert_true(notes.is_complete && notes.ending == END_FIBER);
	codes[STACK_ENDING] = END_UNREADABLE;
	assert_int_equal(view_read(&stack, VIEW_THREAD, out, &notes), 2);
	assert_int_equal(out[1], VIEW_CUT);
	assert_int_equal(names_set_bad_return(names, 7, BAD_RETURN_BOTTOM), 0);
	assert_int_equal(view_read(&stack, VIEW_THREAD, out, &notes), 1);
	assert_true(notes.is_complete && notes.ending == END_FIBER);
	assert_int_equal(view_read(&unnamed, VIEW_THREAD, out, &notes), 2);
	assert_int_equal(notes.ending, END_UNREADABLE);
	/* who wrote that start gave it a name */
	codes[STACK_ENDING] = END_FIBER;
	assert_int_equal(names_set(names, 7, "__start_context"), 0);
	assert_int_equal(view_read(&stack, VIEW_THREAD, out, &notes), 2);
	assert_int_equal(out[1], 7);
}

static void expect_view(const uint32_t *codes, size_t n, enum view view,
			const struct names *names, const uint32_t *want, size_t n_want)
{
	uint32_t out[VIEW_ROOM(32)];
	struct view_notes notes;

	assert_int_equal(
		view_read(&(struct view_stack){ codes, n, names }, view, out, &notes),
		n_want);
	assert_memory_equal(out, want, n_want * sizeof(*want));
}

#define VIEW(codes, view, names, ...)                                                    \
	expect_view(codes, sizeof(codes) / 4, view, names,                               \
		    (const uint32_t[]){ __VA_ARGS__ },                                   \
		    sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4)

/* Where the walk knew that it came to another stack, and nowhere else. */
static void says_who_resumed(void **state)
{
	static const uint32_t crossed[] = { THREAD(3), FRAME(1), CODE_RESUMER | 2,
					    FRAME(3) };
	static const uint32_t asked[] = { THREAD(3),	    FRAME(1),	CODE_ROOT | 0,
					  CODE_RESUMER | 2, CHAIN_HEAD, 1,
					  FRAME(4) };
	static const uint32_t first[] = { THREAD(2), CODE_RESUMER | 1, FRAME(2) };
	uint32_t gap[] = { THREAD(4), FRAME(1), CODE_BOTTOM | 7, CODE_GAP, FRAME(2) };
	AUTO(names) names = NULL;

	assert_int_equal(names_new(&names), 0);
	assert_int_equal(names_set(names, 2, "_start"), 0);
	assert_int_equal(names_set(names, 3, "_start"), 0);
	VIEW(crossed, VIEW_ASYNC, names, 1, RESUMED_BY, 2, 3);
	VIEW(crossed, VIEW_UNLABELLED, names, 1, RESUMED_BY, 2, 3);
	VIEW(crossed, VIEW_THREAD, names, 1, 2, 3);
	VIEW(asked, VIEW_ASYNC, names, 1, VIEW_BOUNDARY | BOUNDARY_ASYNC, 4);
	VIEW(first, VIEW_ASYNC, names, 1, 2);
	gap[STACK_HEAD + 2] = CODE_GAP | END_FIBER;
	VIEW(gap, VIEW_ASYNC, names, 1, RESUMED_BY, VIEW_GAP, 2);
	VIEW(gap, VIEW_THREAD, names, 1, VIEW_GAP, 2);
	/* what could not be read, the file says */
	gap[STACK_HEAD + 2] = CODE_GAP | END_UNREADABLE;
	VIEW(gap, VIEW_ASYNC, names, 1, VIEW_GAP, 2);
	assert_int_equal(names_set_bad_return(names, 7, BAD_RETURN_BOTTOM), 0);
	VIEW(gap, VIEW_ASYNC, names, 1, RESUMED_BY, VIEW_GAP, 2);
	gap[STACK_HEAD + 2] = CODE_GAP | END_BROKEN;
	VIEW(gap, VIEW_ASYNC, names, 1, VIEW_GAP, 2);
}

/* A fiber that waits may have been left by whoever resumed it. */
static void says_nothing_of_who_waits(void **state)
{
	static const uint32_t waits[] = {
		THREAD(3),
		FRAME(1),
		CODE_ROOT | 0,
		FRAME(2),
		CODE_SEGMENT | SEGMENT_CHAIN << 16 | END_CROSSED << 8,
		1,
		FRAME(4),
		CODE_SEGMENT | SEGMENT_THREAD << 16 | END_START << 8,
		4,
		FRAME(4),
		FRAME(5),
		CODE_GAP | END_FIBER,
		FRAME(6),
	};

	VIEW(waits, VIEW_ASYNC, NULL, 1, VIEW_BOUNDARY | BOUNDARY_ASYNC, 4,
	     VIEW_BOUNDARY | BOUNDARY_THREAD, 5, VIEW_GAP, 6);
}

/* The stack is another's already, so nothing on it called this. */
static void ends_where_stacks_change(void **state)
{
	static const uint32_t plain[] = { 0, HOOK_ONCPU, END_START, 0,	     3,
					  0, FRAME(7),	 FRAME(2),  FRAME(3) };
	uint32_t out[VIEW_ROOM(7)];
	struct view_notes notes;
	AUTO(names) names = NULL;

	assert_int_equal(names_new(&names), 0);
	assert_int_equal(names_set_bad_return(names, 7, BAD_RETURN_SWITCH), 0);
	assert_int_equal(view_read(&(struct view_stack){ plain, STACK_HEAD + 3, names },
				   VIEW_THREAD, out, &notes),
			 2);
	assert_int_equal(out[0], 7);
	assert_int_equal(out[1], VIEW_CUT);
	assert_true(!notes.is_complete && !notes.is_suspect && notes.ending == END_TORN);
}

/* greenlet copies one stack away and another into its place. */
static void ends_where_stacks_are_copied(void **state)
{
	static const uint32_t plain[] = { 0, HOOK_ONCPU, END_START, 0,	     3,
					  0, FRAME(1),	 FRAME(7),  FRAME(3) };
	uint32_t out[VIEW_ROOM(STACK_HEAD + 3)];
	const struct view_stack stack = { plain, STACK_HEAD + 3, NULL };
	struct view_stack named = stack;
	struct view_notes notes;
	AUTO(names) copying = NULL;
	AUTO(names) unnamed = NULL;
	AUTO(names) saving = NULL;
	AUTO(names) switching = NULL;

	assert_int_equal(names_new(&copying), 0);
	assert_int_equal(names_set(copying, 7, "slp_restore_state_trampoline"), 0);
	named.names = copying;
	assert_int_equal(view_read(&named, VIEW_THREAD, out, &notes), 3);
	assert_int_equal(out[1], 7);
	assert_int_equal(out[2], VIEW_CUT);
	assert_int_equal(notes.ending, END_TORN);
	/* what it copied from is let go: the stack is whole again */
	assert_int_equal(names_set(copying, 1, "_PyObject_Free"), 0);
	assert_int_equal(view_read(&named, VIEW_THREAD, out, &notes), 3);
	assert_true(notes.is_complete);
	assert_int_equal(out[2], 3);
	/* the same of what has no name: its code says that it switches */
	assert_int_equal(names_new(&unnamed), 0);
	assert_int_equal(names_set_bad_return(unnamed, 3, BAD_RETURN_SWITCH), 0);
	named.names = unnamed;
	assert_int_equal(view_read(&named, VIEW_THREAD, out, &notes), 4);
	assert_true(out[2] == 3 && out[3] == VIEW_CUT);
	assert_int_equal(names_set(unnamed, 1, "PyMem_Free"), 0);
	assert_int_equal(view_read(&named, VIEW_THREAD, out, &notes), 3);
	assert_true(notes.is_complete);
	/* it saves the stack that it is called on: that is whole still */
	assert_int_equal(names_new(&saving), 0);
	assert_int_equal(names_set(saving, 7, "slp_switch"), 0);
	named.names = saving;
	assert_int_equal(view_read(&named, VIEW_THREAD, out, &notes), 3);
	assert_true(notes.is_complete);
	assert_int_equal(names_new(&switching), 0);
	assert_int_equal(names_set(switching, 1, "slp_switch"), 0);
	named.names = switching;
	assert_int_equal(view_read(&named, VIEW_THREAD, out, &notes), 2);
	assert_int_equal(out[0], 1);
	assert_int_equal(notes.ending, END_TORN);
}

/* And begins one in a function, or in what that calls: until then it has its callers. */
static void ends_where_copied_stacks_begin(void **state)
{
	static const char calls[] = "greenlet::UserGreenlet::g_initialstub";
	static const uint32_t plain[] = { 0, HOOK_ONCPU, END_START, 0,	     3,
					  0, FRAME(1),	 FRAME(7),  FRAME(3) };
	uint32_t out[VIEW_ROOM(STACK_HEAD + 3)];
	AUTO(names) names = NULL;
	AUTO(names) unnamed = NULL;
	struct view_stack stack = { plain, STACK_HEAD + 3, NULL };
	struct view_notes notes;

	assert_int_equal(names_new(&names), 0);
	stack.names = names;
	assert_int_equal(names_set(names, 7, calls), 0);
	assert_int_equal(view_read(&stack, VIEW_THREAD, out, &notes), 2);
	assert_int_equal(out[1], 7);
	assert_int_equal(notes.ending, END_FIBER);
	/* code says so as well, of what has no name */
	assert_int_equal(names_new(&unnamed), 0);
	assert_int_equal(names_set_copied_start(unnamed, 7), 0);
	stack.names = unnamed;
	assert_int_equal(view_read(&stack, VIEW_THREAD, out, &notes), 2);
	assert_int_equal(out[1], 7);
	assert_int_equal(notes.ending, END_FIBER);
	stack.names = names;
	/* there is one elsewhere, so this one has not called it yet */
	assert_int_equal(names_set(names, 9, "greenlet::UserGreenlet::inner_bootstrap"),
			 0);
	assert_int_equal(view_read(&stack, VIEW_THREAD, out, &notes), 3);
	assert_int_equal(out[2], 3);
	assert_true(notes.is_complete);
}

/* A caller whose call leads to another function than the one below it. */
static void believes_no_caller_that_called_another(void **state)
{
	static const uint32_t plain[] = { 0, HOOK_ONCPU, END_START, 0,	     3,
					  0, FRAME(1),	 FRAME(7),  FRAME(3) };
	static const uint32_t gap[] = { 0, HOOK_ONCPU, END_START, 0,	    4,
					0, FRAME(1),   CODE_GAP,  FRAME(7), FRAME(3) };
	uint32_t out[VIEW_ROOM(STACK_HEAD + 4)];
	struct view_notes notes;
	AUTO(names) names = NULL;
	struct view_stack stack = { plain, STACK_HEAD + 3, NULL };
	uint32_t pair[2], i = 0;

	assert_int_equal(names_new(&names), 0);
	stack.names = names;
	assert_int_equal(names_set_misled(names, 7, 2), 0);
	assert_int_equal(view_read(&stack, VIEW_THREAD, out, &notes), 3);
	assert_true(notes.is_complete); /* another one was below it */
	assert_int_equal(names_set_misled(names, 7, 1), 0);
	assert_int_equal(names_set_misled(names, 7, 1), 0); /* is known */
	assert_int_equal(view_read(&stack, VIEW_THREAD, out, &notes), 2);
	assert_true(out[0] == 1 && out[1] == VIEW_CUT);
	assert_true(notes.ending == END_BROKEN && !notes.is_complete);
	/* which are not beside each other */
	stack.codes = gap;
	stack.n = STACK_HEAD + 4;
	assert_int_equal(view_read(&stack, VIEW_THREAD, out, &notes), 4);
	assert_true(out[1] == VIEW_GAP && out[2] == 7 && out[3] == 3);
	assert_true(names_next_misled(names, &i, pair));
	assert_true(pair[0] == 7 && pair[1] == 2);
	assert_true(names_next_misled(names, &i, pair));
	assert_true(pair[0] == 7 && pair[1] == 1);
	assert_false(names_next_misled(names, &i, pair));
}

static void keeps_a_start_made_by_hand(void **state)
{
	static const uint32_t go[] = { THREAD(2), FRAME(1), FRAME(7) };
	uint32_t out[VIEW_ROOM(STACK_HEAD + 2)];
	AUTO(names) names = NULL;
	struct view_notes notes;

	assert_int_equal(names_new(&names), 0);
	assert_int_equal(names_set_bad_return(names, 7, BAD_RETURN_MISTAKEN), 0);
	assert_int_equal(names_set(names, 7, "runtime.goexit.abi0"), 0);
	assert_int_equal(view_read(&(struct view_stack){ go, STACK_HEAD + 2, names },
				   VIEW_THREAD, out, &notes),
			 2);
	assert_true(notes.is_complete && !notes.is_suspect);
}

static void believes_no_start_by_a_zero_alone(void **state)
{
	static const uint32_t zero[] = { THREAD(2), FRAME(1), FRAME(2) };
	uint32_t out[VIEW_ROOM(STACK_HEAD + 2)];
	struct view_notes notes;
	AUTO(names) names = NULL;

	assert_int_equal(names_new(&names), 0);
	assert_int_equal(names_set(names, 2, "malloc"), 0);
	assert_int_equal(view_read(&(struct view_stack){ zero, STACK_HEAD + 2, names },
				   VIEW_THREAD, out, &notes),
			 3);
	assert_int_equal(out[2], VIEW_CUT);
	assert_false(notes.is_complete);
}

/* Of a JIT that keeps frame pointers, whose stacks its runtime made. */
static void believes_a_zero_where_erlang_begins(void **state)
{
	static const struct {
		const char *name;
		bool is_start;
	} ends[] = {
		{ "erts_beamasm:normal_exit/0", true },
		{ "erts_beamasm:normal_exit/0-CodeInfoPrologue", true },
		{ "$erts_beamasm:normal_exit/0-CodeInfoPrologue", true }, /* OTP 29 */
		{ "erts_beamasm:normal_exit/00", false },
		{ "erts_beamasm:normal_exit/0_body", false },
		{ "$", false },
	};
	uint32_t zero[] = { THREAD(2), FRAME(1), FRAME(2) };
	const size_t n = STACK_HEAD + 2;
	uint32_t out[VIEW_ROOM(STACK_HEAD + 2)];
	struct view_notes notes;

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		AUTO(names) names = NULL;
		bool is_start = ends[i].is_start;

		assert_int_equal(names_new(&names), 0);
		assert_int_equal(names_set(names, 2, ends[i].name), 0);
		assert_int_equal(view_read(&(struct view_stack){ zero, n, names },
					   VIEW_THREAD, out, &notes),
				 is_start ? 2 : 3);
		assert_int_equal(notes.is_complete, is_start);
		assert_int_equal(notes.ending, is_start ? END_FIBER : END_FP_ZERO);
	}
}

/* It reached a start, and yet frames are missing. */
static void a_gap_is_not_whole(void **state)
{
	static const uint32_t gap[] = { 0, HOOK_ONCPU, END_START, 0,	   3,
					0, FRAME(1),   CODE_GAP,  FRAME(2) };
	static const uint32_t cut_roots[] = { 0,	 HOOK_ONCPU,
					      END_START, 0,
					      3,	 0,
					      FRAME(1),	 CODE_ROOT | ROOT_UNFOLLOWED,
					      FRAME(2) };
	uint32_t out[VIEW_ROOM(STACK_HEAD + 3)];
	struct view_notes notes;

	assert_int_equal(view_read(&(struct view_stack){ gap, STACK_HEAD + 3, NULL },
				   VIEW_THREAD, out, &notes),
			 3);
	assert_true(!notes.is_complete && notes.has_gap && notes.ending == END_START);
	assert_int_equal(
		view_read(&(struct view_stack){ cut_roots, STACK_HEAD + 3, NULL },
			  VIEW_ASYNC, out, &notes),
		3);
	assert_int_equal(out[1], VIEW_GAP);
	assert_true(!notes.is_complete && notes.has_gap);
	/* the thread view has all of them */
	assert_int_equal(
		view_read(&(struct view_stack){ cut_roots, STACK_HEAD + 3, NULL },
			  VIEW_THREAD, out, &notes),
		2);
	assert_true(notes.is_complete && !notes.has_gap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gap_is_not_whole),
		cmocka_unit_test(leaves_out_what_no_call_leads_to),
		cmocka_unit_test(ends_where_a_stack_was_made),
		cmocka_unit_test(ends_at_a_bottom),
		cmocka_unit_test(says_who_resumed),
		cmocka_unit_test(says_nothing_of_who_waits),
		cmocka_unit_test(ends_where_stacks_change),
		cmocka_unit_test(ends_where_stacks_are_copied),
		cmocka_unit_test(ends_where_copied_stacks_begin),
		cmocka_unit_test(believes_no_caller_that_called_another),
		cmocka_unit_test(keeps_a_start_made_by_hand),
		cmocka_unit_test(believes_no_start_by_a_zero_alone),
		cmocka_unit_test(believes_a_zero_where_erlang_begins),
	};

	return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}
