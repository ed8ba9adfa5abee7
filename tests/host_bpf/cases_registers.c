// SPDX-License-Identifier: BSD-2-Clause
/* Steps by tables whose frames end by a register: where that is known, and where not. */
#include "code.h"

/* Any register leads on from the interrupted frame, none from a caller if it was
 * not followed there. */
static void test_by_register(void **state)
{
	for (int reg = 0; reg < USER_REGS + 2; reg++) {
		struct unwind_rule rule =
			RULE(.cfa = UNWIND_CFA_REG, .cfa_offset = 0x20, .reg = reg);
		struct unwind_rule rules[] = { rule, rule, RULE_OF(END) };
		struct sampled at;

		rules[0].bx_words = UNWIND_BX_LOST;
		world_setup(NULL);
		put_code(rules, 3, 0);
		at = leaf_in_code(0);
		for (int i = 0; i < USER_REGS; i++)
			at.regs[i] = i == reg ? STACK + 0x100 : GARBAGE;
		put_call(STACK + 0x100, 0x20, 1);
		put_frame(STACK + 0x200, 0, SITE(2));
		at.fp = STACK + 0x200;
		if (reg < USER_REGS)
			ASSERT_WALK(&at, "UCGP", "10000 10108 .. 10208", START);
		else
			ASSERT_WALK(&at, "UGP", "10000 .. 10208", START);
	}
}

/* A leaf, who calls it and has its frame by a register, and callers of that one. */
static struct sampled put_kept(struct unwind_rule leaf, struct unwind_rule by_reg)
{
	struct unwind_rule rules[] = { leaf, by_reg, RULE_SP(0x30), RULE_OF(END) };
	struct sampled at;

	world_setup(NULL);
	put_code(rules, 4, 0);
	at = leaf_in_code(0);
	for (int i = 0; i < USER_REGS; i++)
		at.regs[i] = GARBAGE;
	at.regs[9] = STACK + 0x300;
	at.fp = FP(STACK, 9);
	put_frame(at.fp, 0, SITE(3));
	put_call(STACK, 0x20, 1);
	put_call(STACK + 0x300, 0x20, 2);
	put_call(STACK + 0x320, 0x30, 3);
	return at;
}

/* One that its callee leaves alone is known in the caller of the interrupted frame, and
 * in no other. */
static void test_kept_register(void **state)
{
	struct unwind_rule kept = RULE(.cfa = UNWIND_CFA_REG, .cfa_offset = 0x20,
				       .reg = UNWIND_KEPT | 9),
			   lost = kept;
	struct sampled at = put_kept(RULE_SP(0x20), kept);

	ASSERT_WALK(&at, "UCCC", "10000 10108 10208 10308", START);
	assert_int_equal(walker_sample(&at)->flags, 0);
	lost.reg = 9;
	at = put_kept(RULE_SP(0x20), lost);
	ASSERT_WALK(&at, "UCGP", "10000 10108 .. 10308", START);
	/* by a frame record, which tells of no other register */
	at = put_kept(RULE_OF(NONE), kept);
	at.fp = STACK + 0x10;
	put_frame(at.fp, STACK + 0x500, SITE(1));
	put_frame(STACK + 0x500, 0, SITE(3));
	ASSERT_WALK(&at, "UPGP", "10000 10108 .. 10308", START);
}

/* A leaf, who calls it, and who calls that and has its frame by a register. */
static struct sampled put_far_up(struct unwind_rule leaf, struct unwind_rule middle,
				 struct unwind_rule by_reg)
{
	struct unwind_rule rules[] = { leaf, middle, by_reg, RULE_SP(0x30),
				       RULE_OF(END) };
	struct sampled at;

	world_setup(NULL);
	put_code(rules, 5, 0);
	at = leaf_in_code(0);
	at.regs[by_reg.reg & ~UNWIND_KEPT] = STACK + 0x300;
	at.fp = FP(STACK, 9);
	put_frame(at.fp, 0, SITE(4));
	put_call(put_call(STACK, 0x20, 1), 0x20, 2);
	put_call(STACK + 0x300, 0x20, 3);
	put_call(STACK + 0x320, 0x30, 4);
	return at;
}

