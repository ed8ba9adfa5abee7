// SPDX-License-Identifier: BSD-2-Clause
/*
 * Code that many functions jump to from further away than a function is long, as those of
 * GraalVM do where their stack is full or a safepoint is asked for.
 */
#include "gap_code.h"

#define JUMPERS 16

/* In front of the code: as many functions with one frame, and 1 that contradicts itself;
 * their way in, and their way out, lead 70 KB on. */
#define FUNCTION                                                                         \
	".macro function; lea -24(%rsp), %rbx; cmp 8(%r15), %rbx; jbe afar;"             \
	"mov %rbx, %rsp; call *%rax; add $24, %rsp; subl $1, 16(%r15); jle afar; ret;"   \
	".endm;"
#define ODD  "push %rbx; jbe 1f; push %rcx; 1: pop %rbx; dec %eax; jle afar; ret;"
#define AFAR ".skip 70000, 0xcc; afar: "

static int depth_at(uint64_t at)
{
	struct unwind_rule rule = image_rule(&image, base + at);

	return rule.cfa == UNWIND_CFA_SP ? rule.cfa_offset : -1;
}

static uint64_t afar(void)
{
	return nm_value("", "switch.so", "afar") - base;
}

/* What is odd in one of them is not odd in all. */
static void each_is_told_by_itself(void **state)
{
	build(FUNCTION
	      ".rept 16; function; .endr;" ODD AFAR
	      "push %rbp; sub $16, %rsp; call *%rax; add $16, %rsp; pop %rbp; ret");
	for (uint64_t i = 0; i < JUMPERS; i++) {
		assert_int_equal(depth_at(i * 36), 8);	     /* lea */
		assert_int_equal(depth_at(i * 36 + 15), 8);  /* mov */
		assert_int_equal(depth_at(i * 36 + 18), 32); /* call */
		assert_int_equal(depth_at(i * 36 + 24), 8);  /* subl */
		assert_int_equal(depth_at(i * 36 + 35), 8);  /* ret */
	}
	assert_int_equal(depth_at(JUMPERS * 36UL + 1), -1);
	assert_int_equal(depth_at(afar()), 8);
	assert_int_equal(depth_at(afar() + 1), 16);
	image_free(&image);
}

/* Their caller's frame pointer is lost there if one of them has lost it. */
static void what_one_has_lost_is_lost(void **state)
{
	struct unwind_rule rule;

	build(FUNCTION ".rept 16; function; .endr; xor %ebp, %ebp; test %eax, %eax;"
		       "jz afar; ret;" AFAR "push %rbp; sub $16, %rsp; call *%rax; ud2");
	rule = image_rule(&image, base + afar() + 1);
	assert_int_equal(rule.fp, UNWIND_FP_LOST);
	image_free(&image);
}

/* A jump to where more is on the stack is one that was not understood. */
static void another_depth_is_none(void **state)
{
	build(".rept 16; test %eax, %eax; jz afar; push %rax; pop %rax; ret; .endr;" AFAR
	      "test %eax, %eax; pop %rbx; ret");
	for (uint64_t i = 0; i < JUMPERS; i++)
		assert_int_equal(depth_at(i * 11 + 9), -1); /* pop */
	assert_int_equal(depth_at(afar()), -1);
	image_free(&image);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_told_by_itself),
		cmocka_unit_test(what_one_has_lost_is_lost),
		cmocka_unit_test(another_depth_is_none),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
