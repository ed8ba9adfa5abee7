// SPDX-License-Identifier: BSD-2-Clause
/*
 * Addresses of the frame that instructions move about, in assembly of which no call frame
 * information is written.
 */
#include "gap_code.h"

/* What writes nothing leaves everything as it was. */
static void test_nothing_written(void **state)
{
	ASSERT_TOLD(FILL "sub $8, %rsp; call *%rax; .byte 0x48, 0x8d, 0x6d, 0;"
			 "1: dec %eax; jnz 1b; add $8, %rsp; ret",
		    FILL_TOLD "1111222222222222221");
}

/* A frame within the frame, and the stack pointer kept beside it. */
static void test_addresses_in_the_frame(void **state)
{
	ASSERT_TOLD(FILL "push %rbp; mov %rsp, %rbp; sub $32, %rsp; test %eax, %eax;"
			 "jz 1f; push %rbp; mov %rsp, %rbp; and $-16, %rsp; call *%rax;"
			 "mov %rbp, %rsp; pop %rbp; 1: call *%rcx; mov %rbp, %rsp;"
			 "pop %rbp; ret",
		    FILL_TOLD "1bbbbbbbfffffggggggg|||||gfffffb1");
	ASSERT_TOLD(FILL "push %rbp; mov %rsp, %rbp; sub $32, %rsp; mov %rsp, -8(%rbp);"
			 "sub %rax, %rsp; call *%rcx; mov -8(%rbp), %rsp;"
			 "add $32, %rsp; pop %rbp; ret",
		    FILL_TOLD "1bbbbbbbfffffff||||||ffffb1");
	ASSERT_TOLD(FILL "push %rbx; sub $32, %rsp; mov %rsp, 16(%rsp);"
			 "lea 16(%rsp), %rsp; mov (%rsp), %rsp; call *%rcx;"
			 "add $32, %rsp; pop %rbx; ret",
		    FILL_TOLD "122226666666666444466666621");
	/* not once something else lies there */
	ASSERT_TOLD(FILL "push %rbx; sub $32, %rsp; mov %rsp, 16(%rsp);"
			 "mov %rax, 16(%rsp); mov 16(%rsp), %rsp; call *%rcx;"
			 "add $32, %rsp; pop %rbx; ret",
		    ".....................................666621");
	/* nor by an index */
	ASSERT_TOLD(FILL "push %rbx; lea 8(%rsp, %r12), %rcx; sub %rdx, %rsp;"
			 "dec %eax; mov %rcx, %rsp; ret",
		    "..............................");
	/* nor once it lies below the stack */
	ASSERT_TOLD(FILL "push %rbx; push %rsp; add $8, %rsp; call *%rcx;"
			 "mov -8(%rsp), %rsp; pop %rbx; ret",
		    FILL_TOLD "1233332222222..");
}

/* What else is told is as in told(). */
static char letter_sized(const struct unwind_rule *rule)
{
	if (rule->cfa != UNWIND_CFA_SIZED)
		return letter_told(rule);
	assert_int_equal(rule->reg, UNWIND_BY_CODE);
	return (char)((rule->fp == UNWIND_FP_SAME ? 'S' : 's') + rule->deref_offset / 8 +
		      rule->cfa_offset / 8 - 1);
}

#define ASSERT_SIZED(body, text)                                                         \
	do {                                                                             \
		build(body);                                                             \
		assert_string_equal(letters(letter_sized), text);                        \
	} while (0)

#define ROUND	   "mov %rsp, %r11; and $31, %r11; add $64, %r11; sub %r11, %rsp;"
#define ROUND_TOLD "11111111111111"

/* qhasm's functions: sp + *(sp + slot) + 8. */
static void test_kept_sizes(void **state)
{
	ASSERT_SIZED(FILL ROUND "mov %r11, 8(%rsp); mov %rbp, 16(%rsp); xor %ebp, %ebp;"
				"mov %rdi, %r11; call *%rax; mov 8(%rsp), %r11;"
				"mov 16(%rsp), %rbp; add %r11, %rsp; ret",
		     FILL_TOLD ROUND_TOLD ".....TTTTTtttttttttttttttttTTT1");
	ASSERT_SIZED(FILL "push %rbx;" ROUND "mov %r11, (%rsp); push %rcx; call *%rax;"
			  "pop %rcx; mov (%rsp), %r10; add %r10, %rsp; pop %rbx; ret",
		     FILL_TOLD "122222222222222....TVVVTTTTTTT21");
}