/* A frame further up it may have changed. */
static void test_kept_too_far_up(void **state)
{
	struct unwind_rule kept =
		RULE(.cfa = UNWIND_CFA_REG, .cfa_offset = 0x20, .reg = UNWIND_KEPT | 9);
	struct sampled at = put_far_up(RULE_SP(0x20), RULE_SP(0x20), kept);

	ASSERT_WALK(&at, "UCCGP", "10000 10108 10208 .. 10408", START);
}

/* Is the caller of all these known? */
static void assert_left_alone(struct unwind_rule leaf, struct unwind_rule middle,
			      bool expected)
{
	struct sampled at = put_far_up(
		leaf, middle, RULE(.cfa = UNWIND_CFA_REG, .cfa_offset = 0x20, .reg = 13));

	memory_put(STACK + 0x20 + middle.deref_offset, STACK + 0x40);
	if (expected)
		ASSERT_WALK(&at, "UCCCC", "10000 10108 10208 10308 10408", START);
	else
		ASSERT_WALK(&at, "UCCGP", "10000 10108 10208 .. 10408", START);
}

/* As far up as all leave it alone. */
static void test_left_alone(void **state)
{
	struct unwind_rule all = RULE_SP(0x20), r13 = all, others = all, by_fp, elsewhere;

	all.deref_offset = (short)UNWIND_ALONE;
	r13.deref_offset = 1 << 13;
	others.deref_offset = (short)(UNWIND_ALONE ^ 1 << 13);
	by_fp = r13;
	by_fp.cfa = UNWIND_CFA_FP;
	by_fp.cfa_offset = (int)(STACK + 0x40 - FP(STACK, 9));
	assert_left_alone(all, r13, true);
	assert_left_alone(r13, by_fp, true);
	assert_left_alone(all, RULE_SP(0x20), false);
	assert_left_alone(others, all, false);
	assert_left_alone(all, others, false);
	/* what others have there is where to look */
	elsewhere = RULE(.cfa = UNWIND_CFA_DEREF_SP, .deref_offset = 1 << 13,
			 .reg = UNWIND_BY_CODE);
	assert_left_alone(all, elsewhere, false);
}

/* Nobody called, and the register is lost: as the end of a tracer's code has it, behind
 * which lies what it puts in the place of return addresses. */
static void test_bottom_with_lost_register(void **state)
{
	struct unwind_rule by_reg =
		RULE(.cfa = UNWIND_CFA_REG, .cfa_offset = 8, .reg = 13);

	for (int i = 0; i < 2; i++) {
		const struct unwind_rule rules[] = { RULE_SP(0x20), by_reg,
						     RULE_OF(END) };
		struct sampled at;

		world_setup(NULL);
		put_code(rules, 3, UNWIND_CALLS);
		at = leaf_in_code(0);
		put_call(STACK, 0x20, 1);
		at.fp = STACK + 0x200;
		put_frame(at.fp, 0, SITE(2));
		put_call_before(SITE(1));
		if (i)
			ASSERT_WALK(&at, "UCP", "10000 10108 10208", START);
		else
			ASSERT_WALK(&at, "UCGP", "10000 10108 .. 10208", START);
		memory_put(SITE(1) - 8, 0x9090909090909090);
		walker_forget(0);
		ASSERT_WALK(&at, "UB", "10000", FIBER);
		at.near_base = 1;
		ASSERT_WALK(&at, "UB", "10000 cut", BROKEN);
		by_reg.fp = UNWIND_FP_CFA; /* that one is its own */
		by_reg.fp_words = -2;
	}
}

/* Behind a system call that begins a thread: that has 0 in rax, its maker its number. */
static void test_new_thread(void **state)
{
	struct unwind_rule rules[] = { RULE(.cfa = UNWIND_CFA_CLONE, .cfa_offset = 0x20),
				       RULE_SP(0x30), RULE_OF(END), RULE_SP(0x20) };
	struct sampled at;

	world_setup(NULL);
	put_code(rules, 4, 0);
	at = leaf_in_code(0);
	at.fp = FP(STACK, 9);
	put_frame(at.fp, 0, SITE(2));
	put_call(put_call(STACK, 0x20, 1), 0x30, 2);
	at.regs[0] = 1234;
	ASSERT_WALK(&at, "UCC", "10000 10108 10208", START);
	at.regs[0] = 0;
	ASSERT_WALK(&at, "U", "10000", START);
	assert_int_equal(walker_sample(&at)->flags, 0);
	/* nobody is called there, so nobody returns there */
	at.pc = FUNCTION(3);
	put_call(STACK, 0x20, 0);
	ASSERT_WALK(&at, "UCP", "10300 10008 10208", START);
}

