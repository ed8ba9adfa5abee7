/* SPDX-License-Identifier: BSD-2-Clause */
/* LuaJIT's interpreter has one rule, others where its frame is made and taken down. */
#include "gap_code.h"

/* As its call frame information is, behind so many bytes of it. */
#define INTERPRETER(size, rbx)                                                           \
	TOLD_FUNCTION ".cfi_startproc; .cfi_def_cfa %rsp, 80; .cfi_offset %rbp, -16;"    \
		      ".cfi_offset %rbx, " rbx "; .cfi_offset %r15, -32;"                \
		      ".cfi_offset %r14, -40; .skip " size ", 0x90;"

#define MAKES "push %rbp; push %rbx; push %r15; push %r14; sub $40, %rsp;"
#define TAKES "add $40, %rsp; pop %r14; pop %r15; pop %rbx; pop %rbp; ret;"

#define BODY   "nop;" MAKES "nop;" TAKES "nop;"
#define BODY_N 24

static const char *told_behind(const char *before)
{
	build_within(before, BODY, ".cfi_endproc\n");
	return told();
}

/* A letter for each byte: its caller's rbx is on the stack, or in the register. */
static const char *rbx_behind(const char *before)
{
	static char text[BODY_N + 1];

	build_within(before, BODY, ".cfi_endproc\n");
	for (int i = 0; i < BODY_N; i++)
		text[i] = image_rule(&image, base + i).bx_words == -3 ? 's' : 'r';
	image_free(&image);
	return text;
}

static bool is_luajit(void)
{
	int fd = open_file("switch.so");
	struct unwind_table *table;
	bool is;

	assert_int_equal(unwind_table_build(fd, NULL, &table), 0);
	is = unwind_table_head(table)->flags & UNWIND_LUAJIT;
	unwind_table_free(table);
	close(fd);
	return is;
}

static void test_places(void **state)
{
	assert_string_equal(told_behind(INTERPRETER("9000", "-24")),
			    "j1bccddeeeejjjjjeeddcb1j");
	assert_string_equal(rbx_behind(INTERPRETER("9000", "-24")),
			    "srrssssssssssssssssssrrs");
	assert_true(is_luajit());
}

/* A large function of somebody's who keeps the same registers, in another order; and a
 * small one. */
static void test_others(void **state)
{
	assert_string_equal(told_behind(INTERPRETER("9000", "-48")),
			    "jjjjjjjjjjjjjjjjjjjjjjjj");
	assert_false(is_luajit());
	assert_string_equal(told_behind(INTERPRETER("4000", "-24")),
			    "jjjjjjjjjjjjjjjjjjjjjjjj");
	assert_false(is_luajit());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
