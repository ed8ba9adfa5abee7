/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code without frame pointers between an operation and its dispatcher, written
 * in assembly so that no compiler can change its mind.
 *
 *	skip outer MS    it keeps its caller's caller's frame pointer in the register:
 *	                 a walk by frame pointers passes over the dispatcher's frame
 *	skip lost MS     it keeps no frame pointer at all: the walk breaks off there
 *
 * By frame pointers alone the dispatcher is not to be seen in the thread view;
 * its root still is, between the frames.
 *
 * Thread:  main;[dispatch;]through_outer;step
 * Async:   hop_000;hop_001;--;[through_outer;]step
 */
#include "hops.h"

void through_outer(void (*step)(void));
void through_lost(void (*step)(void));

#if defined(__x86_64__)
#define THROUGH(name, load)                                                              \
	__asm__(".pushsection .text\n.globl " #name "\n.type " #name                     \
		", %function\n" #name ":\npush %rbp\nsub $64, %rsp\n" load               \
		"\ncall *%rdi\nadd $64, %rsp\n"                                          \
		"pop %rbp\nret\n.size " #name ", . - " #name "\n.popsection\n")
THROUGH(through_outer, "mov (%rbp), %rbp");
THROUGH(through_lost, "mov $0x123, %rbp");
#else
#define THROUGH(name, load)                                                              \
	__asm__(".pushsection .text\n.globl " #name "\n.type " #name                     \
		", %function\n" #name ":\nstp x29, x30, [sp, #-80]!\n" load "\nblr x0\n" \
		"ldp x29, x30, [sp], #80\nret\n.size " #name ", . - " #name              \
		"\n.popsection\n")
THROUGH(through_outer, "ldr x29, [x29]");
THROUGH(through_lost, "mov x29, #0x123");
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
