// SPDX-License-Identifier: BSD-2-Clause
/* The frame pointer behind gcc's aligned frames, whose information does not say that it
 * was taken back. */
#include "unwind/unwind_realign.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#define R10 10

static char said[256];

/* "PC:" and what the CFA is by, in upper case where the caller's fp is at *(fp) */
static int take_row(void *arg, uint64_t pc, const struct unwind_rule *rule)
{
	static const char saved[] = { [UNWIND_CFA_SP] = 'S',
				      [UNWIND_CFA_REG] = 'R',
				      [UNWIND_CFA_DEREF_FP] = 'D' },
			  same[] = { [UNWIND_CFA_SP] = 's',
				     [UNWIND_CFA_REG] = 'r',
				     [UNWIND_CFA_DEREF_FP] = 'd' };
	size_t n = strlen(said);

	snprintf(said + n, sizeof(said) - n, " %x:%c", (unsigned int)pc,
		 (rule->fp == UNWIND_FP_DEREF ? saved : same)[rule->cfa]);
	return 0;
}

struct row {
	uint64_t pc;
	int cfa, offset, fp;
};

static const char *told(const struct row *rows, size_t n)
{
	static const struct cfi_sink sink = { .row = take_row };
	struct unwind_realign realign = { .sink = &sink };

	said[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		struct unwind_rule rule = { .cfa = (unsigned char)rows[i].cfa,
					    .cfa_offset = rows[i].offset,
					    .fp = (unsigned char)rows[i].fp,
					    .reg = rows[i].cfa == UNWIND_CFA_REG ? R10
										 : 0 };

		assert_int_equal(unwind_realign_row(&realign, rows[i].pc, &rule), 0);
	}
	assert_int_equal(unwind_realign_end(&realign), 0);
	return said;
}

#define ASSERT_TOLD(text, ...)                                                           \
	do {                                                                             \
		static const struct row rows[] = { __VA_ARGS__ };                        \
		assert_string_equal(told(rows, sizeof(rows) / sizeof(*rows)), text);     \
	} while (0)

/* As gcc -O2 has it: lea 8(%rsp),%r10; and; push -8(%r10); push %rbp; mov; push %r10; …;
 * pop %r10; pop %rbp; lea -8(%r10),%rsp; ret */
static void test_function(void **state)
{
	ASSERT_TOLD(" 0:s 5:r 1e:R 20:D 44:R 45:r 49:s 50:s",
		    { 0x00, UNWIND_CFA_SP, 8, UNWIND_FP_SAME },
		    { 0x05, UNWIND_CFA_REG, 0, UNWIND_FP_SAME },
		    { 0x1e, UNWIND_CFA_REG, 0, UNWIND_FP_DEREF },
		    { 0x20, UNWIND_CFA_DEREF_FP, 0, UNWIND_FP_DEREF },
		    { 0x44, UNWIND_CFA_REG, 0, UNWIND_FP_DEREF },
		    { 0x49, UNWIND_CFA_SP, 8, UNWIND_FP_DEREF },
		    { 0x50, UNWIND_CFA_SP, 8, UNWIND_FP_SAME });
}

/* A register that it keeps itself: …; pop %rbp; lea -16(%r13),%rsp; pop %r13; ret */
static void test_with_a_register_that_is_kept(void **state)
{
	ASSERT_TOLD(" 20:D 43:R 44:r 48:s 4a:s 4b:s",
		    { 0x20, UNWIND_CFA_DEREF_FP, 0, UNWIND_FP_DEREF },
		    { 0x43, UNWIND_CFA_REG, 0, UNWIND_FP_DEREF },
		    { 0x48, UNWIND_CFA_SP, 16, UNWIND_FP_DEREF },
		    { 0x4a, UNWIND_CFA_SP, 8, UNWIND_FP_DEREF },
		    { 0x4b, UNWIND_CFA_SP, 8, UNWIND_FP_SAME });
}

static void test_others(void **state)
{
	/* more is taken back before the frame pointer */
	ASSERT_TOLD(" 20:D 40:R 47:r 4b:s",
		    { 0x20, UNWIND_CFA_DEREF_FP, 0, UNWIND_FP_DEREF },
		    { 0x40, UNWIND_CFA_REG, 0, UNWIND_FP_DEREF },
		    { 0x4b, UNWIND_CFA_SP, 8, UNWIND_FP_DEREF });
	/* not as gcc goes back */
	ASSERT_TOLD(" 40:R 44:s", { 0x40, UNWIND_CFA_REG, 0, UNWIND_FP_DEREF },
		    { 0x44, UNWIND_CFA_SP, 8, UNWIND_FP_DEREF });
	ASSERT_TOLD(" 40:R 49:S", { 0x40, UNWIND_CFA_REG, 0, UNWIND_FP_DEREF },
		    { 0x49, UNWIND_CFA_SP, 24, UNWIND_FP_DEREF });
	ASSERT_TOLD(" 40:D 49:s", { 0x40, UNWIND_CFA_DEREF_FP, 0, UNWIND_FP_DEREF },
		    { 0x49, UNWIND_CFA_SP, 8, UNWIND_FP_DEREF });
	assert_string_equal(told(NULL, 0), "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_function),
		cmocka_unit_test(test_with_a_register_that_is_kept),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
