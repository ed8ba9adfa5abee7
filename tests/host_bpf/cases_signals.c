// SPDX-License-Identifier: BSD-2-Clause
/* Frames that the kernel made: what a handler returns to is where a frame was
 * interrupted, with the registers that it had. */
#include "code.h"

#define RESTORER 1 /* a function of this number */
#define BEHIND	 0x40

/* Function 0 handles, 1 restores, 2 was interrupted at its n-th byte; it and all
 * behind it, up to `last`, call each other. */
static struct sampled put_handled(struct unwind_rule restorer, uint64_t n,
				  unsigned int last, uint64_t interrupted_sp)
{
	uint64_t sp = interrupted_sp;
	struct sampled at;

	table_begin();
	table_row(FUNCTION(0), RULE_SP(0x40));
	table_row(FUNCTION(RESTORER) - 1, restorer);
	table_row(FUNCTION(2), RULE_SP(0x20));
	table_row(FUNCTION(last), RULE_OF(END));
	table_row(FUNCTION(last + 1), RULE_OF(NONE));
	mapping_table_add(CODE, FUNCTION(last + 1), 0, table_end(), 0);
	at = leaf_in_code(0x10);
	memory_put(STACK + 0x38, FUNCTION(RESTORER));
	put_signal(STACK + BEHIND, FUNCTION(2) + n, sp, GARBAGE);
	for (unsigned int i = 3; i <= last; i++)
		sp = put_call(sp, 0x20, i);
	return at;
}

static void test_by_rule(void **state)
{
	struct sampled at = put_handled(RULE_OF(SIGNAL), 0x30, 4, STACK + 0x400);

	ASSERT_WALK(&at, "UUUCC", "10010 10100 10230 10308 10408", START);
	assert_int_equal(walker_sample(&at)->flags, 0);
}

/* On a stack of its own, above or below the other. */
static void test_other_stack(void **state)
{
	struct sampled at = put_handled(RULE_OF(SIGNAL), 0x30, 4, OTHER);

	ASSERT_WALK(&at, "UUUCC", "10010 10100 10230 10308 10408", START);
	world_setup(NULL);
	at = put_handled(RULE_OF(SIGNAL), 0x30, 4, STACK + 0x70000000);
	ASSERT_WALK(&at, "UUUCC", "10010 10100 10230 10308 10408", START);
}

/* At a function's first byte its own row holds, not that of the one before. */
static void test_first_byte(void **state)
{
	struct sampled at = put_handled(RULE_OF(SIGNAL), 0, 4, STACK + 0x400);

	ASSERT_WALK(&at, "UUUCC", "10010 10100 10200 10308 10408", START);
}

/* Who came back to the handler's stack by a jump, and gave the thread another one, was
 * not called by whom the signal interrupted. */
static void test_left_handler(void **state)
{
	struct sampled at = put_handled(RULE_OF(SIGNAL), 0, 4, OTHER);
	uint64_t stack = STACK + BEHIND + 16;

	at.no_alternate = true;
	ASSERT_WALK(&at, "UUUCC", "10010 10100 10200 10308 10408", START);
	memory_put(stack, STACK - 0x100); /* as the kernel noted it: uc_stack */
	memory_put(stack + 8, 0);
	memory_put(stack + 16, 0x1000);
	ASSERT_WALK(&at, "UU", "10010 10100", FIBER);
	memory_put(stack + 8, 1UL << 31); /* SS_AUTODISARM: nor while it handles */
	ASSERT_WALK(&at, "UUUCC", "10010 10100 10200 10308 10408", START);
	memory_put(stack + 8, 0);
	at.no_alternate = false;
	ASSERT_WALK(&at, "UUUCC", "10010 10100 10200 10308 10408", START);
}

