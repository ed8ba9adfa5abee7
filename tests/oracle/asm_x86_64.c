// SPDX-License-Identifier: BSD-2-Clause
/*
 * The stepped program's assembly on x86-64. Each line says how its frame is
 * unwound, as a C library would.
 */
#include "program.h"

/* Between the two labels a jump's frame is neither here nor there, and its unwind
 * information says nothing. */
__asm__(".pushsection .text\n"
	".globl jump_set, jump_back, jump_start, jump_end\n"
	"jump_set:\n"
	"	.cfi_startproc\n"
	"	mov %rbx, (%rdi)\n"
	"	mov %rbp, 8(%rdi)\n"
	"	mov %r12, 16(%rdi)\n"
	"	mov %r13, 24(%rdi)\n"
	"	mov %r14, 32(%rdi)\n"
	"	mov %r15, 40(%rdi)\n"
	"	lea 8(%rsp), %rdx\n"
	"	mov %rdx, 48(%rdi)\n"
	"	mov (%rsp), %rdx\n"
	"	mov %rdx, 56(%rdi)\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"jump_back:\n"
	"	.cfi_startproc\n"
	"	mov (%rdi), %rbx\n"
	"	mov 16(%rdi), %r12\n"
	"	mov 24(%rdi), %r13\n"
	"	mov 32(%rdi), %r14\n"
	"	mov 40(%rdi), %r15\n"
	"	mov 56(%rdi), %rcx\n"
	"	mov $1, %eax\n"
	"	mov 8(%rdi), %rdx\n"
	"	mov 48(%rdi), %rsp\n"
	"	.cfi_endproc\n"
	"jump_start:\n"
	"	mov %rdx, %rbp\n"
	"	jmp *%rcx\n"
	"jump_end:\n"
	".globl _start\n"
	"_start:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined %rip\n"
	"	xor %ebp, %ebp\n"
	"	mov %rsp, first_sp\n"
	"	mov $158, %eax\n"    /* arch_prctl */
	"	mov $0x1002, %edi\n" /* ARCH_SET_FS */
	"	mov $thread_area + 256, %esi\n"
	"	syscall\n"
	"	mov $shadow, %edi\n"
	"	int3\n"
	"	call program\n"
	"	xor %edi, %edi\n"
	"	mov $60, %eax\n"
	"	syscall\n"
	"	.cfi_endproc\n"
	".popsection\n");

/*
 * One tells how its frame is unwound, as glibc's does; one is known by its bytes
 * alone, as musl's is. An unwinder looks a byte before either.
 */
__asm__(".pushsection .text\n"
	".globl restorer_told, restorer_bare\n"
	"	.cfi_startproc\n"
	"	.cfi_signal_frame\n"
	"	.cfi_escape 0x0f, 4, 0x77, 0xa0, 0x01, 0x06\n" /* CFA: rsp there */
	"	.cfi_escape 0x10, 16, 3, 0x77, 0xa8, 0x01\n"   /* rip */
	"	.cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0x00\n"    /* rbp */
	"	nop\n"
	"restorer_told:\n"
	"	mov $15, %rax\n"
	"	syscall\n"
	"	.cfi_endproc\n"
	"	nop\n"
	"restorer_bare:\n"
	"	mov $15, %rax\n"
	"	syscall\n"
	"	ud2\n"
	".popsection\n");

long call_kernel(long number, long a, const void *b, long c, long d)
{
	register long r10 __asm__("r10") = d;

	__asm__ volatile("syscall"
			 : "+a"(number)
			 : "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return number;
}
