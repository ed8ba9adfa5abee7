/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program with Go's table of functions, .gopclntab as Go 1.20 to 1.25 write it (and as
 * 1.26 does with -DNO_TEXT, 1.18 with -DGO_1_18, and C's linker leaves it with -DMERGED),
 * of functions as Go's compiler and its runtime have them. Into main.main another one is
 * inlined, and a third one into that. Built for x86-64 with -nostdlib; a seed for
 * tests/fuzz and what tests/unit compares.
 */
#define TOP	1
#define WRITES_SP 2
#define ASSEMBLY 4

/* `bytes` of code at which sp is `change` bytes lower than before. */
#define DOWN(change, bytes) .byte (change) * 2, bytes
#define UP(change, bytes)   .byte ((change) - 1) * 2 + 1, bytes
#define FIRST(bytes)	    .byte 2, bytes /* from -1 to 0 */
/* The same of other values, which begin at -1. */
#define MORE(change, bytes) .byte (change) * 2, bytes
#define LESS(change, bytes) .byte ((change) - 1) * 2 + 1, bytes

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
steps_start: FIRST(6); .byte 0
steps_main: FIRST(1); DOWN(8, 7); DOWN(16, 9); UP(16, 1); UP(8, 1); .byte 0
files_main: MORE(1, 4); MORE(1, 4); LESS(1, 24); .byte 0
lines_main: MORE(11, 4); LESS(3, 4); MORE(13, 5); LESS(9, 19); .byte 0
calls_main: MORE(0, 4); MORE(2, 4); LESS(1, 5); LESS(1, 19); .byte 0
steps_leaf: FIRST(5); .byte 0
steps_goexit: FIRST(7); .byte 0
steps_systemstack: FIRST(1); DOWN(8, 18); UP(8, 1); .byte 0
steps_mcall: FIRST(1); DOWN(8, 15); DOWN(8, 4); UP(8, 2); .byte 0
steps_morestack: FIRST(15); .byte 0
steps_asm: FIRST(1); DOWN(8, 2); UP(8, 1); .byte 0
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
	ENTRY(mcall)
	ENTRY(morestack)
	ENTRY(asm)
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
RECORD(mcall, WRITES_SP | ASSEMBLY)
RECORD(morestack, WRITES_SP | ASSEMBLY)
RECORD(asm, ASSEMBLY)


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
