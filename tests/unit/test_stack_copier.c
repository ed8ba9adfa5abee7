// SPDX-License-Identifier: BSD-2-Clause
/* Which functions copy stacks: of both machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <stdlib.h>
#include <string.h>

#include "function_bytes.h"
#include "unwind/stack_copier.h"

#define TEST	0x48, 0x85, 0xc0
#define MOV_RDI 0x48, 0x89, 0xc7 /* from rax, which stays */
#define TAKE	0x48, 0x89, 0xc4 /* mov %rax, %rsp */
#define ADD	0x48, 0x01, 0xc4 /* add %rax, %rsp */

#define MOV_X1	0xaa0003e1u /* from x0 */
#define MOV_X0	0xaa0103e0u /* from x1 */
#define TAKE_X0 0x9100001fu /* mov sp, x0 */
#define TAKE_X1 0x9100003fu
#define ADD_X0	0x8b2063ffu /* add sp, sp, x0 */

static void assert_copier(struct function_code code, size_t taken, size_t copied)
{
	struct stack_copier copier;

	assert_true(stack_copier_find(&code, &copier));
	assert_int_equal(copier.taken, taken);
	assert_int_equal(copier.copied, copied);
	/* as is seen from the call's end */
	assert_true(stack_copier_may_take(code.machine, code.code, copied));
}

static void assert_none(struct function_code code)
{
	struct stack_copier copier;

	assert_false(stack_copier_find(&code, &copier));
}

static void finds_copiers(void **state)
{
	assert_copier(X86(CALL, ADD, CALL, RET), 8, 13);
	assert_copier(X86(CALL, 0x4c, 0x01, 0xec, CALL, RET), 8, 13); /* add %r13 */
	assert_copier(X86(CALL_RCX, TEST, 0x74, 8, TAKE, MOV_RDI, CALL_RCX, RET), 10, 15);
	assert_copier(X86(CALL, 0x48, 0x8b, 0xe0, CALL, RET), 8, 13); /* as mov reg, rm */
	assert_copier(ARM64(BL, ADD_X0, BL, RET_X30), 8, 12);
	assert_copier(ARM64(BLR, CBZ_8, TAKE_X0, MOV_X1, BLR, RET_X30), 12, 20);
}

static void takes_no_others_for_copiers(void **state)
{
	assert_none(X86(TAKE, CALL, RET)); /* calls on another stack */
	assert_none(X86(ADD, CALL, RET));
	assert_none(X86(CALL, TAKE, RET)); /* longjmp() */
	assert_none(X86(CALL, TAKE, 0xeb, 0, CALL, RET));
	assert_none(X86(CALL, 0x48, 0x89, 0xdc, CALL, RET)); /* an array's room: %rbx */
	assert_none(X86(CALL, 0x48, 0x01, 0xc3, CALL, RET)); /* add to %rbx */
	assert_none(X86(CALL, 0x49, 0x01, 0xc4, CALL, RET)); /* to r12 */
	/* not the result any more */
	assert_none(X86(CALL, 0x48, 0x8b, 0x00, TAKE, CALL, RET));
	assert_none(X86(CALL, 0x48, 0x8d, 0x47, 0xf0, TAKE, CALL, RET));
	assert_none(X86(CALL, TAKE, 0x06, CALL, RET)); /* no instruction */
	assert_none(ARM64(TAKE_X0, BL, RET_X30));
	assert_none(ARM64(BL, TAKE_X0, RET_X30));
	assert_none(ARM64(BL, TAKE_X0, CBZ_8, BL, RET_X30));
	assert_none(ARM64(BL, TAKE_X1, BL, RET_X30));
	assert_none(ARM64(BL, MOV_X0, TAKE_X0, BL, RET_X30));
}

static bool may_take(const char *bytes, size_t n)
{
	return stack_copier_may_take(EM_X86_64, (const uint8_t *)bytes, n);
}

static void asks_few_bytes_first(void **state)
{
	const uint32_t other[] = { NOP, TAKE_X1, MOV_X1 };

	assert_true(may_take("\x90\x90\x48\x89\xc4", 5));
	assert_true(may_take("\x48\x01\xc4\x90", 4));
	assert_false(may_take("\x48\x01", 2));
	assert_false(may_take("\x90\x90\x48\x89\xc4", 4));
	assert_false(may_take("\x48\x89\xe0\x48\x89\xdc\x49\x89\xc4\x48\x01\xc3", 12));
	assert_false(
		stack_copier_may_take(EM_AARCH64, (const uint8_t *)other, sizeof(other)));
}

/* Anybody's bytes: nothing is read beyond them (the sanitizers' to say). */
static void bears_garbage(void **state)
{
	srandom(1);
	for (int round = 0; round < 20000; round++) {
		size_t n = (size_t)random() % 64 + 1;
		uint8_t *code = malloc(n);
		struct stack_copier copier;
		struct function_code in = { round & 1 ? EM_X86_64 : EM_AARCH64, code, n };

		assert_non_null(code);
		for (size_t i = 0; i < n; i++)
			code[i] = (uint8_t)random();
		if (stack_copier_find(&in, &copier))
			assert_true(copier.taken < copier.copied && copier.copied <= n);
		stack_copier_may_take(in.machine, code, n);
		free(code);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_copiers),
		cmocka_unit_test(takes_no_others_for_copiers),
		cmocka_unit_test(asks_few_bytes_first),
		cmocka_unit_test(bears_garbage),
	};

	return cmocka_run_group_tests_name("stack copier", tests, NULL, NULL);
}
