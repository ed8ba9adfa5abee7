/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of one to five instructions, spelled in assembly so that a compiler
 * adds nothing: leaf_N has no frame, leaf_frame_N makes one. A sample in them
 * falls, more often than not, where a frame pointer tells nothing of the caller.
 */
#ifndef WORKLOADS_LEAVES_H
#define WORKLOADS_LEAVES_H

#define LEAF(name, body)                                                                 \
	__asm__(".pushsection .text\n"                                                   \
		".globl " #name "\n"                                                     \
		".type " #name ", %function\n"                                           \
		".p2align 4\n" #name ":\n" body "ret\n"                                  \
		".size " #name ", . - " #name "\n"                                       \
		".popsection\n");                                                        \
	void name(void)

#if defined(__x86_64__)
#define LEAF_FRAME   "push %rbp\nmov %rsp, %rbp\n"
#define LEAF_UNFRAME "pop %rbp\n"
#else
#define LEAF_FRAME   "stp x29, x30, [sp, #-16]!\nmov x29, sp\n"
#define LEAF_UNFRAME "ldp x29, x30, [sp], #16\n"
#endif

LEAF(leaf_1, "");
LEAF(leaf_2, "nop\n");
LEAF(leaf_3, "nop\nnop\n");
LEAF(leaf_4, "nop\nnop\nnop\n");
LEAF(leaf_5, "nop\nnop\nnop\nnop\n");
LEAF(leaf_frame_4, LEAF_FRAME LEAF_UNFRAME);
LEAF(leaf_frame_5, LEAF_FRAME "nop\n" LEAF_UNFRAME);

#endif
