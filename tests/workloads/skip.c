/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code without frame pointers between an operation and its dispatcher, written
 * in assembly so that no compiler can change its mind.
 *
 *	skip outer MS    it keeps its caller's caller's frame pointer in the register:
 *	                 a walk by frame pointers passes over the dispatcher's frame,
 *	                 and its unwind table knows better
 *	skip lost MS     it keeps no frame pointer at all and has no unwind table: the
 *	                 walk breaks off there
 *
 * Where the dispatcher is not to be seen in the thread view, its root still is,
 * between the frames.
 *
 * Thread:  main;[dispatch;]through_outer;step
 * Async:   hop_000;hop_001;--;[through_outer;]step
 */
#include "hops.h"

void through_outer(void (*step)(void));
void through_lost(void (*step)(void));

#define FUNCTION(name, body)                                                             \
	__asm__(".pushsection .text\n.globl " #name "\n.type " #name                     \
		", %function\n" #name ":\n" body ".size " #name ", . - " #name           \
		"\n.popsection\n")

#if defined(__x86_64__)
FUNCTION(through_outer, ".cfi_startproc\npush %rbp\n.cfi_adjust_cfa_offset 8\n"
			".cfi_offset %rbp, -16\nsub $64, %rsp\n"
			".cfi_adjust_cfa_offset 64\nmov (%rbp), %rbp\ncall *%rdi\n"
			"add $64, %rsp\n.cfi_adjust_cfa_offset -64\npop %rbp\n"
			".cfi_adjust_cfa_offset -8\n.cfi_restore %rbp\nret\n"
			".cfi_endproc\n");
FUNCTION(through_lost, "push %rbp\nsub $64, %rsp\nmov $0x123, %rbp\ncall *%rdi\n"
		       "add $64, %rsp\npop %rbp\nret\n");
#else
FUNCTION(through_outer, ".cfi_startproc\nstp x29, x30, [sp, #-80]!\n"
			".cfi_adjust_cfa_offset 80\n.cfi_offset x29, -80\n"
			".cfi_offset x30, -72\nldr x29, [x29]\nblr x0\n"
			"ldp x29, x30, [sp], #80\n.cfi_adjust_cfa_offset -80\n"
			".cfi_restore x29\n.cfi_restore x30\nret\n.cfi_endproc\n");
FUNCTION(through_lost, "stp x29, x30, [sp, #-80]!\nmov x29, #0x123\nblr x0\n"
		       "ldp x29, x30, [sp], #80\nret\n");
#endif

FN void step(void)
{
	spin(360);
}

#define DISPATCH(name, through)                                                          \
	FN void name(struct weft_frame *leaf)                                            \
	{                                                                                \
		WEFT_ROOT_SCOPE(leaf);                                                   \
		for (;;)                                                                 \
			through(step);                                                   \
	}

DISPATCH(dispatch_outer, through_outer)
DISPATCH(dispatch_lost, through_lost)

int main(int argc, char **argv)
{
	struct weft_frame frames[2], *leaf;

	if (argc < 3)
		return work_usage(argv[0], "outer|lost MS");
	work_lifetime(argv[2]);
	leaf = hops_chain(frames, 2, 0, NULL);
	work_ready();
	if (!strcmp(argv[1], "outer"))
		dispatch_outer(leaf);
	else
		dispatch_lost(leaf);
	return 2;
}
