// SPDX-License-Identifier: BSD-2-Clause
/*
 * Assembly without call frame information that moves its stack pointer nobody knows how
 * far: the frame pointer has the frame, and the code around is known as before.
 */
#include "gap_code.h"

#define HAS_FRAME      "push %rbp; mov %rsp, %rbp;"
#define HAS_FRAME_TOLD "1bbb"

/* Of as many pages as alloca() is asked for: the frame pointer has the frame from then
 * on, which says nothing against the code around. */
static void test_probed_alloca(void **state)
{
	/* gcc's, by levels of optimisation */
	ASSERT_TOLD(FILL HAS_FRAME
		    "sub %rax, %rcx; cmp %rcx, %rsp; je 2f;"
		    "1: sub $4096, %rsp; orq $0, 4088(%rsp);"
		    "cmp %rcx, %rsp; jne 1b; 2: sub %rdx, %rsp; leave; ret",
		    FILL_TOLD HAS_FRAME_TOLD "bbbbbbbb"
					     "||||||||||||||||"
					     "|||||||||"
					     "1");
	ASSERT_TOLD(FILL HAS_FRAME "sub %rax, %rcx; 1: cmp %rcx, %rsp; je 2f;"
				   "sub $4096, %rsp; orb $0, 4088(%rsp);"
				   "jmp 1b; 2: sub %rdx, %rsp; leave; ret",
		    FILL_TOLD HAS_FRAME_TOLD "bbb"
					     "||||||||||||||||||||"
					     "||||||"
					     "1");
	/* clang's */
	ASSERT_TOLD(FILL HAS_FRAME "sub %rax, %rcx; cmp %rsp, %rcx; jge 2f;"
				   "1: xorq $0, (%rsp); sub $4096, %rsp;"
				   "cmp %rsp, %rcx; jl 1b; 2: leave; ret",
		    FILL_TOLD HAS_FRAME_TOLD "bbbbbbbb"
					     "|||||||||||||||||"
					     "|"
					     "1");
	/* its new stack pointer in memory, at -O0 */
	ASSERT_TOLD(
		FILL HAS_FRAME
		"mov %rsp, %rax; sub %rcx, %rax; mov %rax, -32(%rbp);"
		"1: mov -32(%rbp), %rax; cmp %rsp, %rax; jge 2f; xorq $0, (%rsp);"
		"sub $4096, %rsp; jmp 1b;"
		"2: mov -32(%rbp), %rdi; mov %rdi, %rsp; mov %rbp, %rsp; pop %rbp; ret",
		FILL_TOLD HAS_FRAME_TOLD "bbbbbbbbbb"
					 "||||||||||||||||||||||"
					 "|||||||||||b1");
	/* what steps without a probe, or does not come back, is no such loop */
	ASSERT_NOTHING(FILL HAS_FRAME
		       "1: sub $4096, %rsp; orq $1, 4088(%rsp);"
		       "cmp %rcx, %rsp; jne 1b; sub %rdx, %rsp; leave; ret");
	ASSERT_NOTHING(FILL HAS_FRAME
		       "1: nop; nop; nop; nop; nop; sub $4096, %rsp; orq $0, 4088(%rsp);"
		       "cmp %rcx, %rsp; jne 1b; sub %rdx, %rsp; leave; ret");
}

/* In its frame lies where another stack is, too: as that is taken, or as what is put in
 * an address's place. */
static void test_another_in_its_frame(void **state)
{
	ASSERT_TOLD(FILL HAS_FRAME "call *%rdx; mov %rdi, -32(%rbp); mov -32(%rbp), %rax;"
				   "mov %rax, %rsp; mov %rbp, %rsp; pop %rbp; ret",
		    FILL_TOLD HAS_FRAME_TOLD "bbbbbbbbbbbbb!!!b1");
	ASSERT_TOLD(FILL HAS_FRAME
		    "call *%rdx; mov %rsp, %rax; sub %rcx, %rax; mov %rax, -32(%rbp);"
		    "mov %rdi, -32(%rbp); mov -32(%rbp), %rax;"
		    "mov %rax, %rsp; mov %rbp, %rsp; pop %rbp; ret",
		    FILL_TOLD HAS_FRAME_TOLD "bbbbbbbbbbbbbbbbbbbbbbb!!!b1");
}

/* Its caller is where a guess says, or nobody knows; by the frame pointer it is not. */
static char letter_guessed(const struct unwind_rule *rule)
{
	return rule->reg == UNWIND_GUESSED ? '?' : letter_told(rule);
}

/* A tail call joins a leaf to a function that is odd, by a loop of pushes: the leaf is
 * not odd in itself. Before the other puts up its frame pointer, that is its caller's. */
static void test_what_is_joined(void **state)
{
	build(FILL "call 1f; call 3f; ret; 1: jz 3f; push %rbp; mov %rsp, %rbp;"
		   "2: push %rax; dec %ecx; jnz 2b; call 3f; leave; ret;"
		   "3: inc %eax; push %rbx; inc %ebx; pop %rbx; ret");
	assert_string_equal(letters(letter_guessed), FILL_TOLD "11111111111"
							       "!!!..............."
							       "???????");
	/* while its return address is off the stack, nothing is guessed */
	build(FILL "call 1f; call 3f; ret; 1: jz 3f; push %rbp; mov %rsp, %rbp;"
		   "2: push %rax; dec %ecx; jnz 2b; call 3f; leave; ret;"
		   "3: inc %eax; pop %rcx; inc %ecx; push %rcx; ret");
	assert_string_equal(letters(letter_guessed), FILL_TOLD "11111111111"
							       "!!!..............."
							       "???"
							       "!!!?");
	/* nor does it return as it began */
	build(FILL "call 3f; ret; 3: sub $8, %rsp; inc %eax; ret");
	assert_string_equal(letters(letter_guessed), FILL_TOLD "111111!!!!!!!");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probed_alloca),
		cmocka_unit_test(test_another_in_its_frame),
		cmocka_unit_test(test_what_is_joined),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
