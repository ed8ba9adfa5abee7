// SPDX-License-Identifier: BSD-2-Clause
/*
 * Assembly with branches of which no call frame information is written: its pieces tell
 * by their rets how deep the stack is, and contradictions silence them.
 */
#include "gap_code.h"

#define LONG_NOP "nopw 8(%rax, %rax);"

static void test_branches(void **state)
{
	/* a return in the middle, and behind it what a branch leads to */
	ASSERT_TOLD(FILL "push %rbx; test %eax, %eax; jz 1f; pop %rbx; ret; nop;"
			 "1: mov %eax, %ebx; pop %rbx; ret",
		    FILL_TOLD "122222"
			      "1"
			      ".222"
			      "1");
	/* a loop, and jumps between functions, as codecs have them */
	ASSERT_TOLD(FILL "sub $16, %rsp; 1: dec %eax; jnz 1b; add $16, %rsp; jmp 2f; nop;"
			 "sub $24, %rsp; add $24, %rsp; 2: ret",
		    FILL_TOLD "11113333333311.111144441");
}

#define PROBES(compare)                                                                  \
	"sub $16, %rsp; orq $0, (%rsp);" compare "; sub $8, %rsp; add $40, %rsp; ret"

/* A frame whose pages are probed, one each time: a register says where that ends. */
static void test_probes(void **state)
{
	ASSERT_TOLD(FILL "lea -32(%rsp), %r11; 1:" PROBES("cmp %r11, %rsp; jne 1b"),
		    FILL_TOLD "11111"
			      "=============="
			      "555566661");
	ASSERT_TOLD(FILL
		    "mov %rsp, %rcx; sub $32, %rcx; 1:" PROBES("cmp %rcx, %rsp; jne 1b"),
		    FILL_TOLD "1111111"
			      "=============="
			      "555566661");
	/* by another register, condition or comparison, or further on */
	ASSERT_NOTHING(FILL "lea -32(%rsp), %r11; 1:" PROBES("cmp %r10, %rsp; jne 1b"));
	ASSERT_NOTHING(FILL "lea -32(%rsp), %r11; 1:" PROBES("cmp %r11, %rsp; ja 1b"));
	ASSERT_NOTHING(FILL "lea -32(%rsp), %r11; 1:" PROBES("cmp %rsp, %r11; jne 1b"));
	ASSERT_NOTHING(FILL "lea -32(%rsp), %r11; 1:" PROBES(
		"cmp %r11, %rsp; test %eax, %eax; jne 1b"));
}

/* What a table of addresses leads to is told by its own way out. */
static void test_jump_table(void **state)
{
	ASSERT_TOLD(FILL "push %rbx; push %r12; jmp *(%rax); nop; int3;"
			 "inc %eax; pop %r12; pop %rbx; ret; inc %ebx; jmp 1f; nop;"
			 "1: pop %r12; pop %rbx; ret",
		    FILL_TOLD "12233..33332133"
			      "33.3321");
}

/* Where nobody knows the entry, the caller's frame pointer is where it is popped from. */
static void test_what_is_popped(void **state)
{
#define TABLE	   FILL "push %rbp; push %rbx; mov %eax, %ebp; jmp *(%rax); nop; int3;"
#define TABLE_TOLD FILL_TOLD "1bcccc.."
	ASSERT_TOLD(TABLE
		    "inc %ebp; pop %rbx; pop %rbp; ret; mov %ebx, %ebp; jmp 1f; nop;"
		    "1: pop %rbx; pop %rbp; ret",
		    TABLE_TOLD "cccb1"
			       "cccc.cb1");
	/* behind a call before an aligned address, where another may begin */
	ASSERT_TOLD(FILL
		    "push %rbp; mov %eax, %ebp; test %eax, %eax; jz 1f; xor %eax, %eax;"
		    "call *8(%rcx); 1: inc %ebp; pop %rbp; ret",
		    FILL_TOLD "1bbbbbbbbbbb"
			      "bbb1");
	/* and it is not once it was taken down, nor before it was put up */
	ASSERT_TOLD(TABLE "pop %rbx; pop %rbp; push %rbp; inc %ebp; pop %rbp; ret",
		    TABLE_TOLD "cb1bbb1");
	/* what lies there is another one's by then */
	ASSERT_TOLD(TABLE "mov %rcx, 8(%rsp); inc %ebp; pop %rbx; pop %rbp; ret",
		    TABLE_TOLD "CCCCCcccb1");
	/* ways that differ */
	ASSERT_TOLD(TABLE "test %eax, %eax; jz 1f; pop %rbx; pop %rbp; ret;"
			  "1: pop %rbp; pop %rbx; ret",
		    TABLE_TOLD "CCCCcb1"
			       "c21");
	/* nor from where no frame reaches: in words it would not fit a rule */
	ASSERT_TOLD(TABLE "mov -0x100000(%rsp), %rbp; add $16, %rsp; ret",
		    TABLE_TOLD "CCCCCCCCCCCCA");
	/* a function that gives back another one is not believed at all */
	ASSERT_TOLD(TABLE "test %eax, %eax; jz 1f; pop %rbx; pop %rbp; ret;"
			  "1: mov %eax, %ebp; add $16, %rsp; ret",
		    TABLE_TOLD "CCCCCBACCCCCCA");
}

