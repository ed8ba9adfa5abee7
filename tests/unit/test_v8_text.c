/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * V8's builtins in code without call frame information that is too large to be read: they
 * are found, and told of, and nothing else is.
 */
#include "elf_files.h"

#include "obj/elf_file.h"
#include "unwind/unwind_switch.h"
#include "unwind/v8_text.h"

#define AROUND	   0x110000 /* bytes of other functions on each side */
#define N_BUILTINS 10000
#define BUILTIN	   64 /* bytes */
#define N_FEW	   400

#define OTHER                                                                            \
	"push %%rbp; mov %%rsp, %%rbp; call *%%rcx; pop %%rbp; ret; .p2align 4, 0xcc;"
#define BUILTINS /* mov %rbp, %rsp as V8 writes it */                                    \
	"push %%rbp; mov %%rsp, %%rbp; call *%%rcx; .byte 0x48, 0x8b, 0xe5; pop %%rbp;"  \
	"ret $8; .p2align 6, 0xcc;"

static struct elf_file file;
static uint64_t text, text_bytes, builtins;

static void assemble(const char *source, int n)
{
	static int fd = -1;

	elf_file_close(&file);
	if (fd >= 0)
		close(fd);
	write_file("v8.s", source, (size_t)n);
	assert_int_equal(shell("gcc -shared -nostdlib -o v8.so v8.s"), 0);
	fd = open_file("v8.so");
	assert_int_equal(elf_file_open(&file, fd), 0);
	text = nm_value("-D", "v8.so", "text");
	text_bytes = nm_value("-D", "v8.so", "done") - text;
	builtins = nm_value("-D", "v8.so", "builtins");
}

/* A library of others, of builtins, and of others again. */
static void build(int n_builtins)
{
	char source[2048];
	int n = snprintf(
		source, sizeof(source),
		".text; .p2align 16; .globl text; text: .rept %d; " OTHER
		".endr; .p2align 6, 0xcc; .globl builtins; builtins: .rept %d; " BUILTINS
		".endr; .rept %d; " OTHER ".endr; .globl done; done: ret\n",
		AROUND / 16, n_builtins, AROUND / 16);

	assemble(source, n);
}

/* So few that they lie between others of which V8 itself tells, and all of them go on to
 * other code. */
static void build_few(const char *end)
{
	char source[2048];
	int n = snprintf(source, sizeof(source),
			 ".text; .p2align 16; .globl text; .globl builtins; int3;"
			 ".p2align 6, 0xcc; text: builtins: .rept %d; push %%rbp;"
			 "mov %%rsp, %%rbp; call *%%rcx; %s; pop %%rbp; jmp *%%rdx;"
			 ".p2align 6, 0xcc; .endr; .globl done; done: ret\n",
			 N_FEW, end);

	assemble(source, n);
}

static bool find(size_t *ret_begin, size_t *ret_end)
{
	uint64_t offset, n;

	assert_true(elf_file_offset(&file, text, &offset, &n));
	return v8_text_find(&file, offset, text_bytes, ret_begin, ret_end);
}

static void test_found(void **state)
{
	size_t begin, end, first, last;

	build(N_BUILTINS);
	first = builtins - text;
	last = first + (size_t)N_BUILTINS * BUILTIN;
	assert_true(find(&begin, &end));
	assert_in_range(begin, first - (64 << 10), first);
	assert_in_range(end, last, last + (64 << 10));
}

/* V8 has tables of its own of a few, so there are some at the end of a gap, or only at
 * its beginning. */
static void test_at_an_end(void **state)
{
	size_t begin, end;
	uint64_t few, offset, n;

	build(N_BUILTINS);
	few = builtins + 100 * BUILTIN;
	assert_true(elf_file_offset(&file, text, &offset, &n));
	assert_true(v8_text_find(&file, offset, few - text, &begin, &end));
	assert_in_range(begin, builtins - text - (64 << 10), builtins - text);
	assert_int_equal(end, few - text);
	few = builtins + (N_BUILTINS - 100) * BUILTIN;
	assert_true(elf_file_offset(&file, few, &offset, &n));
	assert_true(v8_text_find(&file, offset, text + text_bytes - few, &begin, &end));
	assert_int_equal(begin, 0);
	assert_in_range(end, 100 * BUILTIN, 100 * BUILTIN + (64 << 10));
}