#define BX 3 /* DWARF's number */

/* A leaf, a function that calls it, and one that finds its frame by rbx. */
static struct sampled put_by_bx(struct unwind_rule leaf, struct unwind_rule middle)
{
	struct unwind_rule by_bx =
		RULE(.cfa = UNWIND_CFA_REG, .cfa_offset = 0x20, .reg = BX);
	struct unwind_rule rules[] = { leaf, middle, by_bx, RULE_SP(0x40), RULE_OF(END) };
	struct sampled at;

	world_setup(NULL);
	put_code(rules, 5, 0);
	at = leaf_in_code(0);
	at.regs[BX] = GARBAGE;
	put_call(STACK, 0x20, 1);
	put_call(STACK + 0x20, 0x30, 2);
	put_call(STACK + 0x240, 0x20, 3); /* 0x50 to 0x240: as large as it likes */
	put_call(STACK + 0x260, 0x40, 4);
	return at;
}

static void test_by_bx(void **state)
{
	struct unwind_rule keeps = RULE_SP(0x20), calls = RULE_SP(0x30);
	struct sampled at = put_by_bx(keeps, calls);

	/* nobody saved it: it is where it was */
	at.regs[BX] = STACK + 0x240;
	ASSERT_WALK(&at, "UCCCC", "10000 10108 10208 10308 10408", START);
	assert_int_equal(walker_sample(&at)->flags, 0);
	/* one did, and the last one that did has it */
	calls.bx_words = -2;
	at = put_by_bx(keeps, calls);
	memory_put(STACK + 0x40, STACK + 0x240);
	ASSERT_WALK(&at, "UCCCC", "10000 10108 10208 10308 10408", START);
	keeps.bx_words = -4;
	at = put_by_bx(keeps, calls);
	memory_put(STACK, GARBAGE);
	memory_put(STACK + 0x40, STACK + 0x240);
	ASSERT_WALK(&at, "UCCCC", "10000 10108 10208 10308 10408", START);
	calls.bx_words = 0;
	at = put_by_bx(keeps, calls);
	memory_put(STACK, STACK + 0x240);
	ASSERT_WALK(&at, "UCCCC", "10000 10108 10208 10308 10408", START);
}

/* Where it was lost nothing is guessed but what frame pointers say, unproven. */
static void test_bx_lost(void **state)
{
	struct unwind_rule loses = RULE_SP(0x20), calls = RULE_SP(0x30);
	struct sampled at;

	loses.bx_words = UNWIND_BX_LOST;
	at = put_by_bx(loses, calls);
	at.regs[BX] = STACK + 0x240;
	at.fp = FP(STACK, 9);
	ASSERT_WALK(&at, "UCC", "10000 10108 10208", FP_ZERO);
	put_frame(at.fp, 0, SITE(3));
	ASSERT_WALK(&at, "UCCGP", "10000 10108 10208 .. 10308", FP_ZERO);
	assert_int_equal(walker_sample(&at)->flags, SAMPLE_UNPROVEN);
	/* a frame pointer says nothing of it */
	at = put_by_bx(RULE_OF(NONE), calls);
	at.regs[BX] = STACK + 0x240;
	at.fp = STACK + 0x10;
	put_frame(at.fp, 0, SITE(1));
	ASSERT_WALK(&at, "UPC", "10000 10108 10208", FP_ZERO);
	/* saved where nothing can be read */
	loses.bx_words = -0x4000;
	at = put_by_bx(loses, calls);
	at.regs[BX] = STACK + 0x240;
	ASSERT_WALK(&at, "UCC", "10000 10108 10208 cut", UNREADABLE);
}

int run_register_cases(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_by_register),	    CASE(test_kept_register),
		CASE(test_kept_too_far_up), CASE(test_left_alone),
		CASE(test_new_thread),	    CASE(test_by_bx),
		CASE(test_bx_lost),	    CASE(test_bottom_with_lost_register),
	};

	return cmocka_run_group_tests_name("registers", tests, NULL, NULL);
}
