/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Assembly whose frames end by a register that a call may change, as OpenSSL's AES-GCM:
 * its helpers leave that alone, or they don't. Its call frame information says the same
 * of both, and only their code knows better. x86-64.
 *
 *	kept MS
 *
 * Thread:  main;turn;aligned_kept[;helper_kept]
 *	    main;turn;aligned_spoilt, and above it helper_spoils, whose callers are not
 *	    known
 */
#include "work.h"

void aligned_kept(void);
void aligned_spoilt(void);

#define ROUNDS "3000"

#define ALIGNED(name, helper)                                                            \
	".p2align 4\n.globl " name "\n.type " name ", %function\n" name                  \
	":\n.cfi_startproc\n"                                                            \
	"lea (%rsp), %rax\n.cfi_def_cfa_register %rax\n"                                 \
	"push %rbx\n.cfi_offset %rbx, -16\npush %r12\n.cfi_offset %r12, -24\n"           \
	"sub $128, %rsp\nand $-128, %rsp\nmov $1, %ebx\n"                                \
	"mov $" ROUNDS ", %ecx\n1: dec %ecx\njnz 1b\n"                                   \
	"call " helper "\n"                                                              \
	"mov -16(%rax), %r12\n.cfi_restore %r12\n"                                       \
	"mov -8(%rax), %rbx\n.cfi_restore %rbx\n"                                        \
	"lea (%rax), %rsp\n.cfi_def_cfa_register %rsp\nret\n"                            \
	".cfi_endproc\n.size " name ", . - " name "\n"
#define HELPER(name, before, behind)                                                     \
	".p2align 4\n.type " name ", %function\n" name ":\n.cfi_startproc\n" before      \
	"mov $" ROUNDS ", %ecx\njmp 2f\n1: neg %rdx\ncmp $7, %rax\ndec %ecx\n"           \
	"2: test %ecx, %ecx\njnz 1b\n" behind "ret\n.cfi_endproc\n.size " name           \
	", . - " name "\n"

__asm__(".pushsection .text\n" ALIGNED("aligned_kept", "helper_kept")
		ALIGNED("aligned_spoilt", "helper_spoils") HELPER("helper_kept", "", "")
			HELPER("helper_spoils", "movq %rax, %xmm7\nxor %eax, %eax\n",
			       "movq %xmm7, %rax\n") ".popsection\n");

FN void turn(void)
{
	for (int i = 0; i < 100; i++) {
		aligned_kept();
		aligned_spoilt();
	}
	AFTER();
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return work_usage(argv[0], "MS");
	work_lifetime(argv[1]);
	work_ready();
	for (;;)
		turn();
}
