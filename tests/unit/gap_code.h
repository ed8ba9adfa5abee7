/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code of which no call frame information is written, assembled between two functions
 * that have some: what its file's table tells of each of its instructions.
 */
#ifndef WEFT_TESTS_GAP_CODE_H
#define WEFT_TESTS_GAP_CODE_H

#include "cfi_made.h"
#include "elf_files.h"

#include "../cfi/image.c"

static struct image image;

static uint64_t base;

#define TOLD_FUNCTION ".p2align 6; .cfi_startproc; ret; .cfi_endproc\n"

/* The table of switch.so, as it is now. */
static void load_table(void)
{
	int fd = open_file("switch.so");
	struct unwind_table *table;

	assert_int_equal(unwind_table_build(fd, NULL, &table), 0);
	assert_true(image_load(&image, table));
	unwind_table_free(table);
	close(fd);
}

/* Assembles the body between what is before and behind it, and makes its table. */
static void build_within(const char *before, const char *body, const char *behind)
{
	char source[2048];
	int n = snprintf(source, sizeof(source),
			 ".text\n%s.globl code; code:\n%s\n.globl done; done: .skip 64, "
			 "0x90\n%s",
			 before, body, behind);

	write_file("switch.s", source, (size_t)n);
	assert_int_equal(shell("gcc -shared -nostdlib -o switch.so switch.s"), 0);
	base = nm_value("-D", "switch.so", "code");
	load_table();
}

/* Between two functions that are told. */
static UNUSED void build(const char *body)
{
	build_within(TOLD_FUNCTION, body, TOLD_FUNCTION);
}

/* A letter for each byte of what was built. */
static const char *letters(char (*letter_of)(const struct unwind_rule *rule))
{
	static char text[256];
	uint64_t end = nm_value("-D", "switch.so", "done");
	size_t n = 0;

	for (uint64_t pc = base; pc < end && n < sizeof(text) - 1; pc++) {
		struct unwind_rule rule = image_rule(&image, pc);

		text[n++] = letter_of(&rule);
	}
	text[n] = '\0';
	image_free(&image);
	return text;
}

/* Its CFA's distance from sp in words; from A on: the caller's frame pointer is lost as
 * well, from a on: it is where it was pushed. |: by the frame pointer, =: by another
 * register, !: it can't be told, `.`: nothing is. */
static char letter_told(const struct unwind_rule *rule)
{
	char first = rule->fp == UNWIND_FP_SAME	  ? '0'
		     : rule->fp == UNWIND_FP_LOST ? '@'
						  : '`';

	if (rule->cfa == UNWIND_CFA_SP || rule->cfa == UNWIND_CFA_CLONE)
		return (char)(first + rule->cfa_offset / 8);
	return rule->cfa == UNWIND_CFA_TORN   ? '!'
	       : rule->cfa == UNWIND_CFA_FP   ? '|'
	       : rule->cfa == UNWIND_CFA_REG  ? '='
	       : rule->cfa == UNWIND_CFA_NONE ? '.'
					      : '?';
}

static inline UNUSED const char *told(void)
{
	return letters(letter_told);
}

#define ASSERT_TOLD(body, text)                                                          \
	do {                                                                             \
		build(body);                                                             \
		assert_string_equal(told(), text);                                       \
	} while (0)

#define ASSERT_NOTHING(body)                                                             \
	do {                                                                             \
		const char *text_;                                                       \
                                                                                         \
		build(body);                                                             \
		text_ = told();                                                          \
		assert_int_equal(strspn(text_, "."), strlen(text_));                     \
	} while (0)

/* 15 bytes that do nothing to the point */
#define FILL	  "mov %rdi, %rax; mov %rsi, 8(%rdi); ldmxcsr 0x18(%r8); fldenv (%r8);"
#define FILL_TOLD "111111111111111"

#endif
