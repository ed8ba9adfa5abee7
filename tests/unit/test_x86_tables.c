// SPDX-License-Identifier: BSD-2-Clause
/* Jumps through tables, in code of which no call frame information is written. */
#include "gap_code.h"

/* A case that nothing but its table leads to, and that never comes back, is told by that
 * alone. rest: what lies behind such code. */
static bool is_followed_by(const char *jumps, const char *rest)
{
	static char body[1024];
	const char *cases;

	snprintf(body, sizeof(body), "%s%s%s%s", "push %rbx; sub $16, %rsp;", jumps,
		 "1: call *%rcx; inc %eax; ud2; 2: inc %eax; 3: add $16, %rsp;"
		 "pop %rbx; ret; .p2align 4, 0xcc;",
		 rest);
	build(body);
	cases = strstr(letters(letter_told), "44444444444421");
	return cases && strstr(cases, "................121");
}

/* Among the code; a function follows. */
static bool is_followed(const char *jumps)
{
	return is_followed_by(jumps, "9: .long 1b - 9b, 2b - 9b, 0x90900000, 0;"
				     "push %rbx; pop %rbx; ret");
}

#define BY(index)                                                                        \
	"lea 9f(%rip), %rdx; movslq (%rdx," index ",4), %rax; add %rdx, %rax;"           \
	"jmp *%rax;"

static void test_followed(void **state)
{
	assert_true(is_followed("cmp $1, %ecx; ja 3f;" BY("%rcx")));
	assert_true(is_followed("cmp $2, %ecx; jae 3f;" BY("%rcx")));
	assert_true(is_followed("cmp $1, %cl; ja 3f; movzbl %cl, %eax;" BY("%rax")));
	assert_true(is_followed("cmp $1, %eax; ja 3f; mov %eax, %eax;" BY("%rax")));
	assert_true(
		is_followed("cmp $1, %al; ja 3f; movzbl %al, %r9d; inc %esi;" BY("%r9")));
	/* GraalVM adds to the table's address */
	assert_true(is_followed("cmp $1, %ecx; test %edi, %edi; cmp $1, %ecx; ja 3f;"
				"lea 9f(%rip), %r11; movslq 0(%r11,%rcx,4), %rcx;"
				"add %rcx, %r11; jmp *%r11;"));
}

/* What is asked for in a word's lower half. */
static bool is_found_by(const char *jumps)
{
	return is_followed_by(jumps, "9: .long 0x90, 2b - 9b, 8, 1b - 9b;"
				     "push %rbx; pop %rbx; ret");
}

/* GraalVM's, where cases are strewn. */
static void test_words(void **state)
{
	assert_true(is_found_by("and $1, %ecx; lea 9f(%rip), %rdx; mov (%rdx,%rcx,8), "
				"%rax; cmp %esi, %eax; jne 3f; sar $32, %rax;"
				"add %rax, %rdx; jmp *%rdx;"));
	/* by other halves, places and masks */
	assert_false(is_found_by("and $1, %ecx; lea 9f(%rip), %rdx; mov (%rdx,%rcx,8), "
				 "%rax; cmp %esi, %eax; jne 3f; sar $31, %rax;"
				 "add %rax, %rdx; jmp *%rdx;"));
	assert_false(is_found_by("and $1, %ecx; lea 9f(%rip), %rdx; mov (%rdx,%rcx,8), "
				 "%rax; sar $32, %rax; sar $32, %rax;"
				 "add %rax, %rdx; jmp *%rdx;"));
	assert_false(is_found_by("and $1, %ecx; lea 9f(%rip), %rdx; mov (%rdx,%rcx,4), "
				 "%rax; sar $32, %rax; add %rax, %rdx; jmp *%rdx;"));
	assert_false(is_found_by("and $2, %ecx; lea 9f(%rip), %rdx; mov (%rdx,%rcx,8), "
				 "%rax; sar $32, %rax; add %rax, %rdx; jmp *%rdx;"));
	assert_false(is_found_by("and $1, %esi; lea 9f(%rip), %rdx; mov (%rdx,%rcx,8), "
				 "%rax; sar $32, %rax; add %rax, %rdx; jmp *%rdx;"));
	assert_false(is_found_by("or $1, %ecx; lea 9f(%rip), %rdx; mov (%rdx,%rcx,8), "
				 "%rax; sar $32, %rax; add %rax, %rdx; jmp *%rdx;"));
}

