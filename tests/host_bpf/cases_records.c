// SPDX-License-Identifier: BSD-2-Clause
/*
 * Frame records that lie anywhere in their frame, as arm64's do: such a record
 * leads to the caller and says nothing of where the caller's memory begins.
 */
#include "code.h"

#include <string.h>

#define BY_FP	0x5000 /* code without a table */
#define AWAITED 0x7000 /* code whose table is still to come */
#define ROOT(i) (HEAP + 0x40 * (uint64_t)(i))
#define CHAIN	(HEAP + 0x10000)
#define SIZE	0x60
/* where frame i of a stack begins, and its record if it has one */
#define SP(stack, i)	 ((stack) + SIZE * (uint64_t)(i))
#define RECORD(stack, i) (SP(stack, i) + record_at[(i) % 4])

static const unsigned int record_at[] = { 0, 0x10, 0x50, 0x28 };

/* A frame of SIZE bytes with its record `at` bytes from its bottom. */
static struct unwind_rule rule_record(unsigned int at)
{
	struct unwind_rule rule = RULE_SP(SIZE);

	rule.fp = UNWIND_FP_CFA;
	rule.fp_words = ((int)at - SIZE) / 8;
	rule.ra_words = rule.fp_words + 1;
	return rule;
}

/* Function i has frame i of any stack; '-' has no record, and its return address
 * at its frame's top. The one behind them was called by nobody. */
static void put_functions(const char *which)
{
	struct unwind_rule rules[16];
	unsigned int n;

	fp_gives_sp = false;
	mapping_table_add(BY_FP, BY_FP + 0x1000, 0, 0, UNWIND_BY_FP);
	mapping_table_add(AWAITED, AWAITED + 0x1000, 0, 0, 0);
	for (n = 0; which[n]; n++)
		rules[n] =
			which[n] == '-' ? RULE_SP(SIZE) : rule_record(record_at[n % 4]);
	rules[n] = RULE_OF(END);
	put_code(rules, n + 1, 0);
}

/* The frame pointer that frame i's code sees: its record's, or an older one's. */
static uint64_t fp_of(uint64_t stack, const char *which, unsigned int i)
{
	while (which[i] == '-')
		i++;
	return which[i] ? RECORD(stack, i) : 0;
}

/* Frames first to the last, of functions of the same number. */
static void put_frames(uint64_t stack, const char *which, unsigned int first)
{
	for (unsigned int i = first; which[i]; i++) {
		if (which[i] == '-')
			put_call(SP(stack, i), SIZE, i + 1);
		else
			put_frame(RECORD(stack, i), fp_of(stack, which, i + 1),
				  SITE(i + 1));
	}
}

static struct sampled put_thread(const char *which)
{
	struct sampled at;

	put_functions(which);
	put_frames(STACK, which, 0);
	at = leaf_in_code(0);
	at.fp = fp_of(STACK, which, 0);
	return at;
}

/* The same, interrupted in a function that no table knows, called by function 1. */
static struct sampled put_unknown_leaf(const char *which)
{
	struct sampled at = put_thread(which);

	at.pc = BY_FP;
	put_frame(RECORD(STACK, 0), fp_of(STACK, which, 1), SITE(1));
	at.fp = RECORD(STACK, 0);
	return at;
}

static void test_by_sp(void **state)
{
	struct sampled at = put_thread("rr-r--r");

	ASSERT_WALK(&at, "UCCCCCCC", "10000 10108 10208 10308 10408 10508 10608 10708",
		    START);
	assert_int_equal(walker_sample(&at)->flags, 0);
}

/* Where the record lies a table says: behind it sp is known again. */
static void test_back_to_tables(void **state)
{
	static const char *const all[] = { "-r--r-", "-rr---", "-rrrrr" };

	for (int i = 0; i < 3; i++) {
		struct sampled at;

		world_setup(NULL);
		at = put_unknown_leaf(all[i]);
		ASSERT_WALK(&at, "UPPCCCC", "5000 10108 10208 10308 10408 10508 10608",
			    START);
		assert_int_equal(walker_sample(&at)->flags, SAMPLE_UNPROVEN);
	}
}