/* What only looks so. */
static void test_other_sizes(void **state)
{
	/* none that is known to be the pointer's own */
	ASSERT_SIZED(FILL "sub %r11, %rsp; mov %r11, 8(%rsp); call *%rax;"
			  "mov 8(%rsp), %r11; add %r11, %rsp; ret",
		     "..................................");
	/* another one is put there, or added */
	ASSERT_SIZED(FILL ROUND "mov %r11, 8(%rsp); call *%rax; mov %rcx, 8(%rsp);"
				"mov 8(%rsp), %r11; add %r11, %rsp; ret",
		     "..................................................");
	ASSERT_SIZED(FILL ROUND "mov %r11, 8(%rsp); call *%rax; mov 8(%rsp), %r11;"
				"add $8, %r11; add %r11, %rsp; ret",
		     ".................................................");
	ASSERT_SIZED(FILL ROUND "inc %r11; mov %r11, 8(%rsp); call *%rax;"
				"mov 8(%rsp), %r11; add %r11, %rsp; ret",
		     "................................................");
	/* lowered twice, or never raised by it */
	ASSERT_SIZED(FILL ROUND "sub %rcx, %rsp; mov %r11, 8(%rsp); call *%rax;"
				"mov 8(%rsp), %r11; add %r11, %rsp; ret",
		     "................................................");
	ASSERT_SIZED(FILL "mov %rsp, %r12;" ROUND "mov %r11, 8(%rsp); call *%rax;"
			  "mov %r12, %rsp; ret",
		     "...........................................");
	ASSERT_SIZED(FILL "test %eax, %eax; jz 2f;" ROUND "mov %r11, 8(%rsp);"
			  "1: call *%rax; jmp 1b; 2: ret",
		     FILL_TOLD "111111111111111111.........1");
	/* two ways of keeping it meet */
	ASSERT_SIZED(FILL ROUND "mov %r11, 8(%rsp); test %eax, %eax; jz 1f;"
				"mov %r11, 16(%rsp); 1: call *%rax;"
				"mov 8(%rsp), %r11; add %r11, %rsp; ret",
		     "......................................................");
}

/* r, R: the return address is in rcx, r9. */
static char letter_popped(const struct unwind_rule *rule)
{
	if (rule->ra != UNWIND_RA_REG)
		return letter_told(rule);
	assert_int_equal(rule->cfa, UNWIND_CFA_SP);
	assert_int_equal(rule->cfa_offset, 0);
	assert_int_equal(rule->fp, UNWIND_FP_SAME);
	return rule->ra_words == 2 ? 'r' : rule->ra_words == 9 ? 'R' : '?';
}

#define ASSERT_POPPED(body, text)                                                        \
	do {                                                                             \
		build(body);                                                             \
		assert_string_equal(letters(letter_popped), text);                       \
	} while (0)

/* As clang's -mlvi-hardening has it instead of ret. */
static void test_popped_returns(void **state)
{
	ASSERT_POPPED(FILL "push %rbp; test %eax, %eax; jz 1f; call *%rax; pop %rbp;"
			   "pop %rcx; lfence; jmp *%rcx;"
			   "1: pop %rbp; pop %r9; lfence; jmp *%r9",
		      FILL_TOLD "1bbbbbbb1rrrrrb11RRRRRR");
	/* no other register's, nor without the wait */
	ASSERT_POPPED(FILL "push %rbp; pop %rbp; pop %rcx; lfence; jmp *%rdx",
		      ".......................");
	ASSERT_POPPED(FILL "push %rbp; pop %rbp; pop %rcx; mfence; jmp *%rcx",
		      ".......................");
	ASSERT_POPPED(FILL "push %rbp; pop %rbp; pop %rcx; lfence; jmp *%r9",
		      "........................");
	ASSERT_POPPED(FILL "push %rbp; pop %rbp; pop %r9; lfence; jmp *%rcx",
		      "........................");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_written),
		cmocka_unit_test(test_addresses_in_the_frame),
		cmocka_unit_test(test_kept_sizes),
		cmocka_unit_test(test_other_sizes),
		cmocka_unit_test(test_popped_returns),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
