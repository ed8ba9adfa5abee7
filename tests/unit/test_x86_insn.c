/* SPDX-License-Identifier: BSD-2-Clause */
/* Where instructions end, and what of them is cut off where their code does. */
#include "obj/x86_insn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const struct {
	uint8_t code[X86_INSN_MAX];
	size_t n;
	bool calls;
} insns[] = {
	{ { 0xe8, 1, 2, 3, 4 }, 5, true },		       /* call rel32 */
	{ { 0x66, 0x48, 0xe8, 1, 2, 3, 4 }, 7, true },	       /* data16 rex.W call */
	{ { 0xff, 0x15, 1, 2, 3, 4 }, 6, true },	       /* call *0x4030201(%rip) */
	{ { 0x41, 0xff, 0x54, 0xc4, 8 }, 5, true },	       /* call *8(%r12,%rax,8) */
	{ { 0xe9, 1, 2, 3, 4 }, 5, false },		       /* jmp rel32 */
	{ { 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8 }, 10, false }, /* movabs */
	{ { 0xc2, 8, 0 }, 3, false },			       /* ret $8 */
};

static void test_ends(void **state)
{
	for (size_t i = 0; i < sizeof(insns) / sizeof(*insns); i++) {
		bool calls = !insns[i].calls;

		assert_int_equal(x86_insn_bytes(insns[i].code, X86_INSN_MAX, &calls),
				 insns[i].n);
		assert_int_equal(calls, insns[i].calls);
	}
}

/* It is none, so it calls nothing: who asks where it leads would read beyond the code. */
static void test_cut_off(void **state)
{
	for (size_t i = 0; i < sizeof(insns) / sizeof(*insns); i++)
		for (size_t n = 0; n < insns[i].n; n++) {
			bool calls = true;

			assert_int_equal(x86_insn_bytes(insns[i].code, n, &calls), 0);
			assert_false(calls);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_cut_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
