// SPDX-License-Identifier: BSD-2-Clause
/* The rows of what makes room on the stack and enters others' code, by what it does. */
#include "elf_files.h"

#include "unwind/unwind_enters.h"

#include <stdarg.h>

static char said[256];

/* "+BYTES behind the first byte:offset", in brackets where its own information has it */
static int take_row(void *arg, uint64_t pc, const struct unwind_rule *rule)
{
	const uint64_t *begin = arg;
	size_t n = strlen(said);

	snprintf(said + n, sizeof(said) - n, rule->reg ? " [%x:%d]" : " %x:%d",
		 (unsigned int)(pc - *begin), rule->cfa_offset);
	return 0;
}

/* Rows at the labels `begin`, `at` and `end` of a library of that assembly: of a call's
 * return address alone, of `room` below it, and of nothing. */
static const char *told(const char *assembly, unsigned char reg, int room)
{
	AUTO_ELF file = { 0 };
	uint64_t places[3];
	const struct cfi_sink sink = { .arg = places, .row = take_row };
	struct unwind_enters enters = { .sink = &sink, .file = &file };
	const struct unwind_rule rules[] = {
		{ .cfa = UNWIND_CFA_SP,
		  .cfa_offset = 8,
		  .reg = UNWIND_FIRST,
		  .ra_words = -1 },
		{ .cfa = UNWIND_CFA_SP, .cfa_offset = room, .reg = reg, .ra_words = -1 },
		{ .cfa = UNWIND_CFA_NONE },
	};
	FILE *out = fopen("enters.s", "w");
	int fd;

	assert_non_null(out);
	fprintf(out, ".text\nbegin:\n%send:\nnop\n.section .note.GNU-stack\n", assembly);
	fclose(out);
	assert_int_equal(shell("gcc -shared -nostdlib -o enters.so enters.s && for i in "
			       "begin at end; do nm enters.so | sed -n \"s/ t $i//p\"; "
			       "done >places"),
			 0);
	out = fopen("places", "r");
	assert_non_null(out);
	for (int i = 0; i < 3; i++)
		assert_int_equal(fscanf(out, "%lx", &places[i]), 1);
	fclose(out);
	fd = open("enters.so", O_RDONLY);
	assert_int_equal(elf_file_open(&file, fd), 0);
	said[0] = '\0';
	for (int i = 0; i < 3; i++)
		assert_int_equal(unwind_enters_row(&enters, places[i], &rules[i]), 0);
	assert_int_equal(unwind_enters_end(&enters), 0);
	close(fd);
	return said;
}

#define ROOM "sub $0x30, %rsp\nmov %rsp, %rax\nsub $0x4000, %rsp\nmov %rbx, (%rax)\n"
#define BACK "jmp *%rdi\nadd $0x4000, %rsp\nmov (%rsp), %rbx\nadd $0x30, %rsp\nret\nret\n"

static void test_ghcs(void **state)
{
	assert_string_equal(told(ROOM "at:\n" BACK, UNWIND_ENTERS, 16440),
			    " [0:8] 4:56 e:16440 [11:16440] 1a:56 22:8 24:0");
}

static void test_another(void **state)
{
	assert_string_equal(told(ROOM "at:\n" BACK, 0, 16440), " [0:8] 11:16440 24:0");
}

/* Behind what can't be followed its own information is all there is. */
static void test_lost(void **state)
{
	assert_string_equal(told("sub $0x30, %rsp\nand $-64, %rsp\nsub $0x4000, %rsp\n"
				 "at:\nret\nsub $8, %rsp\nnop\n",
				 UNWIND_ENTERS, 16440),
			    " [0:8] 4:56 [f:16440] 15:0");
}

static void test_garbage(void **state)
{
	assert_string_equal(told("sub $0x7fffffff, %rsp\nsub $0x7fffffff, %rsp\nat:\n"
				 "ret\n",
				 UNWIND_ENTERS, 16440),
			    " [0:8] [e:16440] f:0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ghcs),
		cmocka_unit_test(test_another),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_garbage),
	};

#ifndef __x86_64__
	print_message("GHC has none of it there\n");
	return 0;
#endif
	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
