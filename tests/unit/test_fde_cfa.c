/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether an FDE's instructions let the CFA count from the stack pointer at a place. */
#include "unwind/fde_cfa.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#define CODE(...)                                                                        \
	(const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })
#define AT(n) (0x40 | (n)) /* n bytes on */

static const struct {
	const char *name;
	const uint8_t *code;
	size_t n;
	uint64_t from, to; /* where it does not */
} cases[] = {
	{ "nothing", NULL, 0, 0, 0 },
	{ "pushes", CODE(AT(1), 0x0e, 16, 0x86, 2, AT(3), 0x0e, 24, 0), 0, 0 },
	{ "a frame pointer", CODE(AT(1), 0x0e, 16, AT(3), 0x0d, 6, AT(4), 0x0c, 7, 8), 4,
	  8 },
	{ "an expression, to the end", CODE(2, 5, 0x0f, 3, 0x77, 0, 6), 5, 99 },
	{ "OCaml's, which comes back by its saved state",
	  CODE(AT(4), 0x0a, 0x0f, 5, 0x77, 8, 6, 0x23, 8, AT(8), 0x0b), 4, 12 },
	{ "others' places",
	  CODE(AT(1), 5, 3, 2, 6, 3, 7, 3, 8, 3, 9, 3, 4, 0x10, 3, 1, 0x96, 0x16, 3, 1,
	       0x96, 0x2e, 0, 0x11, 3, 2, 0xc6, AT(5), 0x0d, 3),
	  6, 99 },
	{ "far steps", CODE(3, 0, 0, 4, 20, 0, 0, 0, 0x12, 6, 2), 20, 99 },
	{ "what is not known", CODE(AT(7), 0x3f), 7, 99 },
	{ "a state that none saved", CODE(AT(7), 0x0b), 7, 99 },
	{ "half a number", CODE(AT(7), 0x0e, 0x80), 7, 99 },
	{ "an expression beyond the end", CODE(0x0f, 3, 0x77), 0, 99 },
};

static void tells_where(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (uint64_t at = 0; at < 32; at++) {
			bool by_sp = at < cases[i].from || at >= cases[i].to;
			uint64_t offset;

			if (fde_cfa_is_by_sp(cases[i].code, cases[i].n, at, &offset) !=
			    by_sp)
				fail_msg("%s, at %d", cases[i].name, (int)at);
		}
}

static void tells_how_far(void **state)
{
	static const uint8_t code[] = { AT(1), 0x0e,  16,    AT(1), 0x0a, AT(1), 0x0c,
					7,     32,    AT(1), 0x13,  0x7b, AT(1), 0x0d,
					6,     AT(1), 0x12,  7,	    0x7d, AT(1), 0x0b };
	static const uint64_t by_sp[] = { 8, 16, 16, 32, 40, 0, 24, 16 };
	uint64_t offset;

	for (uint64_t at = 0; at < sizeof(by_sp) / sizeof(*by_sp); at++) {
		bool is = fde_cfa_is_by_sp(code, sizeof(code), at, &offset);

		assert_int_equal(is ? offset : 0, by_sp[at]);
	}
}

static const struct {
	const char *name;
	const uint8_t *code;
	size_t n;
	bool stays;
} whole[] = {
	{ "a signed frame",
	  CODE(AT(1), 0x2d, AT(1), 0x0e, 0xa0, 1, 0x9d, 4, 0xde, AT(3), 0xdd, 0x0e, 0,
	       AT(1), 0x2d),
	  true },
	{ "by sp again", CODE(0x0a, AT(1), 0x0c, 31, 16, AT(1), 0x0b), true },
	{ "by x29", CODE(AT(1), 0x0e, 16, AT(1), 0x0d, 29), false },
	{ "by x29 for a while", CODE(AT(1), 0x0d, 29, AT(1), 0x0d, 31), false },
	{ "<weft/fiber.h>", CODE(AT(5), 0x0c, 9, 0, AT(2), 0x0c, 31, 0), false },
	{ "an expression", CODE(0x0f, 2, 0x8f, 0), false },
	{ "what is not known", CODE(0x3f), false },
};

static void tells_of_a_whole_function(void **state)
{
	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++)
		if (fde_cfa_stays_by_sp(whole[i].code, whole[i].n) != whole[i].stays)
			fail_msg("%s", whole[i].name);
}

static void has_bounded_states(void **state)
{
	uint8_t code[64];
	uint64_t offset;

	for (size_t n = 0; n <= sizeof(code); n++) {
		memset(code, 0x0a, n);
		assert_int_equal(fde_cfa_is_by_sp(code, n, 0, &offset), n <= 16);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_where),
		cmocka_unit_test(tells_how_far),
		cmocka_unit_test(tells_of_a_whole_function),
		cmocka_unit_test(has_bounded_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
