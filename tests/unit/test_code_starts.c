// SPDX-License-Identifier: BSD-2-Clause
/* Where functions begin in assembly that nothing tells of, beside its own symbols. */
#include "obj/code_starts.h"

#include "base/cleanup.h"
#include "named.h"

#define VADDR	 0x1000
#define TEXT_MAX 4096

/* Whatever symbols of the text start with an f, as "0 40 80": in hexadecimal. */
static const char *labelled(const char *body)
{
	static char text[256];
	char source[2048];
	int n = snprintf(source, sizeof(source), ".text\n%s\n", body);
	size_t bytes;
	FILE *f;

	write_file("code.s", source, (size_t)n);
	assert_int_equal(shell("gcc -c code.s -o code.o &&"
			       "objcopy -O binary -j .text code.o code.bin &&"
			       "nm code.o | awk '$3 ~ /^f/ { sub(/^0+/, \"\", $1);"
			       "printf \" %%s\", $1 ? $1 : 0 }' | cut -c 2- > labels"),
			 0);
	f = fopen("labels", "r");
	assert_non_null(f);
	bytes = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[bytes] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static const char *found(const struct code_text *code)
{
	static char text[256];
	AUTO(code_starts) starts = NULL;
	size_t at, n = 0;

	*text = '\0';
	assert_int_equal(code_starts_new(&starts, code), 0);
	while (code_starts_next(starts, &at))
		n += (size_t)snprintf(text + n, sizeof(text) - n, n ? " %zx" : "%zx", at);
	return text;
}

static const char *found_in_file(bool is_begun)
{
	size_t n;
	AUTO_FREE unsigned char *bytes = read_file("code.bin", &n);

	return found(&(struct code_text){ bytes, n, VADDR, false, is_begun });
}

#define ASSERT_STARTS(body)                                                              \
	do {                                                                             \
		const char *expected = labelled(body);                                   \
		assert_string_equal(found_in_file(false), expected);                     \
	} while (0)

static void test_ends(void **state)
{
	ASSERT_STARTS("f1: inc %eax; ret; f2: dec %eax; ret");
	ASSERT_STARTS("f1: inc %eax; ret $8; .p2align 4; f2: rep; ret; f3: jmp f1;"
		      "f4: ud2; f5: hlt; f6: ret");
	/* clang's traps, of which there may be two */
	ASSERT_STARTS(
		"f1: call *%rax; ud1 18(%eax), %eax; f2: inc %eax; test %eax, %eax;"
		"je 1f; ud1 (%eax), %eax; 1: ret; .p2align 4, 0xcc;"
		"f3: call *%rax; ud2; ud1 1(%eax), %eax; .p2align 4, 0xcc; f4: ret");
	/* padding is nobody's */
	ASSERT_STARTS(".p2align 4; .skip 20, 0x90; f1: inc %eax; ret; .p2align 5, 0xcc;"
		      "f2: ret");
}

static void test_jumps(void **state)
{
	ASSERT_STARTS("f1: jz 1f; ret; 1: inc %eax; ret; f2: ret");
	/* the loop is entered at its end */
	ASSERT_STARTS("f1: jmp 2f; .p2align 4; 1: inc %eax; 2: dec %ecx; jnz 1b; ret;"
		      "f2: ret");
	/* several ways out, the last of them first */
	ASSERT_STARTS(
		"f1: jz 3f; jc 2f; ret; 2: inc %eax; jmp 4f; 3: ret; 4: ret; f2: ret");
	/* what is called is another, and so is what is aligned and only jumped to */
	ASSERT_STARTS("f1: jz f3; ret; f2: call f3; ret; f3: ret");
	ASSERT_STARTS("f1: inc %eax; jmp f3; .p2align 4; f2: ret; .p2align 4; f3: ret");
}

static void test_jump_table(void **state)
{
	/* a switch, whose cases are not aligned */
	ASSERT_STARTS("f1: jmp *%rax; inc %eax; ret; .p2align 4; f2: ret");
	ASSERT_STARTS("f1: jmp *8(%rax); .p2align 4; f2: ret");
	/* a conditional jump stays in its function, and so does what it leads over */
	ASSERT_STARTS("f1: jz 2f; jmp *%rax; .p2align 4; inc %eax; ret; .p2align 4;"
		      "dec %eax; ret; 2: ret; f2: ret");
	ASSERT_STARTS("f1: jz 2f; ret; .p2align 4; inc %eax; ret; 2: ret; f2: ret");
}

static void test_calls(void **state)
{
	/* one that does not come back, and one that does, before a loop */
	ASSERT_STARTS("f1: inc %eax; call out; .p2align 4; f2: ret");
	ASSERT_STARTS(
		"f1: inc %eax; call out; .p2align 4; 1: dec %eax; jnz 1b; ret; f2: ret");
	/* a nop that does not lead to where functions begin */
	ASSERT_STARTS("f1: inc %eax; call out; nop; dec %eax; ret; f2: ret");
	/* what is called is one, also by who never gets back to it; but not who asks
	 * where he is, nor what the function itself jumps to or over */
	ASSERT_STARTS("f1: push %rbp; call f2; f2: inc %eax; ret");
	ASSERT_STARTS("f1: push %rbp; call out; f2: inc %eax; ret; f3: call f2; ret");
	ASSERT_STARTS("f1: call 1f; 1: pop %rax; ret; f2: call 2f; 2: pop %r9; ret");
	ASSERT_STARTS("f1: jz 1f; call out; 1: inc %eax; ret; f2: call 1b; ret");
}

static void test_data(void **state)
{
	ASSERT_STARTS(
		"f1: inc %eax; jz 1f; 1: ret; .byte 6, 6, 6; .p2align 4, 6; f2: ret");
}

static void test_begun(void **state)
{
	labelled(".skip 20, 0x90; inc %eax; ret; f2: ret");
	assert_string_equal(found_in_file(true), "0 17");
}

static void test_arm64(void **state)
{
	static const uint32_t insns[] = {
		0xd503201f,		/* nop */
		0xb4000060,		/* f1: cbz x0, 1f */
		0x17ffffff,		/* b f1 */
		0xd503201f, 0x91000400, /* 1: add x0, x0, #1 */
		0xd65f03c0,		/* ret */
		0x36000040,		/* f2: tbz w0, #0, 1f */
		0xd61f0000,		/* br x0 */
		0x54000040,		/* 1: b.eq 2f, 3f */
		0xd65f03c0, 0xd65f03c0, /* 2: ret */
		0x94000002,		/* f3: bl f5 */
		0xd65f03c0, 0xd65f03c0, /* f5: ret */
	};

	assert_string_equal(
		found(&(struct code_text){ (const uint8_t *)insns, sizeof(insns), VADDR,
					   true, false }),
		"4 18 2c 34");
}

/* A symbol without a size that a stripped file keeps names its own function. */
static void test_names(void **state)
{
	static const char source[] =
		".text; .p2align 12\n.globl shown; shown: jz 1f; ret; 1: inc %eax; ret\n"
		"hidden: dec %eax; ret\n";
	uint64_t at;
	int fd;

	write_file("bare.s", source, strlen(source));
	assert_int_equal(shell("gcc -shared -nostdlib bare.s -o all.so &&"
			       "strip -o bare.so all.so"),
			 0);
	fd = open_file("bare.so");
	at = offset_of(fd, nm_value("", "all.so", "shown"));
	assert_string_equal(name_by(file_names, fd, at), "shown");
	assert_string_equal(name_by(file_names, fd, at + 5), "shown");
	assert_string_equal(name_by(file_names, fd, at + 6), "");
	assert_string_equal(name_by(function_starts, fd, at + 8), "0x1006");
	close(fd);
	fd = open_file("all.so");
	assert_string_equal(name_by(file_names, fd, at + 6), "hidden");
	close(fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),	   cmocka_unit_test(test_jumps),
		cmocka_unit_test(test_jump_table), cmocka_unit_test(test_calls),
		cmocka_unit_test(test_data),	   cmocka_unit_test(test_begun),
		cmocka_unit_test(test_arm64),	   cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
