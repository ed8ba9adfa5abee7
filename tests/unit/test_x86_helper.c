// SPDX-License-Identifier: BSD-2-Clause
/*
 * What functions, in assembly of which no call frame information is written, leave alone:
 * helpers the register in which their caller keeps where its stack was, and r12 to r15.
 */
#include "gap_code.h"

/* and the helper begins */
#define CALLS_HELPER                                                                     \
	"mov %rsp, %rcx; and $-32, %rsp; sub $96, %rsp; dec %eax; call 9f; dec %eax;"    \
	"call 9f; dec %eax; mov %rcx, %rsp; ret; .p2align 4, 0xcc; 9: "

/* k, by a register that what is called leaves alone. */
static char letter_kept(const struct unwind_rule *rule)
{
	return rule->cfa != UNWIND_CFA_REG	? '-'
	       : rule->reg == (1 | UNWIND_KEPT) ? '?'
	       : rule->reg == (2 | UNWIND_KEPT) ? 'k'
	       : rule->reg == 2			? '='
						: '?';
}

static const char *kept(const char *body)
{
	build(body);
	return letters(letter_kept);
}

/* Of the calls and of what is between and behind them. */
#define KEPT "----------------------======kkkkk==kkkkk=====-"

static void assert_kept(const char *helper)
{
	char body[512];

	snprintf(body, sizeof(body), "%s%s", FILL CALLS_HELPER, helper);
	assert_memory_equal(kept(body), KEPT, sizeof(KEPT) - 1);
}

static void assert_not_kept(const char *helper)
{
	char body[512];
	const char *text;

	snprintf(body, sizeof(body), "%s%s", FILL CALLS_HELPER, helper);
	text = kept(body);
	assert_int_equal(strspn(text, "-="), strlen(text));
}

static void test_helpers(void **state)
{
	assert_kept("vpaddd %ymm4, %ymm5, %ymm5; ret");
	assert_kept("1: vpaddd %ymm4, %ymm5, %ymm5; dec %edx; jnz 1b; ret");
	assert_kept("dec %edx; jz 1f; ret; 1: inc %edx; jmp 2f; nop; 2: ret");
	assert_kept("push %rcx; mov %eax, %edx; add $8, %rsp; ret");
}

static void test_others(void **state)
{
	assert_not_kept("mov %edx, %ecx; ret");
	assert_not_kept("dec %edx; jz 1f; ret; 1: shr $1, %ecx; ret");
	/* it calls somebody itself, or goes on elsewhere */
	assert_not_kept("dec %edx; call 1f; dec %edx; ret; 1: ret");
	assert_not_kept("dec %edx; jmp *%rdx");
	assert_not_kept("dec %edx; jz code; ret");
	assert_not_kept("push %rdx; ret");
}

/* A digit: the registers that the function leaves alone, r12 by its lowest bit; `.` where
 * a rule can't say so. */
static char letter_alone(const struct unwind_rule *rule)
{
	bool can_say = rule->cfa == UNWIND_CFA_SP || rule->cfa == UNWIND_CFA_FP;

	return can_say ? "0123456789abcdef"[(uint16_t)rule->deref_offset >> 12] : '.';
}

static const char *left_alone(const char *body)
{
	build(body);
	return letters(letter_alone);
}

/* What all instructions of a function leave alone, those of its other ways, too, and what
 * it calls is asked by itself. */
static void test_left_alone(void **state)
{
	assert_string_equal(left_alone(FILL "call *%rax; inc %eax; ret"),
			    "ffffffffffffffffffff");
	assert_string_equal(
		left_alone(FILL "push %r12; jz 1f; inc %eax; 1: pop %r12; ret"),
		"eeeeeeeeeeeeeeeeeeeeeeee");
	assert_string_equal(left_alone(FILL "jz 1f; bswap %r13d; ret; 1: inc %r15; ret"),
			    "5555555555555555555555555");
	/* which comes to the same from elsewhere */
	assert_string_equal(
		left_alone(FILL "jz 1f; ret; nop; bswap %r13d; 1: inc %r15; ret"),
		"555555555555555555.5555555");
	assert_string_equal(left_alone(FILL "push %rbp; mov %rsp, %rbp; sub %rax, %rsp;"
					    "bswap %r14; leave; ret"),
			    "bbbbbbbbbbbbbbbbbbbbbbbbbbb");
	assert_string_equal(left_alone(FILL "mov %rsp, %r13; and $-32, %rsp; call *%rax;"
					    "mov %r13, %rsp; ret"),
			    "dddddddddddddddddddddd.....d");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_helpers),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_left_alone),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
