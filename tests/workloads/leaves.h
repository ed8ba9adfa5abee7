/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of one to five instructions, spelled in assembly so that a compiler
 * adds nothing: leaf_N has no frame, leaf_frame_N makes one. A sample in them
 * falls, more often than not, where a frame pointer tells nothing of the caller;
 * their unwind tables do.
 */
#ifndef WORKLOADS_LEAVES_H
#define WORKLOADS_LEAVES_H

#define LEAF(name, body)                                                                 \
	__asm__(".pushsection .text\n"                                                   \
		".globl " #name "\n"                                                     \
		".type " #name ", %function\n"                                           \
		".p2align 4\n" #name ":\n.cfi_startproc\n" body "ret\n.cfi_endproc\n"    \
		".size " #name ", . - " #name "\n"                                       \
		".popsection\n");                                                        \
	void name(void)

#if defined(__x86_64__)
#define LEAF_FRAME                                                                       \
	"push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbp, -16\n"                   \
	"mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"
#define LEAF_UNFRAME "pop %rbp\n.cfi_restore %rbp\n.cfi_def_cfa %rsp, 8\n"
#else
#define LEAF_FRAME                                                                       \
	"stp x29, x30, [sp, #-16]!\n.cfi_adjust_cfa_offset 16\n"                         \
	".cfi_offset x29, -16\n.cfi_offset x30, -8\nmov x29, sp\n"
#define LEAF_UNFRAME                                                                     \
	"ldp x29, x30, [sp], #16\n.cfi_adjust_cfa_offset -16\n"                          \
	".cfi_restore x29\n.cfi_restore x30\n"
#endif

LEAF(leaf_1, "");
LEAF(leaf_2, "nop\n");
LEAF(leaf_3, "nop\nnop\n");
LEAF(leaf_4, "nop\nnop\nnop\n");
LEAF(leaf_5, "nop\nnop\nnop\nnop\n");
LEAF(leaf_frame_4, LEAF_FRAME LEAF_UNFRAME);
LEAF(leaf_frame_5, LEAF_FRAME "nop\n" LEAF_UNFRAME);

#endif
