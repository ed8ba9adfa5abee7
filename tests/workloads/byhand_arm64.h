/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The switches of byhand.c, and what its stacks begin with, on arm64. Return addresses
 * are signed where the machine can; the hints do nothing elsewhere.
 */
#ifndef WORKLOADS_BYHAND_ARM64_H
#define WORKLOADS_BYHAND_ARM64_H

#include <stdint.h>

/* What switch_hand() keeps: d8 to d15, x19 to x28, and a frame record. */
#define HAND_WORDS 20
#define X19	   8
#define X20	   9
#define RECORD	   18

void hand_begins(void);

/* As switch_hand() would have signed it, with that stack pointer. */
static inline void *hand_sign(void *address, void *sp)
{
	register uint64_t x16 __asm__("x16") = (uint64_t)sp;
	register uint64_t x17 __asm__("x17") = (uint64_t)address;

	__asm__("hint #8" : "+r"(x17) : "r"(x16)); /* pacia1716 */
	return (void *)x17;
}

static inline void hand_fill(void **sp, void *slot, void *entry, void *caller, void *fp)
{
	for (int i = 0; i < HAND_WORDS; i++)
		sp[i] = NULL;
	sp[X19] = entry;
	sp[X20] = caller;
	sp[RECORD] = fp;
	sp[RECORD + 1] = hand_sign((void *)hand_begins, slot);
}

#define SAVE                                                                             \
	"hint #25\n.cfi_negate_ra_state\n" /* paciasp */                                 \
	"sub sp, sp, #160\n.cfi_def_cfa_offset 160\n"                                    \
	"stp d8, d9, [sp]\n"                                                             \
	"stp d10, d11, [sp, #16]\n"                                                      \
	"stp d12, d13, [sp, #32]\n"                                                      \
	"stp d14, d15, [sp, #48]\n"                                                      \
	"stp x19, x20, [sp, #64]\n"                                                      \
	"stp x21, x22, [sp, #80]\n"                                                      \
	"stp x23, x24, [sp, #96]\n"                                                      \
	"stp x25, x26, [sp, #112]\n"                                                     \
	"stp x27, x28, [sp, #128]\n"                                                     \
	"stp x29, x30, [sp, #144]\n.cfi_offset x29, -16\n.cfi_offset x30, -8\n"          \
	"mov x9, sp\n"                                                                   \
	"str x9, [x0]\n"

#define SWITCH(name)                                                                     \
	".type " name ", %function\n" name ":\n.cfi_startproc\n" SAVE "mov sp, x1\n"     \
	"ldp d8, d9, [sp]\n"                                                             \
	"ldp d10, d11, [sp, #16]\n"                                                      \
	"ldp d12, d13, [sp, #32]\n"                                                      \
	"ldp d14, d15, [sp, #48]\n"                                                      \
	"ldp x19, x20, [sp, #64]\n"                                                      \
	"ldp x21, x22, [sp, #80]\n"                                                      \
	"ldp x23, x24, [sp, #96]\n"                                                      \
	"ldp x25, x26, [sp, #112]\n"                                                     \
	"ldp x27, x28, [sp, #128]\n"                                                     \
	"ldp x29, x30, [sp, #144]\n.cfi_restore x29\n.cfi_restore x30\n"                 \
	"add sp, sp, #160\n.cfi_def_cfa_offset 0\n"                                      \
	"hint #29\n.cfi_negate_ra_state\n" /* autiasp */                                 \
	"ret\n.cfi_endproc\n.size " name ", . - " name "\n"

__asm__(".pushsection .text\n.p2align 4\n" SWITCH("switch_hand") SWITCH("switch_there")
		SWITCH("switch_back")
	/* what C takes the address of must be global, or ld 2.40 gives another one */
	/* to the first function, as if what x20 holds had called it; 36 is "bti j" */
	".globl hand_begins\n.type hand_begins, %function\nhand_begins:\n"
	"hint #36\nmov x30, x20\nmov x16, x19\nbr x16\n"
	".size hand_begins, . - hand_begins\n"
	/* the last thing that this does is a call, as of a function that aborts */
	".p2align 4\n.type gives_up, %function\ngives_up:\n.cfi_startproc\n"
	"stp x29, x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n"
	".cfi_offset x29, -16\n.cfi_offset x30, -8\n"
	"bl stops\n.cfi_endproc\n.size gives_up, . - gives_up\n"
	".globl not_called\n.type not_called, %function\nnot_called:\n.cfi_startproc\n"
	"sub sp, sp, #16\n.cfi_def_cfa_offset 16\nbl stops\n.cfi_endproc\n"
	".size not_called, . - not_called\n"
	".type stops, %function\nstops:\n.cfi_startproc\n"
	"udf #0\n.cfi_endproc\n.size stops, . - stops\n"
	/* a stack begins here, with the resumer's sp in the word above */
	".p2align 4\n.type crosses, %function\ncrosses:\n.cfi_startproc\n"
	/* CFA: *sp + 160, behind what switch_hand() keeps */
	".cfi_escape 0x0f, 6, 0x8f, 0, 0x06, 0x23, 0xa0, 0x01\n"
	".cfi_offset x29, -16\n.cfi_offset x30, -8\n"
	"nop\n.globl crossing\ncrossing:\nudf #0\n.cfi_endproc\n"
	".size crosses, . - crosses\n"
	".p2align 4\n.type switch_call, %function\nswitch_call:\n.cfi_startproc\n" SAVE
	"str x0, [x1, #-16]!\n"
	"mov sp, x1\n"
	/* CFA: **sp + 160, as OCaml's assembly writes it */
	".cfi_escape 0x0f, 9, 0x8f, 0, 0x06, 0x23, 0, 0x06, 0x23, 0xa0, 0x01\n"
	"blr x2\nudf #0\n.cfi_endproc\n"
	".size switch_call, . - switch_call\n.popsection\n");

#endif
