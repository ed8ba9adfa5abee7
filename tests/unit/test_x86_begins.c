/* SPDX-License-Identifier: BSD-2-Clause */
/* V8's builtins, which take their arguments off the stack: what is told of them. */
#include "gap_code.h"

/* What is told of a builtin, which begins behind int3, beside another that takes an
 * argument off the stack. */
static const char *told_of_builtin(const char *body)
{
	char source[1024];

	snprintf(source, sizeof(source),
		 ".p2align 6, 0xcc; %s; .p2align 6, 0xcc; 9: xor %%eax, %%eax; ret $8",
		 body);
	build(source);
	return told() + 63;
}

#define ASSERT_BUILTIN(body, text)                                                       \
	assert_memory_equal(told_of_builtin(body), text, strlen(text))

static void test_builtins(void **state)
{
	/* they are followed from their first byte, where others take their arguments */
	ASSERT_BUILTIN("test %eax, %eax; jz 1f; ret $8; 1: jmp *%rcx", "111111111.");
	ASSERT_BUILTIN("test %eax, %eax; jz 1f; push %rbx; call *%rcx; pop %rbx; ret $8;"
		       "1: jmp *%rcx",
		       "11111...11111.");
	/* but if they are not called, or none lies there */
	ASSERT_BUILTIN("mov -8(%rbp), %rdi; call *%rcx", "......");
	ASSERT_BUILTIN("pop %rcx; pop %rdx; call *%rcx", "....");
	ASSERT_BUILTIN(
		"ud2; .p2align 6, 0x90; xor %eax, %eax; call *%rcx",
		"11..................................................................");
	/* nor if others go on there */
	ASSERT_BUILTIN("xor %eax, %eax; call *%rcx; inc %eax; jmp 1f; .p2align 6, 0xcc;"
		       "1: mov -8(%rbp), %rdi; call *%rcx",
		       "11............................................................."
		       ".......");
	/* where another begins, they are left, however deep the stack is */
	ASSERT_BUILTIN("call *%rcx; xor %eax, %eax; jmp 9f", "..1111");
	ASSERT_BUILTIN(
		"test %eax, %eax; jz 9f; push %rbx; test %ecx, %ecx; jz 9f; call *%rcx",
		"111112222..");
}

/* A frame of theirs holds behind calls, too. Without one nobody knows what a call left on
 * the stack, nor what is below it. */
static void test_frames_of_builtins(void **state)
{
	ASSERT_BUILTIN("push %rbp; mov %rsp, %rbp; push %rdi; call *%rcx; nop;"
		       "mov %rbp, %rsp; pop %rbp; call *%rcx; int3; xor %eax, %eax; ret",
		       "1bbb||||||||......");
	/* what was pushed may be taken off one by one */
	ASSERT_BUILTIN("push %rbp; mov %rsp, %rbp; push %rdi; call *%rcx; pop %rdi;"
		       "pop %rbp; ret",
		       "1bbb|||||1.");
	ASSERT_BUILTIN("xor %eax, %eax; call *%rcx; xor %eax, %eax; nop; int3",
		       "11.....");
	/* some of V8's own code loads sp and fp of another stack: by fp, as elsewhere */
	ASSERT_BUILTIN("push %rbp; mov %rsp, %rbp; mov 8(%rdi), %rsp; call *%rcx",
		       "1bbb||||..");
}

/* More or fewer arguments, and the return address below them again: it is known to be
 * there when the function is left. */
static void test_moved_return_addresses(void **state)
{
	ASSERT_BUILTIN("push %rbp; mov %rsp, %rbp; call *%rcx; mov %rbp, %rsp; pop %rbp;"
		       "pop %r10; lea (%rsp, %rdi, 8), %rsp; push %r10; ret",
		       "1bbb||||||11......1");
	ASSERT_BUILTIN(
		"push %rdi; push 8(%rsp); mov $3, %eax; mov %rdx, 16(%rsp); jmp 9f;"
		"call *%rcx",
		"12222111111111111..");
	ASSERT_BUILTIN("sub $8, %rsp; mov 8(%rsp), %r10; inc %eax; mov %r10, (%rsp);"
		       "mov %rdx, 8(%rsp); jmp 9f; call *%rcx",
		       "111122222......1111111..");
	ASSERT_BUILTIN("sub %r10, %rsp; inc %eax; mov %r10, (%rsp); inc %eax; jmp *%rcx;"
		       "call *%rcx",
		       "111......1111..");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_builtins),
		cmocka_unit_test(test_frames_of_builtins),
		cmocka_unit_test(test_moved_return_addresses),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
