/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that change stacks and have call frame information, which does not tell of
 * it: at which of their instructions a leaf leads to no caller.
 */
#include "obj/x86_insn.h"
#include "sym/switches.h"

#include "elf_files.h" /* last: cmocka has a fail() of its own */

static size_t insn_at(int fd, uint64_t at)
{
	uint8_t code[X86_INSN_MAX];
	bool calls;

	assert_int_equal(pread(fd, code, sizeof(code), (off_t)at), sizeof(code));
	return x86_insn_bytes(code, sizeof(code), &calls);
}

/* A letter for each instruction of a function: ! where it is so. */
static const char *torn(const char *body)
{
	static char text[256];
	char source[2048];
	struct elf_info info;
	struct fde last = { 0 };
	struct code_file in = { .info = &info, .last = &last };
	size_t n = 0;
	int length = snprintf(source, sizeof(source),
			      ".text\n.globl code; code: .cfi_startproc\n%s\n"
			      ".cfi_endproc; .globl done; done: .skip 64, 0x90\n"
			      ".cfi_startproc; ret; .cfi_endproc\n",
			      body);

	write_file("s.s", source, (size_t)length);
	assert_int_equal(shell("gcc -shared -nostdlib -o s.so s.s"), 0);
	in.file.fd = open_file("s.so");
	assert_int_equal(file_pages_new(&in.file.pages), 0);
	assert_int_equal(elf_scan(in.file.fd, &info), 0);
	for (uint64_t at = nm_value("-D", "s.so", "code");
	     at < nm_value("-D", "s.so", "done") && n < sizeof(text) - 1;
	     at += insn_at(in.file.fd, at)) {
		/* its code lies in the file where it is linked */
		const struct frame frame = { .offset = at };

		text[n++] = switches_is_one(&frame, &in) ? '!' : '.';
	}
	text[n] = '\0';
	file_pages_free(in.file.pages);
	close(in.file.fd);
	return text;
}

#define LOADS "mov %rsp, (%rdi); mov (%rsi), %rsp;"

static void knows_a_load(void **state)
{
	assert_string_equal(torn(LOADS "mov 8(%rsi), %rcx; jmp *%rcx"), "..!!");
	assert_string_equal(torn("mov %rsp, %rcx; mov %rcx, %rsp; nop; ret"), "....");
	assert_string_equal(torn("nop; xchg %rsp, %rcx; nop; jmp *%rcx"), "..!!");
	assert_string_equal(torn("nop; mov %r12, %rsp; nop; jmp *%rcx"), "..!!");
	assert_string_equal(torn(LOADS "jmp *%rcx; nop; ret"), "..!..");
	assert_string_equal(torn(LOADS "call *%rcx; nop; ret"), "..!..");
	assert_string_equal(torn("push %rbp; .cfi_def_cfa_offset 16; mov %rsp, %rbp;"
				 ".cfi_def_cfa %rbp, 16;" LOADS "nop; jmp *%rcx"),
			    "......");
}

/* What lies on top of the stack at its ret is what it goes back to. */
static void knows_what_it_returns_by(void **state)
{
	/* as glibc's swapcontext */
	assert_string_equal(torn(LOADS "mov 8(%rsi), %rcx; push %rcx; nop; ret"),
			    "..!!..");
	/* one that tells of its pops, and one that does not, until they are done */
	assert_string_equal(torn(LOADS ".cfi_def_cfa_offset 24; pop %r12;"
				       ".cfi_def_cfa_offset 16; pop %r13;"
				       ".cfi_def_cfa_offset 8; ret"),
			    ".....");
	assert_string_equal(torn(LOADS "pop %r12; pop %r13; ret"), "..!!.");
	/* its caller's registers are not there yet */
	assert_string_equal(torn(LOADS ".cfi_def_cfa_offset 24; pop %rbx;"
				       ".cfi_def_cfa_offset 16; pop %rbp;"
				       ".cfi_def_cfa_offset 8; ret"),
			    "..!!.");
	assert_string_equal(torn(LOADS "mov 8(%rsi), %rbp; nop; ret"), "..!..");
	/* that word may be another one by then, or another is taken as well */
	assert_string_equal(torn(LOADS "mov %rcx, (%rdx); nop; ret"), "..!..");
	assert_string_equal(torn(LOADS "nop; jz 1f; nop; 1: ret"), "..!!..");
	assert_string_equal(torn(LOADS "nop; ret $8"), "..!!");
	assert_string_equal(torn(LOADS "mov 8(%rsi), %rsp; nop; ret"), "..!..");
}

/* A compiler's function, around a switch in assembly: of its pushes it knows nothing. */
static void knows_pushes_that_are_not_told(void **state)
{
	assert_string_equal(torn("nop; push %rbp; push %r12;" LOADS
				 "pop %r12; pop %rbp; add $8, %rsp; jmp *%rcx"),
			    "..!!!!!!!");
	assert_string_equal(
		torn("push %rbx; .cfi_def_cfa_offset 16; nop; push %rbp;" LOADS
		     "pop %rbp; add $8, %rsp; jmp *%rcx"),
		"...!!!!!");
	assert_string_equal(torn("sub $16, %rsp; nop;" LOADS "jmp *%rcx"), ".!!!!");
	/* what is not called leaves no return address, and says so (in its FDE, as behind
	 * what assemblers can't put into a CIE) */
	assert_string_equal(torn(".cfi_remember_state; .cfi_def_cfa %rsp, 0;"
				 ".cfi_register %rip, %rax; nop;" LOADS "jmp *%rax"),
			    "...!");
	/* it tells of them, late, or they are taken back */
	assert_string_equal(
		torn("push %rbx; push %rbp; .cfi_def_cfa_offset 24; nop;" LOADS
		     "jmp *%rcx"),
		".!...!");
	assert_string_equal(torn("push %rbx; pop %rbx; nop;" LOADS "jmp *%rcx"),
			    ".!...!");
	/* behind a way out and a call the file is believed again */
	assert_string_equal(torn("push %rbx; jmp *%rcx; nop;" LOADS "jmp *%rcx"),
			    ".....!");
	assert_string_equal(torn("push %rbx; call *%rcx; nop;" LOADS "jmp *%rcx"),
			    ".....!");
	/* and where the frame goes by another register */
	assert_string_equal(torn("push %rbp; .cfi_def_cfa_offset 16; mov %rsp, %rbp;"
				 ".cfi_def_cfa %rbp, 16; push %r12; leave;"
				 ".cfi_def_cfa %rsp, 8; nop;" LOADS "jmp *%rcx"),
			    ".......!");
	/* no switch: there is none to tell of */
	assert_string_equal(torn("push %rbx; nop; pop %rbx; ret"), "....");
	assert_string_equal(torn("push %rbx; mov 8(%rsp), %rbx; nop; ret"), "....");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_a_load),
		cmocka_unit_test(knows_what_it_returns_by),
		cmocka_unit_test(knows_pushes_that_are_not_told),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