static void test_none(void **state)
{
	size_t begin, end;

	build(0);
	assert_false(find(&begin, &end));
}

/* What a row says first of each function, and how many there are of either kind. */
static struct {
	unsigned int builtins, others;
} told;

static int count(void *arg, uint64_t pc, const struct unwind_rule *rule)
{
	bool within = pc >= builtins && pc < builtins + (uint64_t)N_BUILTINS * BUILTIN;

	if (rule->cfa == UNWIND_CFA_SP && rule->cfa_offset == 8 && pc % 16 == 0)
		within ? told.builtins++ : told.others++;
	return 0;
}

static struct code_budget tell(struct code_budget budget)
{
	const struct cfi_sink sink = { .row = count };

	told.builtins = told.others = 0;
	assert_int_equal(
		unwind_switch_tell(&file, text, text + text_bytes, &budget, &sink), 0);
	return budget;
}

/* Where all is too much, only those that lie next to them are told beside them. */
static void test_told(void **state)
{
	struct code_budget left;
	size_t begin, end, n;

	build(N_BUILTINS);
	assert_true(find(&begin, &end));
	n = end - begin;
	left = tell((struct code_budget){ .bytes = text_bytes - 1, .v8_bytes = n });
	assert_int_equal(left.bytes, text_bytes - 1);
	assert_int_equal(left.v8_bytes, 0);
	assert_int_equal(told.builtins, N_BUILTINS);
	assert_in_range(told.others, 0, (128 << 10) / 16);
	/* which may be too much, too */
	left = tell((struct code_budget){ .bytes = n, .v8_bytes = n - 1 });
	assert_int_equal(left.v8_bytes, n - 1);
	assert_int_equal(told.builtins, 0);
	/* and where all is read, they are no part of the rest */
	left = tell((struct code_budget){ .bytes = text_bytes, .v8_bytes = n });
	assert_int_equal(left.bytes, 0);
	assert_int_equal(left.v8_bytes, n);
	assert_int_equal(told.builtins, N_BUILTINS);
	assert_in_range(told.others, 100000, 2 * AROUND / 16);
}

/* Code that keeps frame pointers may be spared, and its builtins are not. */
static void test_spared(void **state)
{
	const struct code_budget much = { text_bytes, text_bytes, .spares_fp = true };
	struct code_budget left;

	build(N_BUILTINS);
	left = tell(much);
	assert_int_equal(left.bytes, much.bytes);
	assert_int_equal(told.builtins, N_BUILTINS);
	assert_in_range(told.others, 0, (128 << 10) / 16);
	/* a small piece is read all the same */
	text_bytes = SPARED_BYTES - 16;
	left = tell(much);
	assert_int_equal(left.bytes, much.bytes - text_bytes);
	assert_in_range(told.others, text_bytes / 16 - 1, text_bytes);
}

static void test_few(void **state)
{
	build_few(".byte 0x48, 0x8b, 0xe5");
	tell((struct code_budget){ .bytes = text_bytes });
	assert_in_range(told.builtins, N_FEW - 1, N_FEW);
	/* as others write it */
	build_few(".byte 0x48, 0x89, 0xec");
	tell((struct code_budget){ .bytes = text_bytes });
	assert_int_equal(told.builtins, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),  cmocka_unit_test(test_at_an_end),
		cmocka_unit_test(test_none),   cmocka_unit_test(test_told),
		cmocka_unit_test(test_spared), cmocka_unit_test(test_few),
	};
	int failed = cmocka_run_group_tests(tests, files_setup, files_teardown);

	elf_file_close(&file);
	return failed;
}
