/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program with Go's table of functions, .gopclntab as Go 1.20 to 1.25 write it (and as
 * 1.26 does with -DNO_TEXT, 1.18 with -DGO_1_18, and C's linker leaves it with -DMERGED),
 * of functions as Go's compiler and its runtime have them. Into main.main another one is
 * inlined, and a third one into that. Built for x86-64 or arm64 with -nostdlib; a seed for
 * tests/fuzz and what tests/unit compares.
 */
#define TOP	1
#define WRITES_SP 2
#define ASSEMBLY 4

/* `code` at which sp is `change` bytes lower than before, in steps: x86-64's bytes, arm64's
 * instructions. */
#define DOWN(change, code) .uleb128 (change) * 2, code
#define UP(change, code)   .uleb128 ((change) - 1) * 2 + 1, code
#define FIRST(code)	   .byte 2, code /* from -1 to 0 */
/* The same of other values, which begin at -1. */
#define MORE(change, code) .byte (change) * 2, code
#define LESS(change, code) .byte ((change) - 1) * 2 + 1, code

	.text
	.globl _start
text:
#ifdef __aarch64__
_start:
	bl run_systemstack /* as f() would */
	brk #0
	.p2align 5
run_main: /* main.main: a frame of 32 bytes */
	str x30, [sp, #-32]!
	stur x29, [sp, #-8]
	sub x29, sp, #8
	bl run_systemstack
	ldur x29, [sp, #-8]
	ldr x30, [sp], #32
	ret
	.p2align 5
run_leaf: /* main.leaf[...] */
	add x0, x0, #1
	ret
	.p2align 5
run_goexit: /* runtime.goexit */
	nop
	bl run_main
	nop
	.p2align 5
run_systemstack: /* runtime.systemstack */
	str x30, [sp, #-16]!
	stur x29, [sp, #-8]
	sub x29, sp, #8
	ldr x3, [x28, #56]
	mov sp, x3
	ldr x3, [x26]
	blr x3
	ldr x0, [x28, #56]
	mov sp, x0
	ldr x29, [x28, #96]
	ldur x29, [sp, #-8]
	ldr x30, [sp], #16
	ret
	ldr x30, [sp], #16
	sub x29, sp, #8
	br x3
	.p2align 5
run_old: /* runtime.systemstack, which takes the scheduler's frame pointer, too */
	str x30, [sp, #-16]!
	stur x29, [sp, #-8]
	sub x29, sp, #8
	ldr x3, [x28, #56]
	mov sp, x3
	ldr x29, [x28, #104]
	ldr x3, [x26]
	blr x3
	ldr x3, [x28, #48]
	ldr x28, [x3, #184]
	ldr x0, [x28, #56]
	mov sp, x0
	ldp x29, x30, [sp, #-8]
	add sp, sp, #16
	ret
	.p2align 5
run_schedule: /* runtime.schedule */
	brk #0
	.p2align 5
run_newstack: /* runtime.newstack */
	str x30, [sp, #-16]!
	stur x29, [sp, #-8]
	sub x29, sp, #8
	bl run_schedule
	bl run_leaf
	ldur x29, [sp, #-8]
	ldr x30, [sp], #16
	ret
	.p2align 5
run_mcall: /* runtime.mcall */
	mov x0, sp
	bl run_leaf
	ldr x0, [x28, #56]
	mov sp, x0
	mov x29, xzr
	blr x4
	b run_leaf
	.p2align 5
run_morestack: /* runtime.morestack */
	str x3, [x28, #88]
	ldr x0, [x28, #56]
	mov sp, x0
	bl run_leaf
	brk #0
	.p2align 5
run_cgo: /* runtime.asmcgocall */
	str x30, [sp, #-16]!
	stur x29, [sp, #-8]
	sub x29, sp, #8
	ldr x0, [x28, #56]
	mov sp, x0
	ldr x29, [x28, #96]
	mov x13, sp
	sub x13, x13, #16
	mov sp, x13
	str x4, [sp]
	str x4, [sp, #8]
	blr x1
	mov sp, x5
	ldur x29, [sp, #-8]
	ldr x30, [sp], #16
	ret
	.p2align 5
run_asm: /* main.asm */
	str x19, [sp, #-16]!
	nop
	ldr x19, [sp], #16
	ret
	.p2align 5
run_big: /* main.asm: how larger frames are made */
	sub x20, sp, #160
	stp x29, x30, [x20, #-8]
	mov sp, x20
	sub x29, sp, #8
	bl run_leaf
	ldur x29, [sp, #-8]
	ldr x30, [sp], #160
	ret
	.p2align 5
run_still: /* main.asm: calls nobody, and writes over its return address in memory */
	str x30, [sp, #-32]!
	stur x29, [sp, #-8]
	sub x29, sp, #8
	str w2, [sp]
	add x29, sp, #24
	add sp, sp, #32
	ret
	.p2align 5
run_preempt: /* runtime.asyncPreempt: what is pushed before it is not its own */
	stur x30, [sp, #-240]
	sub sp, sp, #240
	stur x29, [sp, #-8]
	sub x29, sp, #8
	bl run_leaf
	ldr x30, [sp, #240]
	ldur x29, [sp, #-8]
	ldr x27, [sp]
	add sp, sp, #256
	br x27
	.p2align 5
#else
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
run_old: /* runtime.systemstack, before Go 1.21 */
	mov 56(%rdx), %rbx
	mov %rbx, %rsp
	call *%rdi
#ifdef FAR_G
	mov $-8, %rcx
	mov %fs:(%rcx), %rax
#else
	mov %fs:-8, %rax
#endif
	mov 48(%rax), %rbx
	mov 192(%rbx), %rax
#ifdef FAR_G
	mov %rax, %fs:(%rcx)
#else
	mov %rax, %fs:-8
#endif
	mov 56(%rax), %rsp
	movq $0, 56(%rax)
	ret
	.p2align 5
run_schedule: /* runtime.schedule */
	hlt
	.p2align 5
run_newstack: /* runtime.newstack */
	push %rbp
	mov %rsp, %rbp
	call run_schedule
	call run_leaf
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
run_tail: /* main.asm: goes on behind its ret */
	push %rbp
0:	nop
	jne 1f
	pop %rbp
	ret
1:	nop
	jmp 0b
	.p2align 5
run_race: /* main.asm: calls C, and keeps its stack in a register */
	mov %rsp, %r12
	mov 56(%r10), %rsp
	and $-16, %rsp
	call *%rax
	mov %r12, %rsp
	ret
	.p2align 5
run_asan: /* main.asm: the same, with a frame */
	push %rbp
	mov %rsp, %rbp
	mov %rsp, %r12
	mov 56(%r10), %rsp
	call *%rax
	mov %r12, %rsp
	pop %rbp
	ret
	.p2align 5
#endif
end:

#ifdef MERGED
	.section .go.buildinfo, "a"
	.quad 0
	.section .data.rel.ro, "aw"
	.p2align 5
	.fill 8, 8, 1
#else
	.section .gopclntab, "a"
	.p2align 3
#endif
table:
#ifdef GO_1_18
	.long 0xfffffff0
#else
	.long 0xfffffff1
#endif
#ifdef __aarch64__
	.byte 0, 0, 4, 8
#else
	.byte 0, 0, 1, 8
#endif
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
name_schedule: .asciz "runtime.schedule"
name_newstack: .asciz "runtime.newstack"
name_cgo: .asciz "runtime.asmcgocall"
name_preempt: .asciz "runtime.asyncPreempt"
	.set name_old, name_systemstack
	.set name_big, name_asm
	.set name_still, name_asm
	.set name_tail, name_asm
	.set name_race, name_asm
	.set name_asan, name_asm
name_inlined: .asciz "main.inlined"
name_deep: .asciz "main.deep"
	.p2align 2
units: /* of a unit before, then of main's */
	.long -1, file_main - files, file_other - files
files:
file_main: .asciz "/src/main.go"
file_other: .asciz "/src/other.go"
steps:
	.byte 0
#ifdef __aarch64__
steps_start: FIRST(2); .byte 0
steps_main: FIRST(1); DOWN(32, 5); UP(32, 1); .byte 0
steps_leaf: FIRST(2); .byte 0
steps_goexit: FIRST(3); .byte 0
steps_systemstack: FIRST(1); DOWN(16, 11); UP(16, 1); DOWN(16, 1); UP(16, 2); .byte 0
steps_mcall: FIRST(7); .byte 0
steps_morestack: FIRST(5); .byte 0
steps_asm: FIRST(1); DOWN(16, 2); UP(16, 1); .byte 0
steps_old: FIRST(1); DOWN(16, 13); UP(16, 1); .byte 0
steps_schedule: FIRST(1); .byte 0
steps_newstack: FIRST(1); DOWN(16, 6); UP(16, 1); .byte 0
steps_big: FIRST(3); DOWN(160, 4); UP(160, 1); .byte 0
steps_cgo: FIRST(1); DOWN(16, 14); UP(16, 1); .byte 0
steps_still: FIRST(1); DOWN(32, 5); UP(32, 1); .byte 0
steps_preempt: FIRST(2); DOWN(240, 7); UP(256, 1); .byte 0
#else
steps_start: FIRST(6); .byte 0
steps_main: FIRST(1); DOWN(8, 7); DOWN(16, 9); UP(16, 1); UP(8, 1); .byte 0
steps_leaf: FIRST(5); .byte 0
steps_goexit: FIRST(7); .byte 0
steps_systemstack: FIRST(1); DOWN(8, 18); UP(8, 1); .byte 0
steps_mcall: FIRST(1); DOWN(8, 15); DOWN(8, 4); UP(8, 2); .byte 0
steps_morestack: FIRST(15); .byte 0
steps_asm: FIRST(1); DOWN(8, 2); UP(8, 1); .byte 0
steps_tail: FIRST(1); DOWN(8, 4); UP(8, 1); DOWN(8, 3); .byte 0
steps_race: FIRST(17); .byte 0
steps_asan: FIRST(1); DOWN(8, 16); UP(8, 1); .byte 0
#ifdef FAR_G
steps_old: FIRST(48); .byte 0
#else
steps_old: FIRST(51); .byte 0
#endif
steps_schedule: FIRST(1); .byte 0
steps_newstack: FIRST(1); DOWN(8, 14); UP(8, 1); .byte 0
#endif
files_main: MORE(1, 4); MORE(1, 4); LESS(1, 24); .byte 0
lines_main: MORE(11, 4); LESS(3, 4); MORE(13, 5); LESS(9, 19); .byte 0
calls_main: MORE(0, 4); MORE(2, 4); LESS(1, 5); LESS(1, 19); .byte 0
	.p2align 3
#define ENTRY(f) .long run_##f - text, record_##f - entries
#ifdef GO_1_18
#define STARTS_AT(line)
#else
#define STARTS_AT(line) .long line
#endif
#define RECORD(f, flags)                                                           \
record_##f:                                                                        \
	.long run_##f - text, name_##f - names, 0, 0, steps_##f - steps, 0, 0, 0, 0;    \
	STARTS_AT(1);                                                              \
	.byte 0, flags, 0, 0
	.set run_start, text
entries:
	ENTRY(start)
	ENTRY(main)
	ENTRY(leaf)
	ENTRY(goexit)
	ENTRY(systemstack)
	ENTRY(old)
	ENTRY(schedule)
	ENTRY(newstack)
	ENTRY(mcall)
	ENTRY(morestack)
#ifdef __aarch64__
	ENTRY(cgo)
#endif
	ENTRY(asm)
#ifdef __aarch64__
	ENTRY(big)
	ENTRY(still)
	ENTRY(preempt)
#else
	ENTRY(tail)
	ENTRY(race)
	ENTRY(asan)
#endif
entries_end:
	.long end - text
RECORD(start, ASSEMBLY)
record_main:
	.long run_main - text, name_main - names, 0, 0, steps_main - steps
	.long files_main - steps, lines_main - steps, 3, 1
	STARTS_AT(9)
	.byte 0, 0, 0, 4
	.long 0, 0, calls_main - steps
	.long -1, -1, -1, calls - funcdata
RECORD(leaf, 0)
RECORD(goexit, TOP | ASSEMBLY)
RECORD(systemstack, WRITES_SP | ASSEMBLY)
RECORD(old, WRITES_SP | ASSEMBLY)
RECORD(schedule, 0)
RECORD(newstack, 0)
RECORD(mcall, WRITES_SP | ASSEMBLY)
RECORD(morestack, WRITES_SP | ASSEMBLY)
RECORD(asm, ASSEMBLY)
#ifdef __aarch64__
RECORD(cgo, WRITES_SP | ASSEMBLY)
RECORD(big, ASSEMBLY)
RECORD(still, ASSEMBLY)
RECORD(preempt, WRITES_SP | ASSEMBLY)
#else
RECORD(tail, ASSEMBLY)
RECORD(race, WRITES_SP | ASSEMBLY)
RECORD(asan, WRITES_SP | ASSEMBLY)
#endif


#ifndef NO_TEXT
	.section .funcdata, "a"
#endif
	.p2align 3
funcdata:
	.quad -1
calls: /* 0: into main.main, called at its byte 13; 1: into 0, at byte 8 */
#ifdef GO_1_18
	.short -1; .byte 0, 0; .long 0, 11, name_inlined - names, 13
	.short 0; .byte 0, 0; .long 0, 20, name_deep - names, 8
#else
	.byte 0, 0, 0, 0; .long name_inlined - names, 13, 1
	.byte 0, 0, 0, 0; .long name_deep - names, 8, 1
#endif
table_end:

#ifdef NO_TEXT
	.section .go.module, "aw"
#else
	.section .noptrdata, "aw"
	.p2align 3
	.quad table, 0, table
#endif
module:
	.quad table
	.quad names, units - names, units - names
	.quad units, 3, 3
	.quad files, steps - files, steps - files
	.quad steps, entries - steps, entries - steps
	.quad entries, 1, 1, entries, 1, 1, 0
	.quad text, end, text, end
#ifdef GO_1_18
	.fill 14, 8, 0
#else
	.fill 16, 8, 0
#endif
	.quad funcdata, table_end
	.fill 8, 8, 0
	.section .note.GNU-stack, ""