/* Known by its bytes where no row says so. */
static void test_by_bytes(void **state)
{
	struct sampled at = put_handled(RULE_OF(NONE), 0x30, 4, STACK + 0x400);

	at.fp = 0;
	ASSERT_WALK(&at, "UC", "10010 10100", FP_ZERO);
	put_call_before(FUNCTION(RESTORER));
	put_restorer(FUNCTION(RESTORER));
	ASSERT_WALK(&at, "UUUCC", "10010 10100 10230 10308 10408", START);
	assert_int_equal(walker_sample(&at)->flags, 0);
	for (int i = 0; i < 9; i++) {
		uint64_t word;

		memory_get(FUNCTION(RESTORER) + i / 8 * 8, &word);
		memory_put(FUNCTION(RESTORER) + i / 8 * 8, word ^ 1ULL << i % 8 * 8);
		ASSERT_WALK(&at, "UC", "10010 10100", FP_ZERO);
		put_restorer(FUNCTION(RESTORER));
	}
}

/* The restorer itself sampled, with sp as the handler left it: at its first
 * instruction, its second, or in the kernel, which would go on behind it. */
static void test_in_restorer(void **state)
{
	struct sampled at = put_handled(RULE_OF(SIGNAL), 0x30, 4, STACK + 0x400);

	at.sp = STACK + BEHIND;
	at.pc = FUNCTION(RESTORER);
	ASSERT_WALK(&at, "UUCC", "10100 10230 10308 10408", START);
	world_setup(NULL);
	at = put_handled(RULE_OF(NONE), 0x30, 4, STACK + 0x400);
	put_restorer(FUNCTION(RESTORER));
	at.sp = STACK + BEHIND;
	at.fp = 0;
	at.pc = FUNCTION(RESTORER);
	ASSERT_WALK(&at, "UUCC", "10100 10230 10308 10408", START);
	at.pc = FUNCTION(RESTORER) + 7;
	ASSERT_WALK(&at, "UUCC", "10107 10230 10308 10408", START);
	at.pc = FUNCTION(RESTORER) + 9;
	ASSERT_WALK(&at, "UUCC", "10109 10230 10308 10408", START);
	at.in_syscall = 1;
	ASSERT_WALK(&at, "SUCC", "10109 10230 10308 10408", START);
	at.in_syscall = 0;
	at.pc = FUNCTION(RESTORER) + 10;
	ASSERT_WALK(&at, "U", "1010a cut", BROKEN);
}

/* In a system call, the restorer's last instruction goes by its own row; and the frames
 * of a handler that is in one are told as ever. */
static void test_in_syscalls(void **state)
{
	struct sampled at = put_handled(RULE_OF(SIGNAL), 0x30, 4, STACK + 0x400);

	at.in_syscall = 1;
	ASSERT_WALK(&at, "SUUCC", "10010 10100 10230 10308 10408", START);
	at.sp = STACK + BEHIND;
	at.pc = FUNCTION(2);
	ASSERT_WALK(&at, "SUCC", "10200 10230 10308 10408", START);
}

/* However deep the handler is, its frame's end is no circle. */
static void test_deep_handlers(void **state)
{
	for (unsigned int n = 0; n < 40; n++) {
		struct sampled at;
		uint64_t sp = STACK;

		world_setup(NULL);
		at = put_handled(RULE_OF(SIGNAL), 0x30, 4, STACK + 0x8000);
		for (unsigned int i = 0; i < n; i++)
			sp = put_call(sp, 0x40, 0);
		memory_put(sp + 0x38, FUNCTION(RESTORER));
		put_signal(sp + BEHIND, FUNCTION(2) + 1, STACK + 0x8000, GARBAGE);
		assert_int_equal(walker_sample(&at)->ending, END_START);
		assert_int_equal(walker_sample(&at)->n_thread, n + 5);
	}
}

/* A signal frame is memory that the program can write: the record is ours. */
static void test_forged(void **state)
{
	static const uint64_t pcs[] = { 0x1200000000000000, ~0ULL, 1ULL << 56,
					0x1000000000000003, 0xff00000000010230 };
	struct sampled at = put_handled(RULE_OF(SIGNAL), 0x30, 4, STACK + 0x400);

	for (size_t i = 0; i < sizeof(pcs) / sizeof(*pcs); i++) {
		put_signal(STACK + BEHIND, pcs[i], STACK + 0x400, GARBAGE);
		ASSERT_WALK(&at, "UU", "10010 10100 cut", BROKEN);
	}
	/* frames that return to each other for ever */
	put_signal(STACK + BEHIND, FUNCTION(RESTORER), STACK + BEHIND, 0);
	assert_int_equal(walker_sample(&at)->ending, END_CYCLE);
	assert_true(walker_ended());
}

