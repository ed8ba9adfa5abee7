// SPDX-License-Identifier: BSD-2-Clause
/* Where a function's code leads, and what it calls: of both machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <stdlib.h>

#include "function_bytes.h"

static bool returns(struct function_code code, size_t from)
{
	return function_may_return(&code, from);
}

static void knows_what_never_returns(void **state)
{
	assert_true(returns(X86(RET), 0));
	assert_true(returns(X86(0xf3, RET), 0));
	assert_true(returns(X86(0xc2, 8, 0), 0));
	assert_false(returns(X86(UD2, RET), 0));
	assert_false(returns(X86(0xf4, RET), 0));	/* hlt */
	assert_false(returns(X86(0xeb, 0xfe, RET), 0)); /* a loop */
	assert_false(returns(X86(CALL, 0xeb, 0xf9, RET), 0));
	assert_true(returns(X86(CALL, RET), 0));
	assert_false(returns(X86(CALL), 0));		 /* who is called never does */
	assert_true(returns(X86(0x74, 2, UD2, RET), 0)); /* one way does */
	assert_true(returns(X86(0x74, 1, RET, UD2), 0));
	assert_false(returns(X86(RET, 0x74, 2, UD2, UD2), 1)); /* from there none */
	assert_true(returns(X86(UD2, RET, 0xeb, 0xfd), 3));    /* back */
	assert_true(returns(X86(0xff, 0xe0), 0));	       /* jmp *%rax */
	assert_true(returns(X86(0xeb, 0x10, UD2), 0));	       /* to elsewhere */
	assert_true(returns(X86(0x74, 0x80, UD2), 0));
	assert_true(returns(X86(0x06), 0)); /* no instruction */
	assert_true(returns(X86(UD2), 2));  /* no place in it */
	assert_true(returns(ARM64(RET_X30), 0));
	assert_true(returns(ARM64(CBZ_8, 0, RET_X30), 0));
	assert_true(returns(ARM64(0xd61f0000u), 0));	       /* br x0 */
	assert_false(returns(ARM64(0x14000000u, RET_X30), 0)); /* b . */
	assert_false(returns(ARM64(0, RET_X30), 0));	       /* udf */
	assert_false(returns(ARM64(0xd4200000u, RET_X30), 0)); /* brk */
	assert_false(returns(ARM64(NOP, BL), 0));
}

static bool stays(struct function_code code)
{
	return function_stays(&code);
}

#define JMP_BACK 0xeb, 0xfe

static void knows_who_stays(void **state)
{
	assert_false(stays(X86(CALL_RCX, RET))); /* as who calls __morestack */
	assert_true(stays(X86(CALL_RCX, 0x90, RET)));
	assert_true(stays(X86(0x74, 1, RET, CALL))); /* that never comes back */
	assert_true(stays(X86(CALL_RCX, 0x90, RET, 0x66, 0x90)));
	assert_true(stays(X86(CALL_RCX, JMP_BACK)));
	assert_true(stays(X86(0xe8, 0xfb, 0xff, 0xff, 0xff, UD2))); /* itself */
	assert_true(stays(X86(CALL_RCX, 0x90)));		    /* padding */
	assert_false(stays(X86(CALL_RCX, 0x48, 0x89, 0xc3)));	    /* goes on */
	assert_false(stays(X86(CALL_RCX, 0xe9, 0, 1, 0, 0)));	    /* to another */
	assert_false(stays(X86(0x74, 0x10, RET)));
	assert_false(stays(X86(0xff, 0xe0)));
	assert_false(stays(X86(0xe8, 1, 0, 0, 0, RET, 0x90, RET))); /* to its middle */
	assert_false(stays(X86(0x50, RET)));			    /* push %rax; ret */
	assert_false(stays(X86(0x41, 0x53, RET)));
	assert_false(stays(X86(0x68, 0, 0, 0, 0, RET)));
	assert_false(stays(X86(0x4c, 0x89, 0x1c, 0x24, RET))); /* mov %r11, (%rsp) */
	assert_true(stays(X86(0x48, 0x83, 0xc4, 0x08, RET)));  /* add $8, %rsp */
	assert_false(stays(X86(0x06, RET)));
	/* where XRay may have put a jump */
	assert_false(stays(X86(RET, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0)));
	assert_false(stays(X86(RET, 0x2e, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0)));
	assert_true(stays(X86(RET, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0)));
	assert_true(stays(ARM64(BLR, RET_X30)));
	assert_true(stays(ARM64(CBZ_8, RET_X30, BL | 0x100)));
	assert_true(stays(ARM64(BLR, NOP)));
	assert_false(stays(ARM64(BLR, 0xaa0103e0u)));
	assert_false(stays(ARM64(BLR, 0x14000040u)));	  /* b */
	assert_false(stays(ARM64(0xd61f0000u)));	  /* br x0 */
	assert_false(stays(ARM64(0xaa0903feu, RET_X30))); /* mov x30, x9 */
	assert_false(stays(ARM64(0x94000002u, RET_X30, RET_X30)));
}

static void lists_calls(void **state)
{
	const struct function_code x86 = X86(0xe8, 1, 0, 0, 0, CALL_RCX, 0xeb, 0, 0xe8,
					     0xf0, 0xff, 0xff, 0xff, RET),
				   arm64 = ARM64(NOP, BL | 4, BLR, 0x97ffffffu);
	struct direct_call calls[2];

	assert_int_equal(function_calls(&x86, calls, 2), 2);
	assert_true(calls[0].end == 5 && calls[0].to == 6);
	assert_true(calls[1].end == 14 && calls[1].to == -2);
	assert_int_equal(function_calls(&x86, calls, 1), 1);
	assert_int_equal(function_calls(&arm64, calls, 2), 2);
	assert_true(calls[0].end == 8 && calls[0].to == 20);
	assert_true(calls[1].end == 16 && calls[1].to == 8);
}

/* Anybody's bytes: nothing is read beyond them (the sanitizers' to say). */
static void bears_garbage(void **state)
{
	srandom(1);
	for (int round = 0; round < 20000; round++) {
		size_t n = (size_t)random() % 64 + 1;
		uint8_t *code = malloc(n);
		struct direct_call calls[4];
		struct function_code in = { round & 1 ? EM_X86_64 : EM_AARCH64, code, n };

		assert_non_null(code);
		for (size_t i = 0; i < n; i++)
			code[i] = (uint8_t)random();
		function_may_return(&in, (size_t)random() % n);
		function_stays(&in);
		assert_true(function_calls(&in, calls, 4) <= 4);
		free(code);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_what_never_returns),
		cmocka_unit_test(knows_who_stays),
		cmocka_unit_test(lists_calls),
		cmocka_unit_test(bears_garbage),
	};

	return cmocka_run_group_tests_name("function code", tests, NULL, NULL);
}
