// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which calls come back, in code of which no call frame information is written.
 */
#include "gap_code.h"

/* What never returns is called last, right before another function. Where that one is
 * called it is seen; then the same holds elsewhere, so what nobody calls begins there. */
static void test_what_never_returns(void **state)
{
#define ENDLESS	     "push %r12; push %rbp; push %rbx; 1: call *%rcx; jmp 1b;"
#define LAST(callee) "push %rbx; call *%rdx; call " callee ";"
	ASSERT_TOLD(FILL LAST("9f") "2: push %rbx; pop %rbx; ret; call 2b; ret;" LAST(
			    "9f") ENDLESS "9: push %rax; call *%rdx; ud2",
		    FILL_TOLD "12222222"
			      "121"
			      "111111"
			      "12222222"
			      "112cdddd"
			      "12222");
}

/* Two functions taken for one call with the stack at different places. */
static void test_calls_differ(void **state)
{
	ASSERT_TOLD(FILL "9: push %rbx; call *%rdx;" ENDLESS "call 9b; ret",
		    FILL_TOLD "122"
			      "........"
			      ".....1");
}

/* What begins behind a call may be a part of another function that goes on through a
 * table, whose calls come back as all others do. */
static void test_unknown_part(void **state)
{
	ASSERT_TOLD(FILL
		    "push %rbx; mov $1, %eax; mov $1, %ecx; call 9f;"
		    "2: dec %ecx; jmp *(%rax); nop; inc %eax; call *%rdx; jmp 2b; nop;"
		    "pop %rbx; ret; 9: ret",
		    FILL_TOLD "1222222222222222"
			      "2222.BBBBBB."
			      "211");
}

/* A call before an aligned address comes back if others of the same do. */
static void test_calls_of_what_returns(void **state)
{
	ASSERT_TOLD(FILL
		    "push %rbp; mov %rsp, %rbp; sub %rax, %rsp; .rept 5; call 9f; .endr;"
		    "inc %eax; leave; ret; 9: jmp *%rax",
		    FILL_TOLD "1bbbbbb"
			      "|||||||||||||||||||||||||"
			      "|||111");
}

/* As libc++'s operator new in a section of its own: behind a call that never returns is
 * another function, which goes on in it. So no call is followed for sure; but what lies
 * behind one leads back into its loop. */
static void test_back_from_behind_calls(void **state)
{
	ASSERT_TOLD("push %rbp; mov %rsp, %rbp; push %rbx; push %rax; mov %rdi, %rbx;"
		    "nopl 16(%rax); nopl 16(%rax); 1: mov %rbx, %rdi; call *(%rcx); test "
		    "%eax, %eax;"
		    "jne 3f; call *8(%rcx); test %eax, %eax; je 4f; call *%rax; jmp 1b;"
		    "3: add $8, %rsp; pop %rbx; pop %rbp; ret; 4: call *16(%rcx);"
		    "push %rbp; mov %rsp, %rbp; pop %rbp; jmp code",
		    "1bbbbcddddddddddddddddDDDDDDDDDDDDDDDddddcb1DDD1bbbb11");
}

/* GraalVM puts a nop behind each call, wherever that lies, and int3 behind what never
 * comes back. What it goes on with after an exception has more on the stack than a
 * function that begins. */
static void test_marked_calls(void **state)
{
	ASSERT_TOLD(".macro marked to; call \\to; nop; .endm;"
		    "push %rax; .rept 16; marked *%rcx; .endr; pop %rax; ret;"
		    "int3; int3; int3;"
		    "push %rbx; sub $16, %rsp; nopl (%rax);"
		    "marked 9f; add $16, %rsp; pop %rbx; ret;"
		    "mov %rax, %rdi; marked *%rdx; mov 8(%rsp), %rbx; int3; int3;"
		    "9: sub $24, %rsp; marked *%rcx; add $24, %rsp; ret",
		    "1222222222222222222222222222222222222222222222222" /* 16 calls */
		    "21..."
		    "12222444"
		    "444444444421"
		    "............."
		    "111144444441");
}

/* The head of a loop is aligned by nops, which are gone through each time that what is
 * called before it comes back. Where the stack is another one behind them, who knows. */
static void test_padding_before_loop(void **state)
{
	ASSERT_TOLD(FILL
		    "push %rbx; 2: call *%rdx; nop; nopl 16(%rax); 1: dec %eax; jnz 1b;"
		    "dec %ebx; jnz 2b; pop %rbx; ret",
		    FILL_TOLD "12222222BBBBBBBB21");
	ASSERT_TOLD(FILL "test %eax, %eax; je 3f; push %rbx; call *%rdx; nopl 16(%rax);"
			 "3: ret",
		    FILL_TOLD "1111122....1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_never_returns),
		cmocka_unit_test(test_calls_differ),
		cmocka_unit_test(test_unknown_part),
		cmocka_unit_test(test_calls_of_what_returns),
		cmocka_unit_test(test_back_from_behind_calls),
		cmocka_unit_test(test_marked_calls),
		cmocka_unit_test(test_padding_before_loop),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