/* A frame pointer that an older frame set: what lies before that one is missing. */
static void test_over_frames(void **state)
{
	struct sampled at = put_unknown_leaf("---r-r");

	ASSERT_WALK(&at, "UPGPGP", "5000 10108 .. 10408 .. 10608", START);
	assert_int_equal(walker_sample(&at)->flags, SAMPLE_UNPROVEN);
	at = put_unknown_leaf("---rr-");
	ASSERT_WALK(&at, "UPGPPC", "5000 10108 .. 10408 10508 10608", START);
	/* none is left */
	at = put_unknown_leaf("------");
	ASSERT_WALK(&at, "UP", "5000 10108", FP_ZERO);
	at = put_unknown_leaf("--r---");
	memory_unmap(STACK);
	put_frame(RECORD(STACK, 0), 0x1230, SITE(1));
	ASSERT_WALK(&at, "UP", "5000 10108 cut", UNREADABLE);
}

/* The frame that is passed over may have registered a root, those before not. */
static void test_root_of_a_frame_passed_over(void **state)
{
	struct sampled at = put_unknown_leaf("---r-r");

	at.roots[0] = ROOT(0);
	put_root(ROOT(0), CHAIN, 0, RECORD(STACK, 3));
	put_chain(CHAIN, 2, 0x2000, 0);
	ASSERT_WALK(&at, "UPGRPGP", "5000 10108 .. 10408 .. 10608", START);
	ASSERT_ASYNC(&at, "5000 10108 .. -- 2000 2001");
	put_root(ROOT(0), CHAIN, 0, RECORD(STACK, 5));
	ASSERT_ASYNC(&at, "5000 10108 .. 10408 .. -- 2000 2001");
}

static void test_root_by_record(void **state)
{
	struct sampled at = put_unknown_leaf("-rrrr-");

	at.roots[0] = ROOT(0);
	put_chain(CHAIN, 2, 0x2000, 0);
	put_root(ROOT(0), CHAIN, 0, RECORD(STACK, 1));
	ASSERT_ASYNC(&at, "5000 -- 2000 2001");
	put_root(ROOT(0), CHAIN, 0, RECORD(STACK, 2));
	ASSERT_ASYNC(&at, "5000 10108 -- 2000 2001");
	put_root(ROOT(0), CHAIN, 0, RECORD(STACK, 3));
	ASSERT_ASYNC(&at, "5000 10108 10208 -- 2000 2001");
}

/* Gaps are paid for, too. */
static void test_budget(void **state)
{
	struct unwind_rule rules[2] = { RULE_SP(SIZE), RULE_OF(END) };
	struct sampled at;

	fp_gives_sp = false;
	mapping_table_add(BY_FP, BY_FP + 0x1000, 0, 0, UNWIND_BY_FP);
	put_code(rules, 2, 0);
	at = leaf_in_code(0);
	at.pc = BY_FP;
	at.fp = STACK;
	for (unsigned int i = 0; i < 600; i++)
		put_frame(STACK + SIZE * i, STACK + SIZE * (i + 1), SITE(0));
	for (unsigned int left = FRAMES_MIN; left < FRAMES_MIN + 4; left++) {
		knobs.max_frames = left;
		assert_int_equal(walker_sample(&at)->ending, END_BUDGET);
		assert_in_range(walker_sample(&at)->n_thread, left, left + 1);
	}
	knobs.max_frames = FRAMES_MAX;
	assert_int_equal(walker_sample(&at)->ending, END_BUDGET);
	assert_in_range(walker_sample(&at)->n_thread, FRAMES_MAX, FRAMES_MAX + 1);
}

/* On from a root while tables are still to come: no caller by guess. */
static void test_awaited_behind_a_checkpoint(void **state)
{
	struct sampled at = put_thread("rrr-r-");

	at.pc = AWAITED;
	at.roots[0] = ROOT(0);
	put_root(ROOT(0), 0, 0, RECORD(STACK, 1));
	memory_put(RECORD(STACK, 1) + 8, AWAITED + 8);
	ASSERT_WALK(&at, "UGRC", "7000 .. 7008 cut", AWAITED);
	assert_int_equal(walker_sample(&at)->flags, SAMPLE_AWAITED);
	memory_put(RECORD(STACK, 1) + 8, SITE(2));
	ASSERT_WALK(&at, "UGRCPCCC", "7000 .. 10208 10308 10408 10508 10608", START);
}