/* As Free Pascal's: an odd number of them before an aligned function, whose first byte
 * would be taken for theirs. */
static void test_zeroes_between(void **state)
{
	ASSERT_TOLD(".p2align 4, 0x90; push %rbx; call *(%rdi); pop %rbx; ret;"
		    ".p2align 4, 0; push %rbx; call *(%rdi); pop %rbx; ret; nop",
		    "...............12221...........12221.");
	ASSERT_TOLD(".p2align 4, 0x90; push %rbx; 1: dec %ecx; jnz 1b; pop %rbx; ret;"
		    ".p2align 4, 0; push %rbx; 1: dec %ecx; jnz 1b; pop %rbx; ret",
		    "...............1222221.........1222221");
	/* a single one: the next would be add %dl, 0x48(%rbx) */
	ASSERT_TOLD(".p2align 4, 0x90; push %rbx; call *(%rdi); mov (%rax), %rcx;"
		    "mov (%rax), %rcx; xor %ecx, %ecx; xor %edx, %edx; pop %rbx; ret;"
		    ".byte 0;"
		    "push %rbx; mov %rax, %rcx; call *(%rdi); pop %rbx; ret",
		    "...............122222222222221.12222221");
}

/* As allocators keep before blocks of code: PCRE2's, whose JIT generates them. The first
 * of these would be enter, and lose the stack pointer. */
static void test_number_before(void **state)
{
	ASSERT_TOLD(".p2align 4, 0x90; push %rbx; pop %rbx; ret; .p2align 4, 0x90;"
		    ".quad 0x3c8; push %rbx; 1: call *(%rdi); jmp 1b",
		    "...............121.....................12222");
	/* of a movabs the same bytes are a part */
	ASSERT_TOLD(".p2align 4, 0x90; push %rbx; pop %rbx; ret; .p2align 3, 0x90;"
		    "movabs $0, %rax; push %rbx; pop %rbx; ret",
		    "...............121.....1111111111121");
}

/* Calls come back if what they lead to returns. */
static void test_calls(void **state)
{
	ASSERT_TOLD(FILL "push %rbx; call 1f; pop %rbx; ret; 1: push %rax; pop %rax; ret",
		    FILL_TOLD "12222221121");
	ASSERT_TOLD(FILL "push %rbx; call 1f; pop %rbx; ret; 1: ud2",
		    FILL_TOLD "1222222111");
	/* padding shows that this one doesn't, whatever it looks like */
	ASSERT_TOLD(FILL "sub $8, %rsp; call 1f;" LONG_NOP "push %rbx; pop %rbx; ret;"
			 "1: push %rax; pop %rax; ret",
		    FILL_TOLD "111122222......121121");
}

/* What never returns is known by its calls: with an aligned stack, so it began with a
 * return address alone. */
