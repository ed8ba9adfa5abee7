/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a file keeps frame pointers wherever it calls: its callers are walked by these
 * then, and no table is asked.
 */
#include "gap_code.h"

/* A function that keeps its frame pointer, and is most of the file. */
#define KEEPS                                                                            \
	".p2align 4; .cfi_startproc; push %rbp; .cfi_def_cfa_offset 16;"                 \
	".cfi_offset %rbp, -16; mov %rsp, %rbp; .cfi_def_cfa_register %rbp;"             \
	".skip 64, 0x90; call code; pop %rbp; .cfi_def_cfa %rsp, 8; ret; .cfi_endproc\n"

static bool is_kept(const char *body)
{
	bool kept;

	build_within(KEEPS, body, KEEPS);
	kept = image.head.flags & UNWIND_KEEPS_FP;
	image_free(&image);
	return kept;
}

static void what_calls_nobody_does_no_harm(void **state)
{
	assert_true(is_kept(".cfi_startproc; mov %rdi, %rax; ret; .cfi_endproc"));
	assert_true(is_kept(".cfi_startproc; mov $1, %eax; syscall; ret; .cfi_endproc"));
	assert_false(is_kept(".cfi_startproc; sub $8, %rsp; .cfi_def_cfa_offset 16;"
			     "call code; add $8, %rsp; .cfi_def_cfa_offset 8; ret;"
			     ".cfi_endproc"));
}

/* A handler returns to it, and it to whom a signal interrupted, whose frame pointer is
 * the one at hand. Its frame was made by the kernel, whatever an entry says. */
static void what_a_handler_returns_to_is_no_frame(void **state)
{
	static const char *const restorers[] = {
		"mov $15, %eax; syscall",
		"mov $15, %rax; syscall",
	};
	char text[200];

	for (size_t i = 0; i < sizeof(restorers) / sizeof(*restorers); i++) {
		snprintf(text, sizeof(text), ".cfi_startproc; %s; .cfi_endproc",
			 restorers[i]);
		assert_false(is_kept(text));
		/* in a gap, with much before it, and in one without anything else */
		snprintf(text, sizeof(text), ".skip 40, 0x90; %s; ud2", restorers[i]);
		assert_false(is_kept(text));
		snprintf(text, sizeof(text), "%s; .cfi_startproc; ret; .cfi_endproc",
			 restorers[i]);
		assert_false(is_kept(text));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_calls_nobody_does_no_harm),
		cmocka_unit_test(what_a_handler_returns_to_is_no_frame),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
