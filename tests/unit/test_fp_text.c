/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of much code that hardly tell of any, as Chromium: pieces that seem to keep frame
 * pointers are not read, and others are.
 */
#include "elf_files.h"

#include "../cfi/image.c"
#include "unwind/fp_text.h"
#include "unwind/unwind_switch.h"

#define N_FUNCTIONS 90000 /* of 15 instructions each, padding and all */
#define FUNCTION    16	  /* bytes of each */
#define MUCH	    (33u << 20)

#define WITH_FP                                                                          \
	"push %%rbp; mov %%rsp, %%rbp; call *%%rcx; pop %%rbp; ret; .p2align 4, 0xcc;"
#define WITHOUT_FP "push %%rbx; call *%%rcx; pop %%rbx; ret; .p2align 4, 0xcc;"
#define TOLD(name)                                                                       \
	".globl " name "; " name ": .cfi_startproc; ret; .cfi_endproc; .p2align 6, "     \
	"0xcc;"

static struct image image;
static uint64_t with_fp, without_fp;

/* A library with both kinds between functions that it tells of, and with so many bytes of
 * code behind them. */
static void make(unsigned int much)
{
	char source[1024];
	int n = snprintf(
		source, sizeof(source),
		".text; .p2align 6; " TOLD("with_fp") ".rept %d; " WITH_FP ".endr; " TOLD(
			"without_fp") ".rept %d; " WITHOUT_FP
				      ".endr; " TOLD("done") ".space %u, 0xcc\n",
		N_FUNCTIONS, N_FUNCTIONS, much + 16);

	write_file("fp.s", source, (size_t)n);
	assert_int_equal(shell("gcc -shared -nostdlib -o fp.so fp.s"), 0);
	with_fp = nm_value("-D", "fp.so", "with_fp") + 64;
	without_fp = nm_value("-D", "fp.so", "without_fp") + 64;
}

/* How many of those functions have a rule where each begins? */
static unsigned int count_told(uint64_t first)
{
	unsigned int n = 0;

	for (uint64_t i = 0; i < N_FUNCTIONS; i++) {
		struct unwind_rule rule = image_rule(&image, first + i * FUNCTION);

		n += rule.cfa == UNWIND_CFA_SP && rule.cfa_offset == 8;
	}
	return n;
}

static void build(unsigned int much)
{
	struct unwind_table *table;
	int fd;

	make(much);
	fd = open_file("fp.so");
	assert_int_equal(unwind_table_build(fd, NULL, &table), 0);
	assert_true(image_load(&image, table));
	close(fd);
	unwind_table_free(table);
}

static void test_looked_at(void **state)
{
	struct elf_file file;
	uint64_t at, n;
	int fd;

	make(0);
	fd = open_file("fp.so");
	assert_int_equal(elf_file_open(&file, fd), 0);
	assert_true(elf_file_offset(&file, with_fp, &at, &n));
	assert_true(fp_text_is(&file, at, N_FUNCTIONS * FUNCTION));
	assert_true(fp_text_is(&file, at, 4));
	assert_false(fp_text_is(&file, at, 3));
	assert_true(elf_file_offset(&file, without_fp, &at, &n));
	assert_false(fp_text_is(&file, at, N_FUNCTIONS * FUNCTION));
	assert_false(fp_text_is(&file, file.bytes, SPARED_BYTES));
	elf_file_close(&file);
	close(fd);
}

static void test_spared(void **state)
{
	build(MUCH);
	assert_int_equal(count_told(with_fp), 0);
	assert_int_equal(count_told(without_fp), N_FUNCTIONS);
	image_free(&image);
}

/* Where that is no time lost all is read. */
static void test_read(void **state)
{
	build(0);
	assert_int_equal(count_told(with_fp), N_FUNCTIONS);
	assert_int_equal(count_told(without_fp), N_FUNCTIONS);
	image_free(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_looked_at),
		cmocka_unit_test(test_spared),
		cmocka_unit_test(test_read),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