static void test_endless(void **state)
{
	ASSERT_TOLD(FILL "push %rbx; 1: test %eax, %eax; jz 2f; call *%rdx; jmp 1b;"
			 "2: mov %ebx, %edi; call *%rcx; ud2",
		    FILL_TOLD "122222222222222");
	/* at a label */
	ASSERT_NOTHING(FILL "1: call *%rdx; jmp 1b");
	/* two that differ: the first may not come back */
	ASSERT_TOLD(FILL "push %rbx; call *%rdx; push %rbx; 1: call *%rdx; jmp 1b",
		    FILL_TOLD "122.....");
	/* and a label of the same function */
	ASSERT_TOLD(FILL "push %rbx; call *%rdx; jmp *(%rax); nop;"
			 "inc %ebx; 1: call *%rdx; jmp 1b",
		    FILL_TOLD "12222.......");
}

/* GHC's code calls as it was called, but keeps no return address where it begins: it goes
 * off with an empty stack, by what its own stack says. */
static void test_no_return_address(void **state)
{
	ASSERT_NOTHING(FILL "sub $8, %rsp; call *%rdx; add $8, %rsp; jmp *(%rbp)");
	ASSERT_NOTHING(FILL "test %eax, %eax; jz 1f; sub $8, %rsp; call *%rdx; ud2;"
			    "1: jmp *(%rbp)");
	/* behind a call that leads to an aligned address */
	ASSERT_NOTHING(FILL "sub $8, %rsp; mov $1, %eax; mov $1, %ecx; call *%rdx;"
			    "add $8, %rsp; jmp *(%rbp)");
	/* with a frame, it is a table's jump */
	ASSERT_TOLD(FILL "sub $8, %rsp; call *%rdx; jmp *(%rbp)", FILL_TOLD "111122222");
}

/* Between a call and the head of a loop is padding, as between functions. */
static void test_loop_behind_padding(void **state)
{
#define SET_UP	    FILL "push %rbx; call *%rcx;" LONG_NOP
#define SET_UP_TOLD FILL_TOLD "122222222"
	ASSERT_TOLD(SET_UP "1: mov %ebx, %edi; call *%rdx; jmp 1b", SET_UP_TOLD "222222");
	/* a function: it is called, or its address is taken, or it aligns its stack */
	ASSERT_TOLD(SET_UP
		    "1: mov %ebx, %edi; call *%rdx; jmp 1b; nop; jmp *%rax; call 1b;"
		    "jmp *%rax",
		    FILL_TOLD "122......111111..........");
	ASSERT_TOLD(SET_UP "1: mov %ebx, %edi; call *%rdx; jmp 1b; nop;"
			   "lea 1b(%rip), %rdi; ret",
		    FILL_TOLD "122.............11111111");
	ASSERT_TOLD(SET_UP "push %rax; 1: mov %ebx, %edi; call *%rdx; jmp 1b",
		    FILL_TOLD "122......1222222");
	/* others come there, too, with more on the stack */
	ASSERT_TOLD(SET_UP "1: mov %ebx, %edi; call *%rdx; jmp 1b; nop;"
			   "inc %ebx; push %rax; push %rax; jmp 1b",
		    FILL_TOLD "122...................");
}

/* A system call keeps the stack; a signal handler's return goes nowhere, and what lies
 * behind it is another function. */
static void test_system_calls(void **state)
{
	ASSERT_TOLD(FILL "push %rbx; syscall; test %eax, %eax; js 1f; pop %rbx; ret;"
			 "1: neg %eax; pop %rbx; ret",
		    FILL_TOLD "12222222"
			      "1222"
			      "1");
	ASSERT_TOLD(FILL "mov $15, %eax; syscall; test %eax, %eax; jz 1f;"
			 "1: push %rbx; pop %rbx; ret",
		    "......................1111121");
}

/* V8's builtins take their caller's arguments off the stack: no depth holds behind a call
 * among them. C does not. */
static void test_arguments_that_are_taken(void **state)
{
#define CALLER	    "push %rbx; test %eax, %eax; jz 1f; call *%rdx; 1: pop %rbx; ret;"
#define CALLER_TOLD "122222221"
	ASSERT_TOLD(FILL CALLER "push %rcx; pop %rcx; ret", FILL_TOLD CALLER_TOLD "121");
	ASSERT_NOTHING(FILL CALLER "push %rcx; pop %rcx; ret $16");
	/* no words, so it is data */
	ASSERT_TOLD(FILL CALLER "push %rcx; pop %rcx; ret $0x1234",
		    FILL_TOLD CALLER_TOLD ".....");
}

