// SPDX-License-Identifier: BSD-2-Clause
/* arm64 code without a frame, as its assembler made it: which of its instructions are
 * known to lead to their caller by the link register. */
#include "unwind/leaf_arm64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#define VADDR	  0x10000
#define INSNS_MAX 64

#define NOP	   0xd503201f
#define RET	   0xd65f03c0
#define SVC	   0xd4000001
#define BACK(n)	   (0x54000001 | ((uint32_t) - (n)&0x7ffff) << 5) /* b.ne, n before */
#define AHEAD(n)   (0x54000001 | ((uint32_t)(n)&0x7ffff) << 5)
#define JUMP(n)	   (0x14000000 | ((uint32_t)(n)&0x3ffffff))
#define CALL(n)	   (0x94000000 | ((uint32_t)(n)&0x3ffffff))
#define PUSH_FRAME 0xa9bf7bfd /* stp x29, x30, [sp, #-16]! */
#define POP_FRAME  0xa8c17bfd
#define SET_FP	   0x910003fd /* mov x29, sp */

struct told {
	bool leads[INSNS_MAX + 1];
};

static int take_row(void *arg, uint64_t pc, const struct unwind_rule *rule)
{
	struct told *told = arg;
	size_t at = (pc - VADDR) / 4;
	bool leads = rule->cfa == UNWIND_CFA_SP;

	assert_true(pc >= VADDR && pc % 4 == 0 && at <= INSNS_MAX);
	if (leads) {
		assert_int_equal(rule->ra, UNWIND_RA_LR);
		assert_int_equal(rule->fp, UNWIND_FP_SAME);
		assert_int_equal(rule->cfa_offset, 0);
	}
	for (; at <= INSNS_MAX; at++)
		told->leads[at] = leads;
	return 0;
}

/* 'l' for each instruction that is known to lead, else '.' */
static const char *told(const uint32_t *insns, size_t n)
{
	static char text[INSNS_MAX + 1];
	struct told rows = { 0 };
	const struct cfi_sink sink = { .arg = &rows, .row = take_row };
	bool *leaf;

	assert_int_equal(leaf_arm64_find((const uint8_t *)insns, 4 * n, &leaf), 0);
	assert_int_equal(leaf_arm64_tell(leaf, 0, 4 * n, VADDR, &sink), 0);
	free(leaf);
	for (size_t i = 0; i < n; i++)
		text[i] = rows.leads[i] ? 'l' : '.';
	assert_false(rows.leads[n]);
	text[n] = '\0';
	return text;
}

#define ASSERT_TOLD(text, ...)                                                           \
	do {                                                                             \
		static const uint32_t insns[] = { __VA_ARGS__ };                         \
		assert_string_equal(told(insns, sizeof(insns) / 4), text);               \
	} while (0)

static void follows_all_ways(void **state)
{
	ASSERT_TOLD("lll", NOP, NOP, RET);
	/* paciasp; a loop; a way out of it; autiasp; ret; svc #0; ret; retaa */
	ASSERT_TOLD("lllllllll", 0xd503233f, NOP, AHEAD(4), BACK(2), 0xd50323bf, RET, SVC,
		    RET, 0xd65f0bff);
	ASSERT_TOLD("lll.ll", NOP, JUMP(3), JUMP(-1), 0xd61f0000, NOP, RET);
}

static void knows_no_frames(void **state)
{
	ASSERT_TOLD(".....l", NOP, PUSH_FRAME, SET_FP, NOP, POP_FRAME, RET);
	/* one of two ways */
	ASSERT_TOLD("..ll....l", NOP, AHEAD(3), NOP, RET, PUSH_FRAME, SET_FP, CALL(-5),
		    POP_FRAME, RET);
	ASSERT_TOLD("..l", NOP, CALL(-1), RET);
	/* sub sp, sp, #16; add sp, sp, #16 */
	ASSERT_TOLD("...l", 0xd10043ff, NOP, 0x910043ff, RET);
	/* mov x29, #0 */
	ASSERT_TOLD(".l", 0xd280001d, RET);
}

static void knows_no_ways_out(void **state)
{
	ASSERT_TOLD("...", NOP, JUMP(2), NOP);
	ASSERT_TOLD("..l", NOP, AHEAD(-2), RET);
	ASSERT_TOLD("..", NOP, NOP);
	ASSERT_TOLD("..", NOP, 0xd65f0080); /* ret x4 */
	ASSERT_TOLD(".", NOP);
}

static void is_of_one_stack(void **state)
{
	/* mov sp, x1; ret; nop; ret */
	ASSERT_TOLD("..ll", 0x9100003f, RET, NOP, RET);
	/* mov x8, #139; svc #0; what comes next: nop; ret */
	ASSERT_TOLD("..ll", 0xd2801168, SVC, NOP, RET);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_all_ways),
		cmocka_unit_test(knows_no_frames),
		cmocka_unit_test(knows_no_ways_out),
		cmocka_unit_test(is_of_one_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
