/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules made of Go's table: of each byte of a function, what the code of tests/fuzz/go.S
 * says by itself.
 */
#include "go_program.h"

#include "unwind/unwind_table.h"

#include "../cfi/image.c"

static struct image image;

static void build(const char *path)
{
	struct unwind_table *table;
	int fd = open_file(path);

	assert_int_equal(unwind_table_build(fd, NULL, &table), 0);
	assert_true(image_load(&image, table));
	unwind_table_free(table);
	close(fd);
}

/* By what the runtime keeps of the goroutine: g: its stack, with the return address; G:
 * that, and its pc, and the lr-th word; of no other form. */
static char kept_letter(const struct unwind_rule *rule, int g, int now, int words, int lr)
{
	if (rule->cfa_offset != g || rule->deref_offset != 48 || rule->reg != now / 8)
		return '?';
	if (rule->ra == UNWIND_RA_REG)
		return rule->ra_words == lr && rule->fp == UNWIND_FP_LOST ? 'G' : '?';
	return rule->ra == UNWIND_RA_CFA && rule->ra_words == -words ? 'g' : '?';
}

/* A letter for a rule: how many words sp is below the end of the frame, and from a on
 * with the frame pointer saved, from A on with it lost; f: by the frame pointer; r: by
 * r12; ., !, $: none, torn, the end; ?: another. */
static char letter(const struct unwind_rule *rule)
{
	bool in_place = rule->fp == UNWIND_FP_CFA && rule->fp_words == -2;

	if (rule->cfa == UNWIND_CFA_NONE)
		return '.';
	if (rule->cfa == UNWIND_CFA_TORN || rule->cfa == UNWIND_CFA_END)
		return rule->cfa == UNWIND_CFA_TORN ? '!' : '$';
	if (rule->cfa == UNWIND_CFA_GO && rule->bx_words == UNWIND_BX_LOST)
		return kept_letter(rule, -8, 192, 1, 0);
	if (rule->ra != UNWIND_RA_CFA || rule->ra_words != -1)
		return '?';
	if (rule->cfa == UNWIND_CFA_REG)
		return rule->reg == 12 && rule->cfa_offset == 8 ? 'r' : '?';
	if (rule->cfa == UNWIND_CFA_FP)
		return in_place && rule->cfa_offset == 16 ? 'f' : '?';
	if (rule->cfa != UNWIND_CFA_SP || (rule->fp == UNWIND_FP_CFA && !in_place))
		return '?';
	return (char)(rule->cfa_offset / 8 + (rule->fp == UNWIND_FP_SAME  ? '0'
					      : rule->fp == UNWIND_FP_CFA ? '`'
									  : '@'));
}

static void assert_told(const char *function, const char *expected)
{
	uint64_t begin = nm_value("", "go", function);
	char told[65] = { 0 };

	assert_true(begin != 0);
	for (size_t i = 0; i < strlen(expected); i++) {
		struct unwind_rule rule = image_rule(&image, begin + i);

		told[i] = letter(&rule);
	}
	assert_string_equal(told, expected);
}

static void tells_frames(void **state)
{
	build("stripped");
	assert_told("run_start", "111111..........................");
	assert_told("run_main", "1bbbbbbbdddddddddb1.............");
	assert_told("run_leaf", "11111...........................");
	image_free(&image);
}

/* Which saves what it likes. */
static void tells_assembly(void **state)
{
	build("stripped");
	assert_told("run_asm", "1BB1............................");
	assert_told("run_tail", "1bbbb1bbb.......................");
	image_free(&image);
}

/* What a goroutine's first function seems to return to has no rule. */
static void ends_at_goexit(void **state)
{
	build("stripped");
	assert_told("run_goexit", ".$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$$");
	image_free(&image);
}

/* sp is another stack's from its second instruction on; rbp is not. */
static void goes_on_behind_a_switch(void **state)
{
	build("stripped");
	assert_told("run_systemstack", "1bbbfffffffffffffff1............");
	assert_told("run_mcall", "1bbbbbbb$$$$$$$$$$$$$$$$$$$$$$$$");
	assert_told("run_race", "111rrrrrrrrrrrrr1...............");
	assert_told("run_asan", "1bbbfffffffffffff1..............");
	image_free(&image);
}

#define G35 "ggggggggggggggggggggggggggggggggggg"

/* What the runtime keeps of the goroutine leads on, but not where the scheduler has taken
 * over, which has another one soon. */
static void goes_on_by_what_is_kept(void **state)
{
	build("stripped");
	assert_told("run_old", "1111111" G35 "111111111............");
	assert_told("run_newstack", "1bbb$$$$$bbbbbb1................");
	assert_told("run_morestack", "111111111GGGGGGGGGGGGGGGGGGGGGGG");
	image_free(&image);
	assert_int_equal(shell("gcc -DFAR_G -nostdlib -static -Wl,-z,noexecstack "
			       "-o go go.S"),
			 0);
	build("go");
	assert_told("run_old", "1111111gggggggggggggggggggggggggggggggg111111111");
	assert_told("run_morestack", "111111111GGGGGGGGGGGGGGGGGGGGGGG");
	image_free(&image);
	/* without either, it is torn */
	assert_int_equal(
		shell("sed 's/runtime.schedule/runtime.scheduled/' go.S >no.S && "
		      "gcc -nostdlib -static -Wl,-z,noexecstack -o go no.S"),
		0);
	build("go");
	assert_told("run_newstack", "1bbbbbbbbbbbbbb1................");
	assert_told("run_morestack", "111111111!!!!!!!!!!!!!!!!!!!!!!!");
	image_free(&image);
	assert_int_equal(
		shell("sed 's/mov 192(%%rbx), %%rax/mov 196(%%rbx), %%rax/' go.S "
		      ">no.S && gcc -nostdlib -static -Wl,-z,noexecstack -o go "
		      "no.S"),
		0);
	build("go");
	assert_told("run_old", "1111111!!!!!!!!!");
	assert_told("run_morestack", "111111111!!!!!!!!!!!!!!!!!!!!!!!");
	image_free(&image);
}