static void test_frame_pointer(void **state)
{
	ASSERT_TOLD(FILL "push %rbp; mov %rsp, %rbp; sub %rax, %rsp; test %eax, %eax;"
			 "jz 1f; nop; 1: leave; ret",
		    FILL_TOLD "1bbbbbb||||||1");
	ASSERT_TOLD(FILL "push %rbp; mov %rsp, %rbp; and $-32, %rsp; inc %eax;"
			 "lea -8(%rbp), %rsp; pop %rbx; pop %rbp; ret",
		    FILL_TOLD "1bbbbbbb||||||cb1");
	ASSERT_TOLD(FILL "sub $16, %rsp; mov %rbp, 8(%rsp); xor %ebp, %ebp; jz 1f; nop;"
			 "1: mov 8(%rsp), %rbp; add $16, %rsp; ret",
		    FILL_TOLD "111133333cccccccccc33331");
}

/* As clang makes room for an array, and JavaScriptCore for arguments: the stack pointer
 * comes back from a register that counted from it. That is no other stack. */
static void test_room_by_register(void **state)
{
#define FRAME_BEGUN	 FILL "push %rbp; mov %rsp, %rbp;"
#define FRAME_BEGUN_TOLD FILL_TOLD "1bbb"
#define BACK		 "jz 1f; nop; 1: mov %rbp, %rsp; pop %rbp; ret"
#define BACK_TOLD	 "||||||b1"
	ASSERT_TOLD(FRAME_BEGUN "mov %rsp, %rcx; sub %rax, %rcx; mov %rcx, %rsp;" BACK,
		    FRAME_BEGUN_TOLD "bbbbbbbbb" BACK_TOLD);
	ASSERT_TOLD(FRAME_BEGUN
		    "neg %rax; add %rbp, %rax; and $-16, %rax; mov %rax, %rsp;" BACK,
		    FRAME_BEGUN_TOLD "bbbbbbbbbbbbb" BACK_TOLD);
	ASSERT_TOLD(FRAME_BEGUN
		    "lea (%rsp, %rax, 8), %rcx; mov %rcx, %rdx; mov %rdx, %rsp;" BACK,
		    FRAME_BEGUN_TOLD "bbbbbbbbbb" BACK_TOLD);
	ASSERT_TOLD(FRAME_BEGUN "mov %rsp, %rcx; sub 8(%rdi), %rcx; mov %rcx, %rsp;" BACK,
		    FRAME_BEGUN_TOLD "bbbbbbbbbb" BACK_TOLD);
	/* by turns, with the stack pointer unknown already */
	ASSERT_TOLD(FRAME_BEGUN "sub %rax, %rsp; mov %rsp, %rcx; sub %rax, %rcx;"
				"mov %rcx, %rsp;" BACK,
		    FRAME_BEGUN_TOLD "bbb|||||||||" BACK_TOLD);
	/* without a frame pointer another register finds back */
	ASSERT_TOLD(FILL "mov %rsp, %rcx; mov %rsp, %rdx; sub %rax, %rcx; mov %rcx, %rsp;"
			 "jz 1f; nop; 1: mov %rdx, %rsp; ret",
		    FILL_TOLD "111111111111======1");
}

/* tcc's alloca() is called, takes its return address off the stack, and makes room. */
static void test_room_by_call(void **state)
{
	ASSERT_TOLD(FRAME_BEGUN "call 3f; inc %eax; leave; ret;"
				"3: pop %rdx; sub %rdi, %rsp; push %rdx; ret",
		    FRAME_BEGUN_TOLD "bbbbb|||1!!!!!!");
	ASSERT_TOLD(FRAME_BEGUN "call 3f; inc %eax; leave; ret; nop;"
				"3: pop %r10; sub %rdi, %rsp; push %r10; ret",
		    FRAME_BEGUN_TOLD "bbbbb|||1.!!!!!!!!");
	/* behind a byte that looks like its beginning */
	ASSERT_TOLD(FRAME_BEGUN "call 3f; inc %eax; leave; ret; .byte 0;"
				"3: pop %rdx; sub %rdi, %rsp; push %rdx; ret",
		    FRAME_BEGUN_TOLD "bbbbb|||1.......");
}

