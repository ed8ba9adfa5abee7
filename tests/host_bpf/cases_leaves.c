// SPDX-License-Identifier: BSD-2-Clause
/* Leaves in code that no rule tells of: what their own instruction says. */
#include "code.h"

#include <string.h>

#define GENERATED 0x8000 /* code that no table is of; it is called by function 1 */

/* A leaf there, at `code` so many bytes behind the function's first, with `pushed` words
 * on the stack; its frame pointer is function 1's. */
static struct sampled leaf_in_generated(const char *code, unsigned int at_byte,
					unsigned int pushed)
{
	struct sampled at = leaf_in_code(0);
	uint64_t words[2] = { 0 };

	memcpy(words, code, strnlen(code, sizeof(words)));
	memory_put(GENERATED, words[0]);
	memory_put(GENERATED + 8, words[1]);
	at.pc = GENERATED + at_byte;
	at.sp = STACK - 8 * pushed;
	at.fp = FP(STACK, 1);
	memory_put(STACK - 8, at.fp);
	memory_put(STACK, SITE(1));
	put_frame(at.fp, 0, SITE(2));
	return at;
}

static void put_generated(void)
{
	mapping_table_add(GENERATED, GENERATED + 0x1000, 0, 0, UNWIND_BY_FP);
	put_like_code(RULE_FP, 2, 0);
	put_call_before(SITE(1));
}

/* Where the frame pointer is its caller's, some instructions say where that is. */
static void test_generated_leaf(void **state)
{
	static const struct {
		const char *code;
		unsigned int at_byte, pushed;
	} cases[] = {
		{ "\x55\x48\x89\xe5", 0, 0 },		      /* push %rbp; mov */
		{ "\x55\x48\x8b\xec", 0, 0 },		      /* the other form */
		{ "\xf3\x0f\x1e\xfa\x55\x48\x89\xe5", 0, 0 }, /* endbr64 */
		{ "\x55\x48\x89\xe5", 1, 1 },		      /* mov %rsp,%rbp */
		{ "\x55\x48\x8b\xec", 1, 1 },
		{ "\x90\x90\x5d\xc3", 2, 1 }, /* pop %rbp; ret */
		{ "\x90\x90\x5d\xc3", 3, 0 },
		{ "\x90\x90\xf3\xc3", 2, 0 }, /* rep ret */
		{ "\x5d\xc2\x10\x7f", 0, 1 }, /* pop %rbp; ret $N */
		{ "\x5d\xc2\x10\x7f", 1, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[40];
		struct sampled at;

		world_setup(NULL);
		put_generated();
		at = leaf_in_generated(cases[i].code, cases[i].at_byte, cases[i].pushed);
		sprintf(text, "%x 10108 10208", GENERATED + cases[i].at_byte);
		ASSERT_WALK(&at, "UCC", text, START);
		/* what was not called from there is no caller: as without such code */
		memory_put(SITE(1) - 8, 0x9090909090909090);
		sprintf(text, "%x 10208", GENERATED + cases[i].at_byte);
		ASSERT_WALK(&at, "UP", text, START);
	}
}

int run_leaf_cases(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_generated_leaf),
	};

	return cmocka_run_group_tests_name("leaves", tests, NULL, NULL);
}
