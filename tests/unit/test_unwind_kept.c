/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A frame that ends by rax, and what it calls: where the called code leaves rax alone,
 * the rule of the call says so, and no other.
 */
#include "gap_code.h"

/* The call of `helper` begins 5 bytes into it, and has 5. */
#define CALLER                                                                           \
	".cfi_startproc; push %rbx; lea (%rsp), %rax; .cfi_def_cfa %rax, 16;"            \
	"call helper; mov (%rax), %rbx; lea (%rax), %rsp; .cfi_def_cfa %rsp, 16; ret;"   \
	".cfi_endproc"
#define CALL_AT 5
#define CALL_N	5
#define LAST_AT 9 /* of what that rule holds for, behind the call */

static bool is_kept_at(uint64_t at)
{
	struct unwind_rule rule = image_rule(&image, base + at);

	return rule.cfa == UNWIND_CFA_REG && rule.reg == UNWIND_KEPT;
}

/* Is rax kept while `helper`, a function without a frame, runs? */
static bool is_kept_by(const char *helper)
{
	char behind[1024];
	bool kept;

	snprintf(behind, sizeof(behind),
		 ".p2align 4; helper: .cfi_startproc; %s; .cfi_endproc\n"
		 "other: .cfi_startproc; ret; .cfi_endproc\n",
		 helper);
	build_within(TOLD_FUNCTION, CALLER, behind);
	kept = is_kept_at(CALL_AT);
	for (uint64_t at = 0; at < CALL_AT + CALL_N + LAST_AT; at++)
		if (is_kept_at(at) != (kept && at >= CALL_AT && at < CALL_AT + CALL_N))
			fail_msg("%s: byte %d", helper, (int)at);
	image_free(&image);
	return kept;
}

static void test_left_alone(void **state)
{
	assert_true(is_kept_by("ret"));
	assert_true(is_kept_by("mov $3, %ecx; 1: dec %ecx; jnz 1b; ret"));
	assert_true(is_kept_by("jmp 2f; 1: dec %ecx; 2: test %ecx, %ecx; jnz 1b; ret"));
	assert_true(is_kept_by("test %ecx, %ecx; jz 1f; ret; 1: mov %rax, %rcx; ret"));
	assert_true(is_kept_by("cmp $7, %eax; neg %r12; mov %rax, 8(%rsi); repz ret"));
	assert_true(is_kept_by("vaesenc %ymm2, %ymm3, %ymm4; movbe 8(%r14), %r13;"
			       "vpclmulqdq $16, %xmm1, %xmm2, %xmm3; ret"));
}

static void test_used(void **state)
{
	assert_false(is_kept_by("xor %eax, %eax; ret"));
	assert_false(is_kept_by("mov %rax, %rcx; mov $1, %al; mov %rcx, %rax; ret"));
	assert_false(is_kept_by("jmp 2f; 1: inc %eax; 2: dec %ecx; jnz 1b; ret"));
	assert_false(is_kept_by("test %ecx, %ecx; jz 1f; ret; 1: inc %eax; ret"));
	assert_false(is_kept_by("mul %rcx; ret"));
	assert_false(is_kept_by("xchg %rax, %rcx; xchg %rax, %rcx; ret"));
	assert_false(is_kept_by("syscall; ret"));
}

/* Or somebody else may, on whose behalf it goes there. */
static void test_goes_elsewhere(void **state)
{
	assert_false(is_kept_by("call other; ret"));
	assert_false(is_kept_by("call *%rcx; ret"));
	assert_false(is_kept_by("jmp *%rcx"));
	assert_false(is_kept_by("jmp *(%rcx)"));
	assert_false(is_kept_by("jmp code"));
	assert_false(is_kept_by("jmp . + 0x10000"));
	assert_false(is_kept_by("test %ecx, %ecx; jz code; ret"));
	assert_false(is_kept_by(".byte 6; ret")); /* no instruction */
	assert_false(is_kept_by("ud2"));
	assert_false(is_kept_by(".skip 5000, 0x90; ret"));
}

/* Of 5,000 such frames (MKL has as many): what was read can be told, so the table can be
 * kept. */
static void test_many(void **state)
{
	AUTO_FREE struct range_recorder *recorder = calloc(1, sizeof(*recorder));
	struct unwind_table *table;
	struct hash hash;
	int fd;

	build_within(".rept 5000; .p2align 4; .cfi_startproc; push %rbx;"
		     "lea (%rsp), %rax; .cfi_def_cfa %rax, 16; mov (%rax), %rbx;"
		     "lea (%rax), %rsp;"
		     ".cfi_def_cfa %rsp, 16; ret; .cfi_endproc; .endr\n",
		     CALLER, ".p2align 4; helper: .cfi_startproc; ret; .cfi_endproc\n");
	assert_true(is_kept_at(CALL_AT));
	image_free(&image);
	assert_non_null(recorder);
	fd = open_file("switch.so");
	assert_int_equal(unwind_table_build(fd, recorder, &table), 0);
	unwind_table_free(table);
	close(fd);
	assert_true(range_recorder_end(recorder, &hash));
	assert_in_range(recorder->list.n, 1, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_left_alone),
		cmocka_unit_test(test_used),
		cmocka_unit_test(test_goes_elsewhere),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