/* Free Pascal's main begins so, and never returns: it looks at its return address. */
static void test_a_look_at_the_return_address(void **state)
{
	ASSERT_TOLD(FILL
		    "pop %rax; push %rax; push %rax; xor %ebp, %ebp; call *%rdx; hlt",
		    FILL_TOLD "10122BBB");
	/* and one that returns makes no room for who calls it */
	ASSERT_TOLD(FRAME_BEGUN "call 3f; inc %eax; leave; ret;"
				"3: pop %rdx; push %rdx; inc %eax; ret",
		    FRAME_BEGUN_TOLD "bbbbbbbb110111");
	/* another register is pushed: it was taken */
	ASSERT_NOTHING(FILL "pop %rax; push %rcx; push %rax; call *%rdx; hlt");
}

/* Of a part of the function's own, which takes its return address off the stack and puts
 * it back, as in PCRE2's generated code. */
static void test_local_calls(void **state)
{
	ASSERT_TOLD(FILL "push %rbp; push %rax; call 3f; pop %rax; pop %rbp; ret;"
			 "3: pop %r8; mov %eax, %ebp; push %r8; ret",
		    FILL_TOLD "1bccccccb1ddccccd");
	/* which keeps it in the frame, and is called twice */
	ASSERT_TOLD(FILL
		    "push %rbp; push %rax; call 3f; nop; xor %eax, %eax; nop; call 3f;"
		    "pop %rax; pop %rbp; ret;"
		    "3: pop (%rsp); call *%rdx; mov (%rsp), %rax; push %rax; ret",
		    FILL_TOLD "1bcccccccccccccccb1dddcccccccd");
	/* a jump to an address that was pushed */
	ASSERT_TOLD(FILL
		    "push %rbx; test %eax, %eax; jz 1f; push %rcx; ret; 1: pop %rbx; ret",
		    FILL_TOLD "122222321");
	/* two that differ in how deep the stack is */
	ASSERT_TOLD(FILL "push %rbx; call 3f; pop %rbx; ret; call 3f; ret;"
			 "3: pop %r8; inc %eax; push %r8; ret",
		    FILL_TOLD "12222221.............");
}

/* Before an aligned address, where another function may begin: by what jumps there. */
static void test_call_within(void **state)
{
	ASSERT_TOLD(FILL "push %rbp; 1: mov %eax, %ebp; inc %eax; inc %eax; inc %eax;"
			 "inc %eax; nop; nop; nop; call *%rdx; test %eax, %eax; jz 1b; "
			 "pop %rbp; ret",
		    FILL_TOLD "1bbbbbbbbbbbbbbbbbbbb1");
}

/* These are other stacks, frame or not. */
static void test_no_room_by_register(void **state)
{
#define CALLS	   FRAME_BEGUN "call *%rdx;"
#define CALLS_TOLD FRAME_BEGUN_TOLD "bb"
	ASSERT_TOLD(CALLS "mov %rsp, %rcx; mov (%rdi), %rcx; mov %rcx, %rsp;" BACK,
		    CALLS_TOLD "bbbbbbbbb!!!!!!b1");
	ASSERT_TOLD(CALLS "sub %rax, %rcx; mov %rcx, %rsp;" BACK,
		    CALLS_TOLD "bbbbbb!!!!!!b1");
	ASSERT_TOLD(CALLS "mov %rsp, %rcx; call *%rax; mov %rcx, %rsp;" BACK,
		    CALLS_TOLD "bbbbbbbb!!!!!!b1");
	ASSERT_TOLD(CALLS "push %rdi; pop %rcx; mov %rcx, %rsp;" BACK,
		    CALLS_TOLD "bcbbb!!!!!!b1");
	/* where two ways meet, one of them is not this one's */
	ASSERT_TOLD(CALLS "mov %rsp, %rcx; jz 2f; mov %rdi, %rcx; 2: sub %rax, %rcx;"
			  "mov %rcx, %rsp;" BACK,
		    CALLS_TOLD "bbbbbbbbbbbbbb!!!!!!b1");
}

