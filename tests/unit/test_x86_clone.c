// SPDX-License-Identifier: BSD-2-Clause
/*
 * System calls that begin threads, in assembly of which no call frame information is
 * written.
 */
#include "gap_code.h"

/* t where 0 in rax is a new thread, s where the stack says who called, e where nobody
 * did, `.` where nothing is told. */
static char letter_of(const struct unwind_rule *rule)
{
	if (rule->cfa == UNWIND_CFA_CLONE) {
		assert_int_equal(rule->cfa_offset, 8);
		assert_int_equal(rule->ra_words, -1);
		assert_int_equal(rule->fp, UNWIND_FP_SAME);
		assert_int_equal(rule->reg, 0);
	}
	return rule->cfa == UNWIND_CFA_CLONE  ? 't'
	       : rule->cfa == UNWIND_CFA_SP   ? 's'
	       : rule->cfa == UNWIND_CFA_END  ? 'e'
	       : rule->cfa == UNWIND_CFA_NONE ? '.'
					      : '?';
}

static const char *threads(void)
{
	return letters(letter_of);
}

#define ASSERT_THREADS(body, text)                                                       \
	do {                                                                             \
		build(body);                                                             \
		assert_string_equal(threads(), text);                                    \
	} while (0)

#define CHILD "xor %ebp, %ebp; pop %rdi; call *%r9; mov $60, %al; syscall; hlt;"

/* As musl has it, and as others might. */
static void test_clone(void **state)
{
	ASSERT_THREADS(
		"xor %eax, %eax; mov $56, %al; syscall; test %eax, %eax; jne 1f;" CHILD
		"1: ret",
		"sssstttttteeeeeeeeeees");
	ASSERT_THREADS("mov $435, %eax; mov %rdx, %rdi; syscall; test %rax, %rax; js 2f;"
		       "je 1f; 2: ret; nop; 1: " CHILD,
		       "ssssssssttttttttts.eeeeeeeeeee");
}

/* glibc's tells of all but what lies between the call and where the thread goes on. */
static void test_gap(void **state)
{
	build_within(".p2align 6; .cfi_startproc; mov $56, %eax; .cfi_endproc;",
		     "syscall; test %rax, %rax; jl 1f; je 1f; ret;"
		     ".cfi_startproc; .cfi_undefined rip; 1: xor %ebp, %ebp; hlt;"
		     ".cfi_endproc",
		     TOLD_FUNCTION);
	assert_string_equal(threads(), "tttttttttseee");
}

/* Other calls, and what comes back to the stack that it had. */
static void test_others(void **state)
{
	static const char *const bodies[] = {
		"mov $57, %eax; syscall; test %eax, %eax; jne 1f;" CHILD "1: ret",
		"mov $56, %eax; mov %ecx, %eax; syscall; test %eax, %eax; jne 1f;" CHILD
		"1: ret",
		"mov $56, %eax; call *%rcx; syscall; test %eax, %eax; jne 1f;" CHILD
		"1: ret",
		"mov $56, %eax; syscall; test %edx, %edx; jne 1f;" CHILD "1: ret",
		"mov $56, %eax; syscall; test %eax, %eax; jg 1f;" CHILD "1: ret",
		"mov $56, %eax; syscall; test %eax, %eax; jne 1f; xor %ecx, %ecx; hlt; "
		"1: ret",
		"nop; syscall; test %rax, %rax; jl 1f; je 1f; ret; 1: ret",
	};

	for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
		build(bodies[i]);
		assert_null(strchr(threads(), 't'));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clone),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
