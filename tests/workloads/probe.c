/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A function that never returns, as gcc makes it with -fstack-clash-protection, and the
 * call of it, the last thing that its caller does: so what it returns to is the first
 * byte of another function. Its first rows are those of a function that begins, ends, and
 * begins again, since gcc probes the stack by a push and a pop. x86-64.
 *
 *	probe MS
 *
 * Thread:  main;serve_probe;loop_probe;turn_probe
 */
#include "work.h"

void serve_probe(void);

#define FUNCTION(name, code)                                                             \
	".type " name ", %function\n" name ":\n.cfi_startproc\n" code                    \
	".cfi_endproc\n.size " name ", . - " name "\n"

__asm__(".pushsection .text\n.p2align 4\n.globl serve_probe\n"
	/* clang-format off */
	FUNCTION("loop_probe",
		 "push %rax\n.cfi_def_cfa_offset 16\n"
		 "pop %rax\n.cfi_def_cfa_offset 8\n"
		 "sub $8, %rsp\n.cfi_def_cfa_offset 16\n"
		 "1: call turn_probe\njmp 1b\n")
	FUNCTION("serve_probe",
		 "sub $8, %rsp\n.cfi_def_cfa_offset 16\n"
		 "call loop_probe\n")
	FUNCTION("behind_probe", "ret\n")
	/* clang-format on */
	".popsection\n");

FN void turn_probe(void)
{
	WITH_FRAME();
	spin(1000);
	AFTER();
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return work_usage(argv[0], "MS");
	work_lifetime(argv[1]);
	work_ready();
	serve_probe();
}
