// SPDX-License-Identifier: BSD-2-Clause
/* Return addresses and what is none, by the code around them: hand-made encodings, and
 * every return address of this test's own calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours is meant */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "sym/return_check.h"

#ifdef __aarch64__
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_X86_64
#endif

static const uint8_t nothing[RETURN_BYTES_AFTER];

static bool x86(const char *hex)
{
	uint8_t before[RETURN_BYTES_BEFORE];

	for (int i = 0; i < RETURN_BYTES_BEFORE; i++) {
		unsigned int byte;

		assert_int_equal(sscanf(hex + 3 * i, "%2x", &byte), 1);
		before[i] = (uint8_t)byte;
	}
	return return_check_code(EM_X86_64, before, nothing);
}

static void knows_x86_calls(void **state)
{
	assert_true(x86("90 90 90 e8 12 34 56 78"));  /* call rel32 */
	assert_true(x86("90 90 90 90 90 90 ff d0"));  /* call *%rax */
	assert_true(x86("90 90 90 90 90 41 ff d4"));  /* call *%r12 */
	assert_true(x86("90 90 90 90 90 ff 50 18"));  /* call *0x18(%rax) */
	assert_true(x86("90 90 90 90 ff 54 24 08"));  /* call *8(%rsp) */
	assert_true(x86("90 90 ff 15 12 34 56 00"));  /* call *x(%rip) */
	assert_true(x86("90 ff 14 c5 00 10 40 00"));  /* call *x(,%rax,8) */
	assert_true(x86("90 90 ff 90 12 34 00 00"));  /* call *0x3412(%rax) */
	assert_false(x86("90 90 90 90 90 90 90 90")); /* padding before a function */
	assert_false(x86("90 90 90 90 90 90 ff e0")); /* jmp *%rax */
	assert_false(x86("90 90 90 e9 12 34 56 78")); /* jmp rel32 */
	assert_false(x86("90 90 90 90 90 90 ff 50")); /* cut in the middle */
	assert_false(x86("c3 0f 1f 44 00 00 c3 90"));
}

/* What the kernel lets a signal handler return to, in the encodings that there are. */
static void knows_handlers_returns(void **state)
{
	static const struct {
		uint16_t machine;
		uint8_t code[RETURN_BYTES_AFTER];
	} cases[] = {
		{ EM_X86_64, { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 } },
		{ EM_X86_64, { 0xb8, 15, 0, 0, 0, 0x0f, 0x05, 0, 0 } },
		{ EM_AARCH64, { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4, 0 } },
		{ EM_AARCH64, { 0x68, 0x11, 0x80, 0x52, 0x01, 0, 0, 0xd4, 0 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_true(return_check_code(cases[i].machine, nothing, cases[i].code));
		assert_false(return_check_code(cases[i].machine, nothing, nothing));
	}
}

static void knows_what_v8_returns_to(void **state)
{
	static const struct {
		bool is_one;
		uint8_t code[RETURN_BYTES_AFTER];
	} cases[] = {
		{ true, { 0x4c, 0x8b, 0x65, 0xe0 } },	    /* mov -32(%rbp), %r12 */
		{ true, { 0x48, 0x8b, 0x5d, 0xf0 } },	    /* mov -16(%rbp), %rbx */
		{ false, { 0x48, 0x8b, 0x45, 0x10 } },	    /* mov 16(%rbp), %rax */
		{ false, { 0x48, 0x89, 0x5d, 0xf0 } },	    /* mov %rbx, -16(%rbp) */
		{ false, { 0x48, 0x8b, 0x5c, 0xf0 } },	    /* of another register */
		{ true, { 0x41, 0x5e, 0x41, 0x5f } },	    /* pop %r14, %r15 */
		{ true, { 0x4c, 0x8b, 0xd0, 0x58, 0x5b } }, /* behind mov %rax, %r10 */
		{ false, { 0x4c, 0x8b, 0xd0, 0x90 } },
		{ false, { 0x58, 0xff, 0xe0 } }, /* pop %rax; jmp *%rax */
		{ false, { 0x55, 0x48, 0x89, 0xe5 } },
	};
	static const uint8_t int3[RETURN_BYTES_BEFORE] = { 0x90, 0x90, 0x90, 0x90,
							   0xcc, 0xcc, 0xcc, 0xcc };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(return_check_code(EM_X86_64, int3, cases[i].code),
				 cases[i].is_one);
		assert_false(return_check_code(EM_X86_64, nothing, cases[i].code));
		assert_false(return_check_code(EM_AARCH64, int3, cases[i].code));
	}
}

static void knows_arm64_calls(void **state)
{
	static const struct {
		uint32_t insn;
		bool call;
	} cases[] = {
		{ 0x94000010, true },  /* bl */
		{ 0x97fffff0, true },  /* bl, backwards */
		{ 0xd63f0260, true },  /* blr x19 */
		{ 0xd63f0a7f, true },  /* blraaz x19 */
		{ 0xd73f0a71, true },  /* blraa x19, x17 */
		{ 0x14000010, false }, /* b */
		{ 0xd61f0260, false }, /* br x19 */
		{ 0xd65f03c0, false }, /* ret */
		{ 0xd503201f, false }, /* nop */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t before[RETURN_BYTES_BEFORE] = { 0 };

		memcpy(before + 4, &cases[i].insn, 4);
		assert_int_equal(return_check_code(EM_AARCH64, before, nothing),
				 cases[i].call);
	}
}

static __attribute__((noinline)) void check_caller(void)
{
	const uint8_t *ra = __builtin_return_address(0);

	assert_true(return_check_code(MACHINE, ra - RETURN_BYTES_BEFORE, ra));
}

static void knows_its_own_calls(void **state)
{
	void (*volatile indirect)(void) = check_caller;
	struct {
		long other[40];
		void (*volatile far)(void);
	} volatile table = { .far = check_caller };

	check_caller();
	indirect();
	table.far();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_x86_calls),
		cmocka_unit_test(knows_handlers_returns),
		cmocka_unit_test(knows_what_v8_returns_to),
		cmocka_unit_test(knows_arm64_calls),
		cmocka_unit_test(knows_its_own_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
