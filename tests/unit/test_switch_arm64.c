// SPDX-License-Identifier: BSD-2-Clause
/* arm64 code that switches stacks, as its assembler made it: what is told of each of its
 * instructions. */
#include "unwind/switch_arm64.h"

#include "unwind/arm64_stack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#define VADDR	  0x10000
#define INSNS_MAX 64

static struct unwind_rule rules[INSNS_MAX + 1];

/* From there on, until another row comes. */
static int take_row(void *arg, uint64_t pc, const struct unwind_rule *rule)
{
	size_t at = (pc - VADDR) / 4;

	assert_true(pc >= VADDR && pc % 4 == 0 && at <= INSNS_MAX);
	for (; at <= INSNS_MAX; at++)
		rules[at] = *rule;
	return 0;
}

/* A letter for each instruction: '.' nothing is told, '!' the stack is another's; else
 * the CFA is so many times 16 bytes above sp, a for 0, A where the frame pointer is lost;
 * the caller is in the link register. */
static const char *told(const uint32_t *insns, size_t n)
{
	static const struct cfi_sink sink = { .row = take_row };
	static char text[INSNS_MAX + 1];

	memset(rules, 0, sizeof(rules));
	assert_int_equal(
		switch_arm64_tell((const uint8_t *)insns, 4 * n, VADDR, NULL, &sink), 0);
	for (size_t i = 0; i < n; i++) {
		const struct unwind_rule *rule = &rules[i];

		text[i] = '.';
		if (rule->cfa == UNWIND_CFA_TORN)
			text[i] = '!';
		if (rule->cfa != UNWIND_CFA_SP)
			continue;
		assert_int_equal(rule->ra, UNWIND_RA_LR);
		text[i] = (char)((rule->fp == UNWIND_FP_LOST ? 'A' : 'a') +
				 rule->cfa_offset / 16);
	}
	text[n] = '\0';
	return text;
}

#define ASSERT_TOLD(text, ...)                                                           \
	do {                                                                             \
		static const uint32_t insns[] = { __VA_ARGS__ };                         \
		assert_string_equal(told(insns, sizeof(insns) / 4), text);               \
	} while (0)

/* musl's longjmp; ldp x29, x30, [x0, #80] comes before mov sp, x2 */
#define LONGJMP                                                                          \
	0xa9405013, 0xa945781d, 0xf9403402, 0x9100005f, 0x6d472408, 0x7100003f,          \
		0x1a9f1420, 0xd61f03c0
/* boost.context's: sub sp, sp, #0xb0; saves; mov x4, sp; mov sp, x0; …; ret x4 */
#define JUMP                                                                             \
	0xd102c3ff, 0x6d0027e8, 0xa9097bfd, 0xf90053fe, 0x910003e4, 0x9100001f,          \
		0x6d4027e8, 0xa9497bfd, 0xaa0403e1, 0xf94053e4, 0x9102c3ff, 0xd65f0080

static void test_switches(void **state)
{
	ASSERT_TOLD("aa!!!!!!", LONGJMP);
	ASSERT_TOLD("alllll!!!!!!", JUMP);
	/* stp x29, x30, [sp, #-16]!; mov x9, sp; str x9, [x0]; ldr x29, [x1, #8];
	 * ldr x9, [x1]; mov sp, x9; ldp x29, x30, [sp], #16; ret */
	ASSERT_TOLD("abbbBB!!", 0xa9bf7bfd, 0x910003e9, 0xf9000009, 0xf940043d,
		    0xf9400029, 0x9100013f, 0xa8c17bfd, 0xd65f03c0);
	/* add sp, x9, #16; and sp, x9, #-16 */
	ASSERT_TOLD("a!", 0x9100413f, 0xd65f03c0);
	ASSERT_TOLD("a!", 0x927ced3f, 0xd65f03c0);
}

/* A letter for each instruction at which a leaf may be: '!' it is torn. */
static const char *torn(const uint32_t *insns, size_t n, bool is_silent)
{
	static char text[INSNS_MAX + 1];

	for (size_t i = 0; i < n; i++)
		text[i] = switch_arm64_is_torn((const uint8_t *)insns, 4 * n, 4 * i,
					       is_silent)
				  ? '!'
				  : '.';
	text[n] = '\0';
	return text;
}

#define ASSERT_TORN(text, is_silent, ...)                                                \
	do {                                                                             \
		static const uint32_t insns[] = { __VA_ARGS__ };                         \
		assert_string_equal(torn(insns, sizeof(insns) / 4, is_silent), text);    \
	} while (0)

