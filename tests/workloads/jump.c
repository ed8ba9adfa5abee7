/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A jump back over functions on the stack, as libunwind's setcontext and small C
 * libraries' longjmp do it: in assembly, without call frame information, and long
 * enough to be sampled: before it loads anything, behind the frame pointer, and
 * behind the stack pointer, where its stack is another's already.
 *
 *	jump back MS
 *
 * Thread:  main;turn;deep;deeper;go_back
 */
#include "work.h"

#ifndef __x86_64__
#error "written for x86-64 alone"
#endif

/* 100 multiplications, 300 cycles */
#define TAKE_TIME ".rept 100\nimul %rax, %rax\n.endr\n"

int keep_place(void **place) __attribute__((returns_twice));
void go_back(void **place) __attribute__((noreturn));

/* behind the compiler's functions: of what lies before them nothing is told */
__asm__(".pushsection .text.jump, \"ax\", @progbits\n"
	".globl keep_place, go_back\n"
	".type keep_place, %function\n"
	"keep_place:\n"
	"mov %rbx, (%rdi)\nmov %rbp, 8(%rdi)\nmov %r12, 16(%rdi)\n"
	"mov %r13, 24(%rdi)\nmov %r14, 32(%rdi)\nmov %r15, 40(%rdi)\n"
	"lea 8(%rsp), %rdx\nmov %rdx, 48(%rdi)\n"
	"mov (%rsp), %rdx\nmov %rdx, 56(%rdi)\n"
	"xor %eax, %eax\nret\n"
	".size keep_place, . - keep_place\n"
	".type go_back, %function\n"
	"go_back:\n" TAKE_TIME "mov (%rdi), %rbx\nmov 8(%rdi), %rbp\nmov 16(%rdi), %r12\n"
	"mov 24(%rdi), %r13\nmov 32(%rdi), %r14\nmov 40(%rdi), %r15\n" TAKE_TIME
	"mov 48(%rdi), %rsp\n" TAKE_TIME "mov $1, %eax\njmp *56(%rdi)\n"
	".size go_back, . - go_back\n"
	".popsection\n");

static void *place[8];

FN void deeper(void)
{
	go_back(place);
}

FN void deep(void)
{
	deeper();
	AFTER();
}

FN void turn(void)
{
	if (!keep_place(place))
		deep();
	AFTER();
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return work_usage(argv[0], "back MS");
	work_lifetime(argv[2]);
	work_ready();
	for (;;)
		turn();
}
