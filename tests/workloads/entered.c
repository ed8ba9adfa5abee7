/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x86-64: code that lies on the frame of who entered it, as GHC makes it of Haskell. It
 * has no call frame information, keeps its own stack in rbp, calls nobody but C, and
 * comes and goes by jumps. Who enters it says where its caller is in GHC's way: the CFA
 * is something else than the caller's stack pointer.
 *
 *	entered MS
 *
 * Thread:  main;schedule;run_code | first | second;helper | second;inner;schedule;…
 */
#include "work.h"

#define ROUNDS	   40
#define OWN_WORDS  64
#define ROOM_BYTES "16384" /* as GHC's */

typedef void code(void);

unsigned long own_stack[OWN_WORDS];

void run_code(code *code);
code first, second, nested;

FN void helper(unsigned long n)
{
	spin(n);
	AFTER();
}

FN void schedule(code *code)
{
	spin(ROUNDS);
	run_code(code);
	AFTER();
}

/* Called from such code, it runs some itself. */
FN void inner(void)
{
	schedule(nested);
	AFTER();
}

#define SPIN "mov $2000, %ecx\n1: imul %rax, %rax\nimul %rax, %rax\ndec %ecx\njnz 1b\n"
#define CODE(name, text)                                                                 \
	".globl " name "\n.type " name ", @function\n.balign 16\n" name ":\n" text       \
	"ud2\n.size " name ", . - " name "\n"

/* registers lie above the room; what is entered leaves by a jump to its second part */
__asm__(".pushsection .text.entered, \"ax\", @progbits\n"
	".globl run_code\n.type run_code, @function\n"
	"run_code:\n.cfi_startproc\n"
	"sub $0x30, %rsp\nmov %rsp, %rax\nsub $" ROOM_BYTES ", %rsp\n"
	"mov %rbx, (%rax)\nmov %rbp, 8(%rax)\nmov %r12, 16(%rax)\n"
	"mov %r13, 24(%rax)\nmov %r14, 32(%rax)\nmov %r15, 40(%rax)\n"
	".cfi_def_cfa rsp, 0\n"
	".cfi_offset rbx, " ROOM_BYTES "\n.cfi_offset rbp, " ROOM_BYTES " + 8\n"
	".cfi_offset r12, " ROOM_BYTES " + 16\n.cfi_offset r13, " ROOM_BYTES " + 24\n"
	".cfi_offset r14, " ROOM_BYTES " + 32\n.cfi_offset r15, " ROOM_BYTES " + 40\n"
	".cfi_offset rip, " ROOM_BYTES " + 48\n"
	/* DW_CFA_val_expression: rsp is (DW_OP_breg7 16440) */
	".cfi_escape 0x16, 7, 4, 0x77, 0xb8, 0x80, 0x01\n"
	"lea own_stack(%rip), %rbp\n"
	"jmp *%rdi\n"
	".Lrun_code_end:\n" SPIN "add $" ROOM_BYTES ", %rsp\n"
	"mov (%rsp), %rbx\nmov 8(%rsp), %rbp\nmov 16(%rsp), %r12\n"
	"mov 24(%rsp), %r13\nmov 32(%rsp), %r14\nmov 40(%rsp), %r15\n"
	"add $0x30, %rsp\nret\n"
	".cfi_endproc\n.size run_code, . - run_code\n" CODE(
		"first",
		SPIN "lea second(%rip), %rax\nmov %rax, (%rbp)\nadd $8, %rbp\n" SPIN
		     "jmp *-8(%rbp)\n")
		CODE("second", "mov $40, %edi\ncall helper\n"
			       "sub $8, %rsp\nmov $40, %edi\ncall helper\nadd $8, %rsp\n"
			       "call inner\n" SPIN "jmp .Lrun_code_end\n")
			CODE("nested", SPIN "jmp .Lrun_code_end\n") ".popsection\n");

int main(int argc, char **argv)
{
	if (argc < 2)
		return work_usage(argv[0], "MS");
	work_lifetime(argv[1]);
	work_ready();
	for (;;)
		schedule(first);
}
