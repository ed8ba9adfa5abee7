// SPDX-License-Identifier: BSD-2-Clause
/*
 * The stepped program's assembly on arm64. Each line says how its frame is
 * unwound, as a C library would.
 */
#include "program.h"

/* Between the two labels a jump's frame is neither here nor there. Of all that leads
 * there no unwind information is written, so what is known of it its code says. */
__asm__(".pushsection .text\n"
	".globl jump_set, jump_back, jump_start, jump_end\n"
	"jump_set:\n"
	"	.cfi_startproc\n"
	"	stp x19, x20, [x0]\n"
	"	stp x21, x22, [x0, #16]\n"
	"	stp x23, x24, [x0, #32]\n"
	"	stp x25, x26, [x0, #48]\n"
	"	stp x27, x28, [x0, #64]\n"
	"	stp x29, x30, [x0, #80]\n"
	"	mov x2, sp\n"
	"	str x2, [x0, #96]\n"
	"	mov x0, #0\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"jump_back:\n"
	"	ldp x19, x20, [x0]\n"
	"	ldp x21, x22, [x0, #16]\n"
	"	ldp x23, x24, [x0, #32]\n"
	"	ldp x25, x26, [x0, #48]\n"
	"	ldp x27, x28, [x0, #64]\n"
	"	ldp x2, x17, [x0, #80]\n"
	"	ldr x3, [x0, #96]\n"
	"	mov x0, #1\n"
	"	mov sp, x3\n"
	"jump_start:\n"
	"	mov x29, x2\n"
	"	br x17\n"
	"jump_end:\n"
	".globl _start\n"
	"_start:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined x30\n"
	"	mov x29, #0\n"
	"	mov x30, #0\n"
	"	adrp x1, first_sp\n"
	"	mov x2, sp\n"
	"	str x2, [x1, #:lo12:first_sp]\n"
	"	adrp x1, thread_area + 256\n"
	"	add x1, x1, #:lo12:thread_area + 256\n"
	"	msr tpidr_el0, x1\n"
	"	adrp x0, shadow\n"
	"	add x0, x0, #:lo12:shadow\n"
	"	brk #0\n"
	"	bl program\n"
	"	mov x0, #0\n"
	"	mov x8, #93\n"
	"	svc #0\n"
	"	.cfi_endproc\n"
	".popsection\n");

/*
 * One tells how its frame is unwound, as the kernel's own does; one is known by its
 * bytes alone. An unwinder looks a byte before either.
 */
__asm__(".pushsection .text\n"
	".globl restorer_told, restorer_bare\n"
	"	.cfi_startproc\n"
	"	.cfi_signal_frame\n"
	"	.cfi_def_cfa x29, 0\n"
	"	.cfi_offset x29, 0\n"
	"	.cfi_offset x30, 8\n"
	"	nop\n"
	"restorer_told:\n"
	"	mov x8, #139\n"
	"	svc #0\n"
	"	.cfi_endproc\n"
	"	nop\n"
	"restorer_bare:\n"
	"	mov x8, #139\n"
	"	svc #0\n"
	"	udf #0\n"
	".popsection\n");

long call_kernel(long number, long a, const void *b, long c, long d)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register const void *x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3)
			 : "memory");
	return x0;
}