/* C's functions keep what .eh_frame tells of them, before Go's and behind; of Go's own
 * code nothing else is believed. */
static void leaves_c_to_its_own_information(void **state)
{
	static const char c[] =
		".section .text.%s, \"ax\"\n.globl c_%s\nc_%s: .cfi_startproc\n"
		"sub $56, %%rsp\n.cfi_def_cfa_offset 64\nadd $56, %%rsp\n"
		".cfi_def_cfa_offset 8\nret\n.cfi_endproc\n";
	char source[1024];

	for (int i = 0; i < 2; i++) {
		const char *name = i ? "z" : "a";
		int n = snprintf(source, sizeof(source), c, name, name, name);

		write_file(i ? "behind.s" : "before.s", source, (size_t)n);
	}
	assert_int_equal(shell("gcc -DCFI -nostdlib -static "
			       "-Wl,-z,noexecstack -o go before.s go.S behind.s"),
			 0);
	build("go");
	assert_told("c_a", "111188881.");
	assert_told("run_main", "1bbbbbbbdddddddddb1.............");
	assert_told("run_asm", "1BB1............................");
	assert_told("run_tail", "1bbbb1bbb.......................");
	assert_told("c_z", "111188881.");
	image_free(&image);
}

/* The same of arm64, where frames are multiples of 16: in memory the return address, from
 * a on with x29 saved below it and from A on with x29 in place, for 16 bytes, 32 and so
 * on; from 0 on it is in the link register, from k on with x29 saved; f: by x29; c: by
 * what is kept beside C. */
static char arm64_letter(const struct unwind_rule *rule)
{
	int size = rule->cfa_offset, words = -rule->ra_words;
	bool is_saved = rule->fp == UNWIND_FP_CFA && rule->fp_words == -words - 1;

	if (rule->cfa == UNWIND_CFA_NONE)
		return '.';
	if (rule->cfa == UNWIND_CFA_TORN || rule->cfa == UNWIND_CFA_END)
		return rule->cfa == UNWIND_CFA_TORN ? '!' : '$';
	if (rule->cfa == UNWIND_CFA_GO)
		return kept_letter(rule, 0, 184, 2, 5);
	if (rule->cfa == UNWIND_CFA_GO_C)
		return is_saved && !rule->deref_offset && words == 2 ? 'c' : '?';
	if (rule->ra == UNWIND_RA_LR) {
		is_saved = rule->fp == UNWIND_FP_CFA && rule->fp_words == -size / 8 - 1;
		return rule->cfa != UNWIND_CFA_SP || words ? '?'
		       : is_saved			   ? (char)('k' + size / 16)
		       : rule->fp == UNWIND_FP_SAME	   ? (char)('0' + size / 16)
							   : '?';
	}
	if (rule->ra != UNWIND_RA_CFA || (rule->fp != UNWIND_FP_SAME && !is_saved))
		return '?';
	if (rule->cfa == UNWIND_CFA_FP)
		return is_saved && size == 8 * words + 8 ? 'f' : '?';
	return rule->cfa == UNWIND_CFA_SP && size == 8 * words
		       ? (char)((is_saved ? 'a' : 'A') - 1 + size / 16)
		       : '?';
}

static void assert_arm64_told(const char *function, const char *expected)
{
	uint64_t begin = nm_value("", "go", function);
	char told[65] = { 0 };

	assert_true(begin != 0);
	for (size_t i = 0; i < strlen(expected); i++) {
		struct unwind_rule rule = image_rule(&image, begin + 4 * i);

		told[i] = arm64_letter(&rule);
	}
	assert_string_equal(told, expected);
}

static void tells_arm64(void **state)
{
	if (!has_tool("aarch64-linux-gnu-gcc"))
		skip();
	assert_int_equal(shell("aarch64-linux-gnu-gcc -nostdlib -static "
			       "-Wl,-z,noexecstack -o go go.S"),
			 0);
	build("go");
	assert_arm64_told("run_main", "0Bbbbb0.");
	assert_arm64_told("run_leaf", "00......");
	assert_arm64_told("run_goexit", ".$$$$$$$");
	assert_arm64_told("run_systemstack", "0AaaaffffffA0a00");
	assert_arm64_told("run_old", "0AaaafgggggggA0.");
	assert_arm64_told("run_newstack", "0Aa$aaa0");
	assert_arm64_told("run_mcall", "00!!$$$.");
	assert_arm64_told("run_morestack", "000GG...");
	assert_arm64_told("run_cgo", "0Aaaaf!!!!!cc!A0");
	assert_arm64_told("run_asm", "0110....");
	assert_arm64_told("run_big", "000jjjJ0");
	assert_arm64_told("run_still", "02mmmm0.");
	assert_arm64_told("run_preempt", "11PppppPP?......");
	image_free(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_frames),
		cmocka_unit_test(tells_assembly),
		cmocka_unit_test(ends_at_goexit),
		cmocka_unit_test(goes_on_behind_a_switch),
		cmocka_unit_test(goes_on_by_what_is_kept),
		cmocka_unit_test(leaves_c_to_its_own_information),
		cmocka_unit_test(tells_arm64),
	};

	return cmocka_run_group_tests(tests, go_setup, files_teardown);
}
