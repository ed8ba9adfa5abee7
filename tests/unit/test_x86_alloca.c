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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probed_alloca),
		cmocka_unit_test(test_another_in_its_frame),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