/* Where memory ends, the frame of the restorer is told, and no other. */
static void test_unreadable(void **state)
{
	uint64_t sp = STACK + MEMORY_PAGE - BEHIND;

	for (uint64_t hidden = 0; hidden <= 176; hidden += 8) {
		struct sampled at;

		world_setup(NULL);
		at = put_handled(RULE_OF(SIGNAL), 0x30, 4, STACK + 0x8000);
		at.sp = sp - hidden;
		memory_put(at.sp + 0x38, FUNCTION(RESTORER));
		put_signal(at.sp + BEHIND, FUNCTION(2), STACK + 0x8000, GARBAGE);
		memory_unmap(STACK + MEMORY_PAGE);
		if (hidden < 176)
			ASSERT_WALK(&at, "UU", "10010 10100 cut", UNREADABLE);
		else
			ASSERT_WALK(&at, "UUUCC", "10010 10100 10200 10308 10408", START);
	}
}

/* Where no table is, an interrupted frame pointer is one that nothing proves. */
static void test_into_unmapped(void **state)
{
	struct sampled at;

	mapping_table_add(0, 0x1000, 0, 0, UNWIND_BY_FP);
	at = put_handled(RULE_OF(SIGNAL), 0x30, 4, STACK + 0x400);
	put_signal(STACK + BEHIND, 0, STACK + 0x400, STACK + 0x500);
	put_frame(STACK + 0x500, 0, SITE(4));
	ASSERT_WALK(&at, "UUUP", "10010 10100 0 10408", START);
	assert_int_equal(walker_sample(&at)->flags, SAMPLE_UNPROVEN);
	put_signal(STACK + BEHIND, 0, STACK + 0x400, 0);
	ASSERT_WALK(&at, "UUU", "10010 10100 0 cut", BROKEN);
}

/* A rule by a register: what the kernel's copy holds, not the handler's. */
static void test_rule_by_register(void **state)
{
	/* r8 to r15, di, si, bp, bx, dx, ax, cx, sp: by DWARF's numbers */
	static const int place[USER_REGS] = { 13, 12, 14, 11, 9, 8, 10, 15,
					      0,  1,  2,  3,  4, 5, 6,	7 };

	for (int reg = 0; reg < USER_REGS; reg++) {
		struct sampled at;

		world_setup(NULL);
		at = put_handled(RULE_OF(SIGNAL), 0x30, 4, STACK + 0x400);
		tables_clear();
		table_begin();
		table_row(FUNCTION(0), RULE_SP(0x40));
		table_row(FUNCTION(RESTORER) - 1, RULE_OF(SIGNAL));
		table_row(FUNCTION(2),
			  RULE(.cfa = UNWIND_CFA_REG, .cfa_offset = 0x20, .reg = reg));
		table_row(FUNCTION(3), RULE_SP(0x20));
		table_row(FUNCTION(4), RULE_OF(END));
		table_row(FUNCTION(5), RULE_OF(NONE));
		mapping_table_add(CODE, FUNCTION(5), 0, table_end(), 0);
		for (int i = 0; i < USER_REGS; i++)
			at.regs[i] = STACK + 0x420;
		memory_put(STACK + BEHIND + 40 + 8 * place[reg], STACK + 0x400);
		ASSERT_WALK(&at, "UUUCC", "10010 10100 10230 10308 10408", START);
		assert_int_equal(walker_sample(&at)->flags, 0);
	}
}

int run_signal_cases(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_by_rule),	  CASE(test_other_stack),
		CASE(test_first_byte),	  CASE(test_left_handler),
		CASE(test_by_bytes),	  CASE(test_in_restorer),
		CASE(test_in_syscalls),	  CASE(test_deep_handlers),
		CASE(test_forged),	  CASE(test_unreadable),
		CASE(test_into_unmapped), CASE(test_rule_by_register),
	};

	return cmocka_run_group_tests_name("signals", tests, NULL, NULL);
}