/* A stack of its own alignment, and a register that finds back, or a place there. */
static void test_aligned_stack(void **state)
{
	ASSERT_TOLD(FILL "mov %rsp, %r10; and $-64, %rsp; sub $128, %rsp; jz 1f;"
			 "vpaddd %ymm4, %ymm5, %ymm5; 1: mov %r10, %rsp; ret",
		    FILL_TOLD "1111111================1");
	ASSERT_TOLD(FILL
		    "mov %rsp, %rax; sub $72, %rsp; and $-64, %rsp; mov %rax, 64(%rsp);"
		    "inc %eax; mov 64(%rsp), %rsp; ret",
		    FILL_TOLD "1111111::::=====???????1");
	/* OpenBLAS: neither a jump nor a sum in rax is a use of rbx */
	ASSERT_TOLD(FILL "mov %rsp, %rbx; and $-64, %rsp; test $1, %rax; jmp 1f; nop;"
			 "1: cmp $0x1234, %rax; sub $0x1234, %rax; mov %rbx, %rsp; ret",
		    FILL_TOLD "1111111========.===============1");
	/* the register is used for something else */
	ASSERT_TOLD(FILL "mov %rsp, %rax; and $-64, %rsp; add $0x1234, %rax;"
			 "mov %rax, %rsp; ret",
		    "................................");
	ASSERT_TOLD(FILL "mov %rsp, %rax; and $-64, %rsp; cpuid; mov %rax, %rsp; ret",
		    "............................");
}

/* As gcc aligns a frame in which it allocates: the return address, the frame pointer and
 * the entry's stack pointer are pushed once more. */
static void test_aligned_frame(void **state)
{
#define ALIGNED_FRAME                                                                    \
	"lea 8(%rsp), %r10; and $-64, %rsp; push -8(%r10); push %rbp;"                   \
	"mov %rsp, %rbp; push %r12; push %r10; "
	struct unwind_rule rule;

	build(FILL ALIGNED_FRAME "sub %rax, %rsp; nop; lea -16(%rbp), %rsp; pop %r10;"
				 "pop %r12; pop %rbp; lea -8(%r10), %rsp; ret");
	rule = image_rule(&image, base + 15 + 24);
	assert_int_equal(rule.cfa, UNWIND_CFA_DEREF_FP);
	assert_int_equal(rule.deref_offset, -16);
	assert_int_equal(rule.cfa_offset, 0);
	assert_int_equal(rule.fp, UNWIND_FP_DEREF);
	assert_int_equal(rule.fp_words, 0);
	assert_string_equal(told(), FILL_TOLD "111111111============"
					      "?????????????????1");
	/* the frame pointer's place is written over, or not the frame's any more */
	build(FILL ALIGNED_FRAME "mov %rax, (%rbp); nop; lea -8(%r10), %rsp; ret");
	assert_int_equal(image_rule(&image, base + 15 + 25).fp, UNWIND_FP_LOST);
	image_free(&image);
	build(FILL ALIGNED_FRAME "lea -8(%r10), %rsp; nop; ret");
	assert_int_equal(image_rule(&image, base + 15 + 25).fp, UNWIND_FP_LOST);
	image_free(&image);
}

/* The copy of the return address tells where that lies, if nothing else does: of main()
 * of a service, which never returns. */
static void test_aligned_for_good(void **state)
{
#define CALLS_FOR_GOOD "sub $8, %rsp; 1: call *%rdx; jmp 1b"
	ASSERT_TOLD(FILL ALIGNED_FRAME CALLS_FOR_GOOD,
		    FILL_TOLD "111111111============????????");
	/* of what is pushed else it tells nothing: an argument, or any word */
	ASSERT_NOTHING(FILL "lea 8(%rsp), %r10; and $-64, %rsp; push (%r10); push %rbp;"
			    "mov %rsp, %rbp; push %r12; push %r10; " CALLS_FOR_GOOD);
	ASSERT_NOTHING(FILL "lea 8(%rsp), %r10; and $-64, %rsp; push (%r9); push %rbp;"
			    "mov %rsp, %rbp; push %r12; push %r10; " CALLS_FOR_GOOD);
	/* nor of what is not aligned */
	ASSERT_NOTHING(FILL "lea 8(%rsp), %r10; sub $72, %rsp; push -8(%r10); push %rbp;"
			    "mov %rsp, %rbp; push %r12; push %r10; " CALLS_FOR_GOOD);
}

