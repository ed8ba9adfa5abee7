// SPDX-License-Identifier: BSD-2-Clause
/* Whether the comparison sees each way to be wrong, on stacks made by hand. */
#include "../compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WORDS_MAX 16

#define USER(addr)     (addr)
#define UNPROVEN(addr) ((unsigned long long)FRAME_UNPROVEN << FRAME_KIND_SHIFT | (addr))
#define ROOT	       ((unsigned long long)FRAME_ROOT << FRAME_KIND_SHIFT)
#define GAP	       ((unsigned long long)FRAME_GAP << FRAME_KIND_SHIFT)

struct pair {
	struct sample_rec *rec;
	struct our_stack *ours;
	struct offline_stack *theirs;
};

static int setup(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	pair->rec = calloc(1, sizeof(*pair->rec) + WORDS_MAX * 8);
	pair->ours = calloc(1, sizeof(*pair->ours));
	pair->theirs = calloc(1, sizeof(*pair->theirs));
	*state = pair;
	return 0;
}

static int teardown(void **state)
{
	struct pair *pair = *state;

	free(pair->rec);
	free(pair->ours);
	free(pair->theirs);
	free(pair);
	return 0;
}

/* Words and addresses end with a 0. */
static enum match match_of(struct pair *pair, const unsigned long long *words,
			   enum ending ending, const uint64_t *addresses,
			   enum offline_end end)
{
	pair->rec->n_thread = 0;
	pair->rec->ending = ending;
	while (words[pair->rec->n_thread]) {
		pair->rec->words[pair->rec->n_thread] = words[pair->rec->n_thread];
		pair->rec->n_thread++;
	}
	pair->rec->n_words = pair->rec->n_thread;
	pair->theirs->end = end;
	for (pair->theirs->n = 0; addresses[pair->theirs->n]; pair->theirs->n++)
		pair->theirs->at[pair->theirs->n] = addresses[pair->theirs->n];
	our_stack_read(pair->ours, pair->rec);
	return compare(pair->rec, pair->ours, pair->theirs);
}

#define WORDS(...) ((const unsigned long long[]){ __VA_ARGS__, 0 })
#define ADDRS(...) ((const uint64_t[]){ __VA_ARGS__, 0 })
#define NONE	   ((const uint64_t[]){ 0 })
#define MATCH(words, ending, addrs, end)                                                 \
	match_of(*state, words, END_##ending, addrs, OFFLINE_##end)

static void marks_are_no_frames(void **state)
{
	const struct pair *pair = *state;

	assert_int_equal(MATCH(WORDS(USER(0x10), ROOT, UNPROVEN(0x20), GAP, USER(0x30)),
			       START, ADDRS(0x10, 0x20, 0x30), START),
			 MATCH_SAME);
	assert_int_equal(pair->ours->n, 3);
	assert_int_equal(pair->ours->gaps, 1);
	assert_int_equal(pair->ours->unproven, 1);
}

static void equal_stacks_agree(void **state)
{
	const unsigned long long *words = WORDS(0x10, 0x20);

	assert_int_equal(MATCH(words, START, ADDRS(0x10, 0x20), START), MATCH_SAME);
	assert_int_equal(MATCH(words, START, ADDRS(0x10, 0x20), DUMP), MATCH_SAME_DUMP);
	assert_int_equal(MATCH(words, START, ADDRS(0x10), DUMP), MATCH_SAME_DUMP);
	assert_int_equal(MATCH(words, START, ADDRS(0x10, 0x20), GAVE_UP),
			 MATCH_SAME_GAVE_UP);
	assert_int_equal(MATCH(words, BUDGET, ADDRS(0x10, 0x20, 0x30), START),
			 MATCH_SAME_BUDGET);
}

/* By who has no table of the leaf. */
static void a_leafs_caller_is_passed_over(void **state)
{
	struct pair *pair = *state;

	pair->theirs->leaf_untold = false;
	assert_int_equal(
		MATCH(WORDS(0x10, 0x20, UNPROVEN(0x30)), START, ADDRS(0x10, 0x30), START),
		MATCH_PASSED_OVER);
	assert_int_equal(MATCH(WORDS(0x10, 0x20, 0x30), START, ADDRS(0x10, 0x30), START),
			 MATCH_CALLER);
	pair->theirs->leaf_untold = true;
	assert_int_equal(MATCH(WORDS(0x10, 0x20, 0x30), START, ADDRS(0x10, 0x30), START),
			 MATCH_PASSED_OVER);
	assert_int_equal(MATCH(WORDS(0x10, 0x20, 0x30), START, ADDRS(0x10, 0x40), START),
			 MATCH_CALLER);
	assert_int_equal(
		MATCH(WORDS(0x10, 0x20, 0x30, 0x40), START, ADDRS(0x10, 0x40), START),
		MATCH_CALLER);
	pair->theirs->leaf_untold = false;
}

static void a_stack_that_ends_elsewhere_does_not(void **state)
{
	assert_int_equal(MATCH(WORDS(0x10, 0x20), BROKEN, ADDRS(0x10, 0x20, 0x30), START),
			 MATCH_SHORT);
	assert_int_equal(MATCH(WORDS(0x10, 0x20), START, ADDRS(0x10, 0x20, 0x30), DUMP),
			 MATCH_SHORT);
	assert_int_equal(MATCH(WORDS(0x10, 0x20, 0x30), START, ADDRS(0x10, 0x20), START),
			 MATCH_LONG);
	assert_int_equal(MATCH(WORDS(0x10, 0x20), START, ADDRS(0x10), GAVE_UP),
			 MATCH_GOES_ON);
	assert_int_equal(MATCH(WORDS(0x10), START, NONE, START), MATCH_NO_STACK);
	assert_int_equal(match_of(*state, (const unsigned long long[]){ 0 }, END_NO_USER,
				  ADDRS(0x10), OFFLINE_START),
			 MATCH_NO_STACK);
}

/* Also where libdwfl went no further: what it found is true. */
static void another_address_does_not(void **state)
{
	for (int end = OFFLINE_START; end <= OFFLINE_GAVE_UP; end++) {
		assert_int_equal(match_of(*state, WORDS(0x11, 0x20), END_START,
					  ADDRS(0x10, 0x20), end),
				 MATCH_LEAF);
		assert_int_equal(match_of(*state, WORDS(0x10, 0x30), END_START,
					  ADDRS(0x10, 0x20, 0x30), end),
				 MATCH_CALLER);
		assert_int_equal(match_of(*state, WORDS(0x10, 0x20, 0x31), END_START,
					  ADDRS(0x10, 0x20, 0x30), end),
				 MATCH_DIFFERENT);
	}
}

static void only_the_same_agree(void **state)
{
	for (int match = 0; match < N_MATCHES; match++)
		assert_int_equal(match_agrees(match), match < MATCH_GOES_ON);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(marks_are_no_frames, setup, teardown),
		cmocka_unit_test_setup_teardown(equal_stacks_agree, setup, teardown),
		cmocka_unit_test_setup_teardown(a_leafs_caller_is_passed_over, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_stack_that_ends_elsewhere_does_not,
						setup, teardown),
		cmocka_unit_test_setup_teardown(another_address_does_not, setup,
						teardown),
		cmocka_unit_test(only_the_same_agree),
	};

	return cmocka_run_group_tests_name("crosscheck", tests, NULL, NULL);
}
