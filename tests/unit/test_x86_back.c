// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where the caller's frame pointer is, by where it is taken back, in assembly of which no
 * call frame information is written.
 */
#include "gap_code.h"

/* A part that nobody knows the entry of: what jumps there is a register. */
#define ENTRY FILL "push %rbp; mov %rdx, %rbp; jmp *%rcx; "

#define ENTRY_TOLD FILL_TOLD "1bbbbb"

/* One of whose ways goes on like that, and another returns: all before that is known. */
static void test_jump_through_a_table(void **state)
{
	ASSERT_TOLD(ENTRY "inc %rbp; jz 2f; jmp *%rcx; 2: pop %rbp; ret",
		    ENTRY_TOLD "bbbbbBBb1");
	ASSERT_TOLD(ENTRY "inc %rbp; jz 2f; jmp *(%rcx,%rax,8); 2: pop %rbp; ret",
		    ENTRY_TOLD "bbbbbBBBb1");
}

/* That may be another function, which is called instead. */
static void test_jump_to_another(void **state)
{
	ASSERT_TOLD(ENTRY "inc %rbp; jz 2f; pop %rdx; jmp *%rcx; 2: pop %rbp; ret",
		    ENTRY_TOLD "BBBBBBAAb1");
}

/* Nor do ways agree that take it back from different places. */
static void test_ways_that_differ(void **state)
{
	ASSERT_TOLD(FILL "push %rbp; push %rbp; mov %rdx, %rbp; jmp *%rcx; "
			 "inc %rbp; jz 2f; pop %rbp; pop %rdx; ret; "
			 "2: pop %rdx; pop %rbp; ret",
		    FILL_TOLD "1bcccccCCCCCc21cb1");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jump_through_a_table),
		cmocka_unit_test(test_jump_to_another),
		cmocka_unit_test(test_ways_that_differ),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