/* As compilers of C have them. */
static void test_elsewhere(void **state)
{
	assert_true(is_followed_by("cmp $1, %ecx; ja 3f;" BY("%rcx"),
				   ".skip 16, 0xcc; push %rbx; pop %rbx; ret;"
				   ".section .rodata; 9: .long 1b - 9b, 2b - 9b; .text"));
	/* what is there is not all of a table */
	assert_false(
		is_followed_by("cmp $7, %ecx; ja 3f;" BY("%rcx"),
			       ".skip 16, 0xcc; push %rbx; pop %rbx; ret;"
			       ".section .rodata; 9: .long 1b - 9b, 2b - 9b; .text"));
}

/* In a program that is linked to one place, which is known once it was built. */
static bool is_followed_at(const char *jump, uint64_t code)
{
	char jumps[128], rest[128];

	snprintf(jumps, sizeof(jumps), "cmp $1, %%eax; ja 3f; jmp *%s;", jump);
	snprintf(rest, sizeof(rest),
		 "9: .quad %#jx + 1b - code, %#jx + 2b - code;"
		 "push %%rbx; pop %%rbx; ret",
		 (uintmax_t)code, (uintmax_t)code);
	return is_followed_by(jumps, rest);
}

static void test_addresses(void **state)
{
	char jump[64];

	assert_false(is_followed_at("0(,%rax,8)", 0));
	snprintf(jump, sizeof(jump), "%#jx + 9f - code(,%%rax,8)", (uintmax_t)base);
	assert_true(is_followed_at(jump, base));
	assert_false(is_followed_at(jump, base + 1));
	snprintf(jump, sizeof(jump), "%#jx + 9f - code(,%%rax,4)", (uintmax_t)base);
	assert_false(is_followed_at(jump, base));
}

static void test_not_followed(void **state)
{
	assert_false(is_followed(BY("%rcx")));
	/* another register's bound, or one that is changed behind it */
	assert_false(is_followed("cmp $1, %esi; ja 3f;" BY("%rcx")));
	assert_false(is_followed("cmp $1, %ecx; ja 3f; inc %ecx;" BY("%rcx")));
	assert_false(is_followed("cmp $1, %ecx; jg 3f;" BY("%rcx")));
	assert_false(is_followed("cmp $1, %ecx; ja 3f; call *%rsi;" BY("%rcx")));
	/* more cases than there are */
	assert_false(is_followed("cmp $7, %ecx; ja 3f;" BY("%rcx")));
	assert_false(is_followed("cmp $0x7fffffff, %ecx; ja 3f;" BY("%rcx")));
	assert_false(is_followed("cmp $-1, %ecx; ja 3f;" BY("%rcx")));
	/* another one's sum, place or size */
	assert_false(
		is_followed("cmp $1, %ecx; ja 3f; lea 9f(%rip), %rdx;"
			    "movslq (%rdx,%rcx,4), %rax; add %rsi, %rax; jmp *%rax;"));
	assert_false(
		is_followed("cmp $1, %ecx; ja 3f; lea 9f(%rip), %rdx;"
			    "movslq (%rdx,%rcx,2), %rax; add %rdx, %rax; jmp *%rax;"));
	assert_false(
		is_followed("cmp $1, %ecx; ja 3f; lea 9f(%rip), %rdx;"
			    "movslq 4(%rdx,%rcx,4), %rax; add %rdx, %rax; jmp *%rax;"));
	assert_false(
		is_followed("cmp $1, %ecx; ja 3f; lea 9f(%rip), %rdx; mov (%rdx), %rdx;"
			    "movslq (%rdx,%rcx,4), %rax; add %rdx, %rax; jmp *%rax;"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_followed),     cmocka_unit_test(test_words),
		cmocka_unit_test(test_elsewhere),    cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_not_followed),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
