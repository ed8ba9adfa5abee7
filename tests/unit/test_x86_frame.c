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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_written),
		cmocka_unit_test(test_addresses_in_the_frame),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
