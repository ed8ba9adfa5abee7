/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that BOLT put others into, of whose blocks it says that a return address is
 * all that is on the stack: what they have there by the code that goes on into them.
 */
#include "gap_code.h"

#define HAS ".macro has n; .cfi_def_cfa_offset 8 * \\n; .endm\n" /* words up to its CFA */
#define BY_BOLT                                                                          \
	".section .note.bolt_info, \"\", @note; .balign 4; .long 4, 0, 4; .asciz "       \
	"\"GNU\"\n"

#define ASSERT_SAID(body, note, text)                                                    \
	do {                                                                             \
		build_within(HAS TOLD_FUNCTION, ".cfi_startproc;" body ";.cfi_endproc",  \
			     TOLD_FUNCTION note);                                        \
		assert_string_equal(told(), text);                                       \
	} while (0)
#define ASSERT_BOLTED(body, text) ASSERT_SAID(body, BY_BOLT, text)

#define LOOP                                                                             \
	"push %rbx; has 2; sub $16, %rsp; has 4; xor %edx, %edx; has 1;"                 \
	"1: inc %edx; cmp $9, %edx; jne 1b; has 4; add $16, %rsp; has 2; pop %rbx;"      \
	"has 1; ret"

static void test_goes_on(void **state)
{
	ASSERT_BOLTED(LOOP, "12222444444444444421");
	/* over a call of which the same is said before and behind */
	ASSERT_BOLTED("push %rbx; has 2; inc %eax; has 1; call *%rcx; inc %eax; has 2;"
		      "pop %rbx; has 1; ret",
		      "122222221");
}

static void test_is_jumped_to(void **state)
{
	ASSERT_BOLTED("push %rbx; has 2; jmp 3f; has 1; 1: dec %eax; jz 2f; has 2;"
		      "3: jmp 1b; 2: pop %rbx; has 1; ret",
		      "12222222221");
}

/* What is said of it is true. */
static void test_has_nothing_there(void **state)
{
	/* who goes there has nothing either */
	ASSERT_BOLTED("test %edi, %edi; jz 2f; push %rbx; has 2; call *%rax; pop %rbx;"
		      "has 1; ret; 2: inc %eax; ret",
		      "111112221111");
	/* what is called before it never returns */
	ASSERT_BOLTED("test %edi, %edi; jz 2f; push %rbx; has 2; call *%rax; has 1;"
		      "2: inc %eax; ret",
		      "1111122111");
	/* it is taken off the stack on the way */
	ASSERT_BOLTED("push %rbx; has 2; inc %eax; has 1; pop %rbx; ret", "12221");
}

static void test_of_other_files(void **state)
{
	ASSERT_SAID(LOOP, "", "12222441111111444421");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goes_on),
		cmocka_unit_test(test_is_jumped_to),
		cmocka_unit_test(test_has_nothing_there),
		cmocka_unit_test(test_of_other_files),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
