/* SPDX-License-Identifier: BSD-2-Clause */
/* The switches of byhand.c, and what its stacks begin with, on x86-64. */
#ifndef WORKLOADS_BYHAND_X86_64_H
#define WORKLOADS_BYHAND_X86_64_H

/* What switch_hand() leaves below a made stack's first caller. */
#define HAND_WORDS 6

static inline void hand_fill(void **sp, void *slot, void *entry, void *caller, void *fp)
{
	(void)slot;
	for (int i = 0; i < 3; i++)
		sp[i] = NULL;
	sp[3] = fp;
	sp[4] = entry;
	sp[5] = caller;
}

#define SWITCH(name)                                                                     \
	".type " name ", %function\n" name ":\n.cfi_startproc\n"                         \
	"push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbp, -16\n"                   \
	"push %rbx\n.cfi_adjust_cfa_offset 8\n"                                          \
	"push %r12\n.cfi_adjust_cfa_offset 8\n"                                          \
	"push %r13\n.cfi_adjust_cfa_offset 8\n"                                          \
	"mov %rsp, (%rdi)\n"                                                             \
	"mov %rsi, %rsp\n"                                                               \
	"pop %r13\n.cfi_adjust_cfa_offset -8\n"                                          \
	"pop %r12\n.cfi_adjust_cfa_offset -8\n"                                          \
	"pop %rbx\n.cfi_adjust_cfa_offset -8\n"                                          \
	"pop %rbp\n.cfi_adjust_cfa_offset -8\n.cfi_restore %rbp\n"                       \
	"ret\n.cfi_endproc\n.size " name ", . - " name "\n"

__asm__(".pushsection .text\n.p2align 4\n" SWITCH("switch_hand") SWITCH("switch_there")
		SWITCH("switch_back")
	/* the last thing that this does is a call, as of a function that aborts */
	".p2align 4\n.type gives_up, %function\ngives_up:\n.cfi_startproc\n"
	"push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbp, -16\n"
	"call stops\n.cfi_endproc\n.size gives_up, . - gives_up\n"
	".type not_called, %function\nnot_called:\n.cfi_startproc\n"
	"sub $8, %rsp\n.cfi_adjust_cfa_offset 8\ncall stops\n.cfi_endproc\n"
	".size not_called, . - not_called\n"
	".type stops, %function\nstops:\n.cfi_startproc\n"
	"ud2\n.cfi_endproc\n.size stops, . - stops\n"
	/* a stack begins here, with the resumer's sp in the word above */
	".p2align 4\n.type crosses, %function\ncrosses:\n.cfi_startproc\n"
	/* CFA: *sp + 40, behind what switch_hand() pushed; rbp lies there as well */
	".cfi_escape 0x0f, 5, 0x77, 0, 0x06, 0x23, 40\n"
	".cfi_offset %rbp, -16\n.cfi_offset %rip, -8\n"
	"nop\n.globl crossing\ncrossing:\nud2\n.cfi_endproc\n"
	".size crosses, . - crosses\n"
	".p2align 4\n.type switch_call, %function\nswitch_call:\n.cfi_startproc\n"
	"push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbp, -16\n"
	"push %rbx\n.cfi_adjust_cfa_offset 8\n"
	"push %r12\n.cfi_adjust_cfa_offset 8\n"
	"push %r13\n.cfi_adjust_cfa_offset 8\n"
	"mov %rsp, (%rdi)\n"
	"mov %rdi, -16(%rsi)\n"
	"lea -16(%rsi), %rsp\n"
	/* CFA: **sp + 40, as OCaml's assembly writes it */
	".cfi_escape 0x0f, 8, 0x77, 0, 0x06, 0x23, 0, 0x06, 0x23, 40\n"
	"call *%rdx\nud2\n.cfi_endproc\n"
	".size switch_call, . - switch_call\n.popsection\n");

#endif