/* Vectors that have the numbers of sp and fp write neither. */
static void test_vectors(void **state)
{
	ASSERT_TOLD(FILL "pshufb %xmm5, %xmm4; jz 1f; 1: vpaddd %ymm5, %ymm4, %ymm5;"
			 "vpsadbw %zmm4, %zmm5, %zmm4; vmovd %xmm4, %eax; ret",
		    FILL_TOLD "1111111111111111111111");
	ASSERT_TOLD(FILL "vpmovmskb %ymm4, %ebp; jz 1f; 1: ret", FILL_TOLD "1111AAA");
	ASSERT_TOLD(FILL "blsr %eax, %ebp; jz 1f; 1: ret", FILL_TOLD "11111AAA");
	ASSERT_TOLD(FILL "pextrd $1, %xmm4, %ebp; jz 1f; 1: ret", FILL_TOLD "111111AAA");
	ASSERT_TOLD(FILL "cvttsd2si %xmm4, %rbp; jz 1f; 1: ret", FILL_TOLD "11111AAA");
}

/* Of these nobody knows. */
static void test_contradictions(void **state)
{
	/* two ways, two depths */
	ASSERT_NOTHING(FILL "jz 1f; push %rbx; 1: pop %rbx; ret");
	/* two returns, of which one is none */
	ASSERT_NOTHING(FILL "jz 1f; push %rax; nop; ret; 1: ret");
	/* above its own return address */
	ASSERT_NOTHING(FILL "jz 1f; pop %rax; jmp *%rax; 1: ret");
	/* into the middle of an instruction */
	ASSERT_NOTHING(FILL "jz 1f + 2; 1: mov $0xc3c3c3c3, %eax; ret");
	/* nothing shows how deep it is */
	ASSERT_NOTHING(FILL "push %rbx; 1: inc %eax; jmp 1b");
}

/* A switch of stacks among branches, in code that also returns. */
static void test_switch(void **state)
{
	ASSERT_TOLD(FILL "test %rax, %rax; jz 1f; ret; 1: nop; mov (%rdi), %rsp; ret",
		    FILL_TOLD "111111....A");
}

/* A block that only a table leads to is a part of the function that it goes on in. */
static void test_parts_by_a_table(void **state)
{
	ASSERT_TOLD(FILL "push %rbx; mov %rdi, %rbx; test %esi, %esi; jz 1f; jmp *%rdx;"
			 "2: mov (%rbx), %eax; 1: call *8(%rdi); pop %rbx; ret",
		    FILL_TOLD "12222222222222221");
}

/* A case that only a table leads to ends in a call of another function, whose beginning
 * is known whatever is known of that case. */
static void test_tail_call_of_a_case(void **state)
{
	ASSERT_TOLD(FILL "push %rbp; mov %rsp, %rbp; push %rbx; call 9f; jmp *%rax;"
			 "nop; int3; mov -8(%rbp), %rbx; leave; jmp 9f; nop; int3;"
			 "9: dec %edi; jnz 9b; ret",
		    "......................................11111");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tail_call_of_a_case),
		cmocka_unit_test(test_parts_by_a_table),
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_jump_table),
		cmocka_unit_test(test_what_is_popped),
		cmocka_unit_test(test_zeroes_between),
		cmocka_unit_test(test_number_before),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_endless),
		cmocka_unit_test(test_no_return_address),
		cmocka_unit_test(test_loop_behind_padding),
		cmocka_unit_test(test_system_calls),
		cmocka_unit_test(test_arguments_that_are_taken),
		cmocka_unit_test(test_frame_pointer),
		cmocka_unit_test(test_room_by_register),
		cmocka_unit_test(test_no_room_by_register),
		cmocka_unit_test(test_room_by_call),
		cmocka_unit_test(test_a_look_at_the_return_address),
		cmocka_unit_test(test_local_calls),
		cmocka_unit_test(test_call_within),
		cmocka_unit_test(test_aligned_stack),
		cmocka_unit_test(test_aligned_frame),
		cmocka_unit_test(test_aligned_for_good),
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_probes),
		cmocka_unit_test(test_switch),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
