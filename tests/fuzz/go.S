/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program with Go's table of functions, .gopclntab as Go 1.20 to 1.25 write it (and as
 * 1.26 does with -DNO_TEXT), of functions as Go's compiler and its runtime have them.
 * Built for x86-64 with -nostdlib; a seed for tests/fuzz and what tests/unit compares.
 */
#define TOP	1
#define WRITES_SP 2
#define ASSEMBLY 4

/* `bytes` of code at which sp is `change` bytes lower than before. */
#define DOWN(change, bytes) .byte (change) * 2, bytes
#define UP(change, bytes)   .byte ((change) - 1) * 2 + 1, bytes
#define FIRST(bytes)	    .byte 2, bytes /* from -1 to 0 */

	.text
	.globl _start
text:
_start:
	call run_systemstack /* as f() would */
	hlt
	.p2align 5
#ifdef CFI /* a lie */
	.cfi_startproc
	.cfi_def_cfa_offset 4096
#endif
run_main: /* main.main: a frame of 16 bytes */
	push %rbp
	mov %rsp, %rbp
	sub $16, %rsp
	call run_systemstack
	add $16, %rsp
	pop %rbp
	ret
#ifdef CFI
	.cfi_endproc
#endif
	.p2align 5
run_leaf: /* main.leaf[...] */
	lea 1(%rax), %rax
	ret
	.p2align 5
run_goexit: /* runtime.goexit */
	nop
	call run_main
	nop
	.p2align 5
run_systemstack: /* runtime.systemstack */
	push %rbp
	mov %rsp, %rbp
	mov 56(%rdx), %rsp
	call *%rdi
	mov 56(%rax), %rsp
	mov 104(%rax), %rbp
	pop %rbp
	ret
	.p2align 5
run_mcall: /* runtime.mcall */
	push %rbp
	mov %rsp, %rbp
	mov 56(%r14), %rsp
	mov $0, %rbp
	push %rax
	call *%r12
	pop %rax
	jmp run_leaf
	.p2align 5
run_morestack: /* runtime.morestack */
	mov 8(%rsp), %rax
	mov 56(%rbx), %rsp
	call run_leaf
	hlt
	.p2align 5
run_asm: /* main.asm */
	push %rbx
	nop
	pop %rbx
	ret
	.p2align 5
end:

	.section .gopclntab, "a"
	.p2align 3
table:
	.long 0xfffffff1
	.byte 0, 0, 1, 8
	.quad (entries_end - entries) / 8
	.quad 1
#ifdef NO_TEXT
	.quad 0
#else
	.quad text
#endif
	.quad names - table
	.quad units - table
	.quad files - table
	.quad steps - table
	.quad entries - table
names:
	.byte 0
name_start: .asciz "_rt0_amd64_linux"
name_main: .asciz "main.main"
name_leaf: .asciz "main.leaf[go.shape.int]"
name_goexit: .asciz "runtime.goexit"
name_systemstack: .asciz "runtime.systemstack"
name_mcall: .asciz "runtime.mcall"
name_morestack: .asciz "runtime.morestack"
name_asm: .asciz "main.asm"
units:
files:
steps:
	.byte 0
steps_start: FIRST(6); .byte 0
steps_main: FIRST(1); DOWN(8, 7); DOWN(16, 9); UP(16, 1); UP(8, 1); .byte 0
steps_leaf: FIRST(5); .byte 0
steps_goexit: FIRST(7); .byte 0
steps_systemstack: FIRST(1); DOWN(8, 18); UP(8, 1); .byte 0
steps_mcall: FIRST(1); DOWN(8, 15); DOWN(8, 4); UP(8, 2); .byte 0
steps_morestack: FIRST(15); .byte 0
steps_asm: FIRST(1); DOWN(8, 2); UP(8, 1); .byte 0
	.p2align 3
#define ENTRY(f) .long run_##f - text, record_##f - entries
#define RECORD(f, flags)                                                           \
record_##f:                                                                        \
	.long run_##f - text, name_##f - names, 0, 0, steps_##f - steps, 0, 0, 0, 0, 1; \
	.byte 0, flags, 0, 0
	.set run_start, text
entries:
	ENTRY(start)
	ENTRY(main)
	ENTRY(leaf)
	ENTRY(goexit)
	ENTRY(systemstack)
	ENTRY(mcall)
	ENTRY(morestack)
	ENTRY(asm)
entries_end:
	.long end - text
RECORD(start, ASSEMBLY)
RECORD(main, 0)
RECORD(leaf, 0)
RECORD(goexit, TOP | ASSEMBLY)
RECORD(systemstack, WRITES_SP | ASSEMBLY)
RECORD(mcall, WRITES_SP | ASSEMBLY)
RECORD(morestack, WRITES_SP | ASSEMBLY)
RECORD(asm, ASSEMBLY)

	.section .go.module, "aw"
	.quad table
	.fill 19, 8, 0
	.quad text, end, text, end
	.section .note.GNU-stack, ""