/* glibc's, shortened: what its information says nothing of, though it has some. */
static void test_silent_leaves(void **state)
{
	/* swapcontext: nop; stp xzr, x30, [x0, #184]; adr x30, back; str x30, [x0, #440];
	 * mov x2, sp; str x2, [x0, #432]; svc #0; cbnz x0, …; mov x22, x30;
	 * bl setcontext; mov x30, x22; ret; b …; back: nop; mov x30, x1; ret; b … */
	ASSERT_TORN("...!!!!!!!.!.!!..", true, 0xd503201f, 0xa90bf81f, 0x1000059e,
		    0xf900dc1e, 0x910003e2, 0xf900d802, 0xd4000001, 0xb50000c0,
		    0xaa1e03f6, 0x97fffd46, 0xaa1603fe, 0xd65f03c0, 0x14009a4b,
		    0xd503201f, 0xaa0103fe, 0xd65f03c0, 0x14009a47);
	/* setcontext: mov x9, x0; svc #0; ldr x30, [x0, #424]; ldr x2, [x0, #432];
	 * mov sp, x2; b.ne …; ldr x16, [x0, #440]; br x16; b … */
	ASSERT_TORN("...!!!!!.", true, 0xaa0003e9, 0xd4000001, 0xf940d41e, 0xf940d802,
		    0x9100005f, 0x54000161, 0xf940dc10, 0xd61f0200, 0x14009cde);
	/* a leaf of another kind: cbz x0, 1f; mov x0, #1; ret; 1: mov x0, #2; ret */
	ASSERT_TORN(".....", true, 0xb4000060, 0xd2800020, 0xd65f03c0, 0xd2800040,
		    0xd65f03c0);
}

/* A switch that tells of all that it pushes, and nothing of the switch. */
static void test_leaves(void **state)
{
	/* sub sp, sp, #32; stp x29, x30, [sp, #16]; mov x9, sp; str x9, [x0]; mov sp, x1;
	 * ldp x29, x30, [sp, #16]; add sp, sp, #32; ret */
	ASSERT_TORN(".....!!!", false, 0xd10083ff, 0xa9017bfd, 0x910003e9, 0xf9000009,
		    0x9100003f, 0xa9417bfd, 0x910083ff, 0xd65f03c0);
	/* what is the stack's own: mov x9, sp; sub sp, sp, #32; mov sp, x9;
	 * ldp x29, x30, [sp], #16; ret */
	ASSERT_TORN(".....", false, 0x910003e9, 0xd10083ff, 0x9100013f, 0xa8c17bfd,
		    0xd65f03c0);
}

static void test_several(void **state)
{
	ASSERT_TOLD("..aa!!!!!!..alllll!!!!!!", 0xd503201f, 0xd503201f, LONGJMP,
		    0xd503201f, 0xd4200000, JUMP);
	/* behind a jump the beginning is perhaps none: cbz x0, … */
	ASSERT_TOLD("....!!!!!!..", 0xb4000080, 0xd65f03c0, LONGJMP, 0xd65f03c0,
		    0xd65f03c0);
}

static void test_own_stack(void **state)
{
	/* mov x9, sp; sub sp, sp, #32; mov sp, x9; ret */
	ASSERT_TOLD("....", 0x910003e9, 0xd10083ff, 0x9100013f, 0xd65f03c0);
	/* mov x29, sp; sub sp, sp, x0; mov sp, x29; ldp x29, x30, [sp], #16; ret */
	ASSERT_TOLD("......", 0xa9bf7bfd, 0x910003fd, 0xcb2063ff, 0x910003bf, 0xa8c17bfd,
		    0xd65f03c0);
	/* mov sp, x9; bl; ret: it comes back */
	ASSERT_TOLD("....", 0xaa0003e9, 0x9100013f, 0x97fffff4, 0xd65f03c0);
	/* no end */
	ASSERT_TOLD("..", 0xaa0003e9, 0x9100013f);
	/* one that was the stack's, and was written: by ldr of a literal, ldxr, fmov,
	 * mrs, adr, movz, ldrsw, ldp */
	static const uint32_t writes[] = {
		0x58000209, 0xc85f7c29, 0x9e660009, 0xd53bd049,
		0x10fffe09, 0xd2800029, 0xb8a26829, 0x28c12829
	};

	for (size_t i = 0; i < sizeof(writes) / sizeof(*writes); i++) {
		const uint32_t insns[] = { 0x910003e9, writes[i], 0x9100013f,
					   0xd65f03c0 };

		assert_string_equal(told(insns, 4), "aaa!");
	}
}

static void test_effects(void **state)
{
	/* str x0, [sp, #-16]!; ldr x0, [sp], #16; stp q0, q1, [sp, #-32]! */
	assert_int_equal(arm64_effect(0xf81f0fe0).pushed, 16);
	assert_int_equal(arm64_effect(0xf84107e0).pushed, -16);
	assert_int_equal(arm64_effect(0xf84107e0).sets, 1);
	assert_int_equal(arm64_effect(0xadbf07e0).pushed, 32);
	/* str x9, [x1, #16]!; ldr d9, [x1]; cmp w1, #0 */
	assert_int_equal(arm64_effect(0xf8010c29).sets, 1 << 1);
	assert_int_equal(arm64_effect(0xfd400029).sets, 0);
	assert_int_equal(arm64_effect(0x7100003f).sets, 1u << 31);
	/* add sp, sp, x9 */
	assert_int_equal(arm64_effect(0x8b2963ff).sp, ARM64_SP_LOST);
	/* blr x3, b, retaa, b.eq, tbz */
	assert_true(arm64_effect(0xd63f0060).calls);
	assert_false(arm64_effect(0xd63f0060).leaves);
	assert_true(arm64_effect(0x17fffff2).leaves);
	assert_true(arm64_effect(0xd65f0bff).leaves);
	assert_true(arm64_effect(0x54fffea0).jumps);
	assert_true(arm64_effect(0x361ffe80).jumps);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_switches),  cmocka_unit_test(test_silent_leaves),
		cmocka_unit_test(test_leaves),	  cmocka_unit_test(test_several),
		cmocka_unit_test(test_own_stack), cmocka_unit_test(test_effects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
