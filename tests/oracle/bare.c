// SPDX-License-Identifier: BSD-2-Clause
/*
 * Assembly as it is in video codecs and number libraries: no word of how it is unwound,
 * but branches, loops, tables of addresses, ways out in the middle, and stacks of its own
 * alignment. weft must know of each instruction of it how deep the stack is.
 */
#include "program.h"

static volatile int sink;

#if defined(__x86_64__) && !defined(FRAME_POINTERS_ALONE)
int bare_loop(int n);
int bare_table(int n);
int bare_aligned(int n);
int bare_frame(int n);

__asm__(".pushsection .text\n"
	".p2align 4\n"
	/* two ways out, of which one is reached by a branch alone */
	"bare_loop:\n"
	"	push %rbx\n"
	"	push %rbp\n"
	"	mov %edi, %ebx\n"
	"	xor %ebp, %ebp\n"
	"	test %ebx, %ebx\n"
	"	jz 2f\n"
	"1:	add %ebx, %ebp\n"
	"	dec %ebx\n"
	"	jnz 1b\n"
	"	test $1, %ebp\n"
	"	jnz 3f\n"
	"2:	mov %ebp, %eax\n"
	"	pop %rbp\n"
	"	pop %rbx\n"
	"	ret\n"
	"	.p2align 4\n"
	"3:	push %rax\n"
	"	call bare_helper\n"
	"	pop %rcx\n"
	"	jmp 2b\n"
	"	.p2align 4\n"
	"bare_helper:\n"
	"	sub $24, %rsp\n"
	"	mov %ebp, 8(%rsp)\n"
	"	inc %ebp\n"
	"	test $2, %ebp\n"
	"	jz 1f\n"
	"	add $24, %rsp\n"
	"	ret\n"
	"1:	add $24, %rsp\n"
	"	jmp bare_end\n" /* another function's */
	"	.p2align 4\n"
	/* where it goes on is in a table that nobody reads for us */
	"bare_table:\n"
	"	push %r12\n"
	"	push %r13\n"
	"	push %rbx\n"
	"	mov %edi, %eax\n"
	"	and $3, %eax\n"
	"	jmp *4f(, %rax, 8)\n"
	"	.p2align 4\n"
	"1:	mov %edi, %ebx\n"
	"	lea (%rbx, %rbx), %eax\n"
	"	jmp 3f\n"
	"	.p2align 4\n"
	"2:	mov %edi, %r12d\n"
	"	sub $64, %rsp\n"
	"	mov %r12d, (%rsp)\n"
	"	mov (%rsp), %eax\n"
	"	add $64, %rsp\n"
	"3:	pop %rbx\n"
	"	pop %r13\n"
	"	pop %r12\n"
	"	ret\n"
	"	.pushsection .rodata\n"
	"	.p2align 3\n"
	"4:	.quad 1b, 2b, 3b, 2b\n"
	"	.popsection\n"
	"	.p2align 4\n"
	"bare_end:\n"
	"	mov %edi, %eax\n"
	"	ret\n"
	"	.p2align 5\n"
	/* a register finds back, then a place on the stack does */
	"bare_aligned:\n"
	"	mov %rsp, %r10\n"
	"	and $-64, %rsp\n"
	"	sub $128, %rsp\n"
	"	movd %edi, %xmm4\n"
	"	pshufd $0, %xmm4, %xmm5\n"
	"	movdqa %xmm5, 64(%rsp)\n"
	"	test %edi, %edi\n"
	"	jz 1f\n"
	"	pxor %xmm5, %xmm4\n"
	"1:	mov 64(%rsp), %eax\n"
	"	mov %r10, %rsp\n"
	"	ret\n"
	"	.p2align 4\n"
	/* another piece of code, which keeps frame pointers */
	"	.cfi_startproc\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.p2align 4\n"
	/* as deep as it is told */
	"bare_frame:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	push %rbx\n"
	"	sub $8, %rsp\n"
	"	mov %edi, %ebx\n"
	"	shl $4, %edi\n"
	"	sub %rdi, %rsp\n"
	"	test %ebx, %ebx\n"
	"	jz 1f\n"
	"	mov %ebx, (%rsp)\n"
	"	cmp $3, %ebx\n"
	"	jl 1f\n"
	"	lea -16(%rbp), %rsp\n"
	"	mov %ebx, %eax\n"
	"	jmp 2f\n"
	"1:	xor %eax, %eax\n"
	"	lea -16(%rbp), %rsp\n"
	"2:	add $8, %rsp\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n"
	"	.p2align 4\n"
	".popsection\n");

#else /* without frame pointers that lead on, or on arm64, there is nothing to find */
static int bare_loop(int n)
{
	return n;
}

#define bare_table   bare_loop
#define bare_aligned bare_loop
#define bare_frame   bare_loop
#endif

void run_bare(void)
{
	for (int i = 0; i < 8; i++)
		sink = bare_loop(i) + bare_table(i) + bare_aligned(i) + bare_frame(i);
}