/*
 * A thread whose chain of two, the older one going on at `ip`, is awaited by
 * frame 2 of another stack; the wait's root lies in that frame.
 */
static struct sampled put_waited(const char *which, uint64_t ip)
{
	uint64_t wait = SP(OTHER, 2) + 0x20;
	struct sampled at;

	put_functions(which);
	put_frames(STACK, which, 0);
	put_frames(OTHER, which, 2);
	at = leaf_in_code(0);
	at.fp = fp_of(STACK, which, 0);
	at.roots[0] = ROOT(0);
	put_root(ROOT(0), CHAIN, 0, RECORD(STACK, 1));
	put_node(CHAIN, CHAIN + 24, ip, 0);
	put_node(CHAIN + 24, 0, SITE(3), wait);
	put_root(wait, CHAIN + 24, 0, RECORD(OTHER, 2));
	return at;
}

/* The waiting function is known by where the chain goes on in it. */
static void test_crosses(void **state)
{
	struct sampled at = put_waited("rrr---r-", SITE(2));

	ASSERT_ASYNC(&at, "10000 -- 10208 10308 -- 10408 10508 10608 10708 10808");
	assert_int_equal(walker_sample(&at)->flags, SAMPLE_ASYNC);
	assert_int_equal(
		SEGMENT_ENDING(segment_of(walker_sample(&at), SEGMENT_THREAD, 0)),
		END_START);
}

/* Where it goes on elsewhere, by the frame record alone. */
static void test_crosses_by_record(void **state)
{
	static const uint64_t ips[] = { BY_FP + 8, AWAITED + 8, 0x9000, 0, SITE(4) };

	for (size_t i = 0; i < sizeof(ips) / sizeof(*ips); i++) {
		char expected[100];
		struct sampled at;

		world_setup(NULL);
		at = put_waited("rrr---r-", ips[i]);
		if (ips[i])
			sprintf(expected, "10000 -- %lx 10308 -- .. 10708",
				(unsigned long)ips[i]);
		else
			strcpy(expected, "10000 -- 10308 -- .. 10708");
		ASSERT_ASYNC(&at, expected);
	}
}

/* A wait that does not lie in the frame that the table says is none of it. */
static void test_crosses_to_a_frame_of_another_size(void **state)
{
	struct sampled at = put_waited("rrr---rr", SITE(2));

	put_root(HEAP + 0x8000, CHAIN + 24, 0, RECORD(OTHER, 2));
	put_node(CHAIN + 24, 0, SITE(3), HEAP + 0x8000);
	ASSERT_ASYNC(&at, "10000 -- 10208 10308 -- .. 10708 10808");
}

/* Signed and tagged, wherever a pointer comes from. */
static void test_signed(void **state)
{
	const uint64_t sign = 0x00aa000000000000, tag = 0x5a00000000000000;
	struct unwind_rule in_lr = RULE(.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_LR);
	struct unwind_rule rules[] = { in_lr, rule_record(0), rule_record(0x10),
				       RULE_OF(END) };
	struct sampled at;

	put_code(rules, 4, 0);
	fp_gives_sp = false;
	knobs.addr_mask = (1ULL << 48) - 1;
	at = leaf_in_code(0);
	at.lr = SITE(1) | sign;
	at.sp |= tag;
	at.fp = STACK | tag;
	put_frame(STACK, (STACK + SIZE + 0x10) | tag, SITE(2) | sign);
	put_frame(STACK + SIZE + 0x10, 0, SITE(3) | sign);
	ASSERT_WALK(&at, "UCCC", "10000 10108 10208 10308", START);
	knobs.addr_mask = ~0ULL;
	at.lr = SITE(1) | sign | tag;
	ASSERT_WALK(&at, "U", "10000 cut", BROKEN);
}

int run_record_cases(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_by_sp),
		CASE(test_back_to_tables),
		CASE(test_over_frames),
		CASE(test_root_of_a_frame_passed_over),
		CASE(test_root_by_record),
		CASE(test_budget),
		CASE(test_awaited_behind_a_checkpoint),
		CASE(test_crosses),
		CASE(test_crosses_by_record),
		CASE(test_crosses_to_a_frame_of_another_size),
		CASE(test_signed),
	};

	return cmocka_run_group_tests_name("records", tests, NULL, NULL);
}
