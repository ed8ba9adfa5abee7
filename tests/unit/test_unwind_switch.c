/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code that switches stacks, of which no call frame information is written: what is
 * told of each of its instructions.
 */
#include "gap_code.h"

static void test_setcontext(void **state)
{
	ASSERT_TOLD(FILL "mov 0x78(%rdi), %rbp; mov 0xa0(%rdi), %rsp;"
			 "mov 0xa8(%rdi), %rcx; push %rcx; ret",
		    FILL_TOLD "1111AAAAAAA!!!!!!!!!");
}

static void test_jumps_of_fibers(void **state)
{
	/* pushes, then the other's stack from a register, its return by a jump */
	ASSERT_TOLD("push %rbp; push %rbx; push %r12; mov %rsp, (%rdi);"
		    "mov %rsi, %rsp; pop %r12; pop %rbx; pop %rbp; pop %rcx; jmp *%rcx",
		    "1233444444ddcb100");
}

/* Back to a place of its own; or code whose return nothing shows. */
static void test_own_stack(void **state)
{
	ASSERT_NOTHING(FILL "push %rax; ret");
	ASSERT_NOTHING(FILL "pop %rax; jmp *%rax");
	ASSERT_NOTHING(FILL "mov (%rdi), %rsp"); /* and on, into nothing */
	ASSERT_TOLD(FILL "mov %rsp, %r10; and $-32, %rsp; mov %r10, %rsp; ret",
		    FILL_TOLD "1111111===1");
}

/* What the other stack goes on with is told by how the code leaves: the word that it
 * returns by lies there, and is in a register once the stack pointer is above it. */
static void test_what_it_goes_on_with(void **state)
{
	/* boost.context's */
	ASSERT_TOLD("mov %rdi, %rsp; mov 16(%rsp), %r8; ldmxcsr (%rsp);"
		    "mov 8(%rsp), %rbp; lea 24(%rsp), %rsp; mov %rsi, %rax; jmp *%r8",
		    "111cccccccccccccc33333000000");
	ASSERT_TOLD("mov %rdi, %rsp; mov 16(%rsp), %rdx; add $24, %rsp; jmp *%rdx",
		    "111CCCCCCCCC@@");
	ASSERT_TOLD("mov %rdi, %rsp; pop (%rax); ret", "111BBA"); /* into no register */
}

#define PUSHES "push %rbp; push %rbx; lea -8(%rsp), %rsp; cmp $0, %rcx; je 1f;"
#define GOES_ON(s)                                                                       \
	"mov %rdi, %rsp; test %ecx, %ecx; je 2f;" s "2: pop %rbp; pop %rdx; ret"

/* brpc's, from boost.context before 1.61: the control words are kept if asked for. */
static void test_what_is_skipped(void **state)
{
	ASSERT_TOLD(PUSHES "stmxcsr (%rsp); fnstcw 4(%rsp); 1: mov %rsp, (%rdx);"
			   "mov %rsi, %rsp; cmp $0, %rcx; je 2f; ldmxcsr (%rsp);"
			   "fldcw 4(%rsp); 2: lea 8(%rsp), %rsp; pop %rbx; pop %rbp;"
			   "pop %r8; mov %rdx, %rax; jmp *%r8",
		    "123333344444444444444444444"
		    "dddddddddddddddddddcb11000000");
	ASSERT_TOLD(GOES_ON("ldmxcsr (%rsi);"), "111cccccccc21");
	/* not what is the same only where it is not skipped */
	ASSERT_TOLD(GOES_ON("push %rax;"), "...!!!!!!!!");
	ASSERT_TOLD(GOES_ON("mov %rax, 16(%rsp);"), "...!!!!!!!!!!!!");
	ASSERT_TOLD(GOES_ON("mov 8(%rsp), %rbp;"), "...!!!!!!!!!!!!");
	ASSERT_TOLD(GOES_ON("jmp *%rdx;"), "...!!!!!!...");
}

#define CALLS(s)                                                                         \
	"push %rbp; lea -16(%rsp), %rsp; mov %rsp, (%rcx); mov (%rdx), %rsp;" s          \
	"pop %rbp; pop %r8; jmp *%r8"

/* Argobots', which calls on the other stack before it goes on with that. */
static void test_what_is_called_there(void **state)
{
	ASSERT_TOLD(CALLS("call *%rsi; lea 16(%rsp), %rsp;"), "122222444444"
							      "ddddddd"
							      "b11000");
	/* what it goes on by is the same behind the call, if calls leave that alone */
	ASSERT_TOLD("mov %rdi, %rsp; mov 24(%rsp), %rbx; call *%rsi; add $32, %rsp;"
		    "jmp *%rbx",
		    "111DDDDDDDDDDD@@");
	ASSERT_NOTHING("mov %rdi, %rsp; mov 24(%rsp), %r8; call *%rsi; add $32, %rsp;"
		       "jmp *%r8");
	/* no function calls with such a stack; of two calls it is not known */
	ASSERT_NOTHING(CALLS("call *%rsi; lea 8(%rsp), %rsp;"));
	ASSERT_NOTHING(CALLS("call *%rsi; call *%rax; lea 16(%rsp), %rsp;"));
}

/* libco's, which keeps the frame pointer elsewhere, alone or in an array of a page. */
static void test_frame_pointer_elsewhere(void **state)
{
	static const char *const behind[] = { TOLD_FUNCTION,
					      ".p2align 6; .skip 4096\n" TOLD_FUNCTION };

	for (size_t i = 0; i < sizeof(behind) / sizeof(*behind); i++) {
		build_within(TOLD_FUNCTION,
			     "mov %rsp, (%rsi); mov (%rdi), %rsp; pop %rax;"
			     "mov %rbp, 8(%rsi); mov 8(%rdi), %rbp; mov 16(%rdi), %rbx;"
			     "jmp *%rax",
			     behind[i]);
		assert_string_equal(told(), "111111A@@@@@@@@000000");
	}
}

/* libco's for arm64, which leaves nothing of a caller from its second load on. */
static void test_arm64_in_a_page(void **state)
{
	static const char source[] =
		".cfi_startproc; ret; .cfi_endproc\n.p2align 6\n.globl code; code:\n"
		"mov x16, sp; stp x16, x30, [x1]; ldp x16, x30, [x0]; mov sp, x16\n"
		"str x29, [x1, 96]; ldr x29, [x0, 96]; br x30; .skip 4068\n"
		".cfi_startproc; ret; .cfi_endproc\n";

	if (!has_tool("aarch64-linux-gnu-gcc"))
		skip();
	write_file("switch.s", source, strlen(source));
	assert_int_equal(shell("aarch64-linux-gnu-gcc -shared -nostdlib -o switch.so "
			       "switch.s"),
			 0);
	base = nm_value("-D", "switch.so", "code");
	load_table();
	for (uint64_t i = 0; i < 7; i++)
		assert_int_equal(image_rule(&image, base + 4 * i).cfa,
				 i < 3 ? UNWIND_CFA_SP : UNWIND_CFA_TORN);
	image_free(&image);
}

/* A word that is put there, or does not come from there, or is not where it returns. */
static void test_what_does_not_tell(void **state)
{
	static const char *const bodies[] = {
		"mov %rdi, %rsp; push %rsi; ret",
		"mov %rdi, %rsp; pop %rax; push %rsi; ret",
		"mov %rdi, %rsp; mov %rsi, (%rsp); ret",
		"mov %rdi, %rsp; mov 8(%rsi), %rdx; add $24, %rsp; jmp *%rdx",
		"mov %rdi, %rsp; mov 8(%rsp), %rdx; mov %rsi, %rdx; add $24, %rsp;"
		"jmp *%rdx",
		"mov %rdi, %rsp; mov 24(%rsp), %rdx; add $24, %rsp; jmp *%rdx",
		"mov %rdi, %rsp; mov 16(%rsp), %rdx; add $24, %rsp; jmp *(%rdx)",
		"mov %rdi, %rsp; jmp code",
		"mov %rdi, %rsp; pop %rbp; xor %ebp, %ebp; ret",
		"mov %rdi, %rsp; mov 8(%rsi), %rbp; mov 8(%rbp), %rbp; ret",
		"mov %rdi, %rsp; mov 8(%rsi), %ebp; ret",
	};

	for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
		const char *text;

		build(bodies[i]);
		text = told();
		assert_int_equal(strspn(text, "1"), 3);
		assert_int_equal(strspn(text + 3, "!"), strlen(text) - 3);
	}
}

/* Behind a jump, or what can't be followed, the code before the switch is not told. */
static void test_what_is_not_followed(void **state)
{
	static const char *const bodies[] = {
		FILL "test %rax, %rax; jz 1f; push %rbx; 1: mov (%rdi), %rsp; ret",
		FILL "and $-16, %rsp; mov (%rdi), %rsp; ret",
		FILL "sub %rax, %rsp; mov (%rdi), %rsp; ret",
		FILL "pop %rax; pop %rcx; mov (%rdi), %rsp; ret",
	};

	for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
		const char *text;
		size_t n;

		build(bodies[i]);
		text = told();
		n = strlen(text);
		assert_int_equal(strspn(text, "."), n - 1);
		assert_string_equal(text + n - 1, "A");
	}
}

/* Behind what jumps, as a compiler's start files do, a switch is one by itself; unless
 * one of these jumps leads there, with something more on the stack. */
static void test_behind_what_jumps(void **state)
{
	ASSERT_TOLD("test %rax, %rax; jz 1f; jmp *%rax; 1: ret;"
		    "push %rbp; mov %rsi, %rsp; pop %rbp; ret",
		    "111111111222b1");
	ASSERT_TOLD("push %rbx; test %rax, %rax; jz 1f; pop %rbx; ret;"
		    "nop; 1: mov %rsi, %rsp; pop %rbp; ret",
		    "12222221....b1");
	ASSERT_TOLD("push %rbx; test %rax, %rax; jz 1f; pop %rbx; ret;"
		    "1: nop; mov %rsi, %rsp; pop %rbp; ret",
		    "12222221....b1");
}

static void test_several_in_a_gap(void **state)
{
	ASSERT_TOLD("nop; nop; mov (%rdi), %rsp; ret; nopl (%rax); push %rbp;"
		    "mov 8(%rdi), %rbp; xchg %rax, %rsp; jmp *%rdx; int3;"
		    "mov 8(%rsp), %rax; xor %ecx, %ecx; ret; nop; nop; nop; nop",
		    "..111A...12222bb!!.11111111....");
}

/* What returns with the stack that it began with was called so. */
static void test_straight_code(void **state)
{
	ASSERT_TOLD(FILL "mov %rbp, 8(%rdi); ret", FILL_TOLD "11111");
	ASSERT_TOLD(FILL
		    "push %rbp; mov %rsp, %rbp; sub $8, %rsp; add $8, %rsp; pop %rbp;"
		    "ret; nop",
		    FILL_TOLD "1222bbbbccccba.");
	ASSERT_TOLD(FILL "lea -24(%rsp), %rsp; xor %ebp, %ebp; lea 24(%rsp), %rsp; ret",
		    FILL_TOLD "1111144DDDDDA");
	ASSERT_TOLD(FILL "shr $5, %eax; shr $5, %ebp; ret", FILL_TOLD "111111A");
	ASSERT_TOLD(FILL "bswap %rbp; ret", FILL_TOLD "111A");
	ASSERT_TOLD(FILL "rorx $3, %rax, %rbp; ret", FILL_TOLD "111111A");
	ASSERT_TOLD(FILL "movq %xmm0, %rbp; ret", FILL_TOLD "11111A");
}

/* As Dart's: one entry says of all code that its frame is up, before each prologue, too,
 * and of what has none. A smaller one is the cold part of a function. */
static void test_one_entry_for_all(void **state)
{
#define BLANKET                                                                          \
	".cfi_startproc simple; .cfi_def_cfa rbp, 16; .cfi_offset rbp, -16;"             \
	".cfi_offset rip, -8; .p2align 6; ret; .p2align 6\n"
#define BODY                                                                             \
	"push %rbp; mov %rsp, %rbp; call *8(%rdi); pop %rbp; ret; .p2align 4;"           \
	"mov 8(%rdi), %rax; ret; .p2align 4"
	build_within(BLANKET, BODY, ".skip 0x10000, 0x90; .cfi_endproc");
	assert_string_equal(told(), "1bbbbbbb1......."
				    "11111...........");
	build_within(BLANKET, BODY, ".skip 0x1000, 0x90; .cfi_endproc");
	assert_string_equal(told(), "||||||||||||||||||||||||||||||||");
}

/* As OpenSSL's AES-XTS: an entry that says nothing of the frame that its code makes. */
static void test_silent_entry(void **state)
{
#define FRAMED "push %rbp; mov %rsp, %rbp; call *8(%rdi); pop %rbp; ret; .p2align 4"
#define MUCH   ".skip 0x1000, 0x90; .cfi_endproc"
#define OTHERS                                                                           \
	".rept 512; .cfi_startproc; .skip 128, 0x90; .cfi_endproc; .endr\n"              \
	".cfi_startproc\n"
	build_within(".cfi_startproc\n", FRAMED, MUCH);
	assert_string_equal(told(), "1bbbbbbb1.......");
	build_within(".cfi_startproc; endbr64\n", FRAMED, MUCH);
	assert_string_equal(told(), "1bbbbbbb1...");
	/* glibc's have some 200 bytes */
	build_within(".cfi_startproc\n", FRAMED, ".skip 0x40, 0x90; .cfi_endproc");
	assert_string_equal(told(), "1222bbbba.......");
	/* it says something; it is small; no frame is made */
	build_within(".cfi_startproc; .cfi_remember_state\n", FRAMED, MUCH);
	assert_string_equal(told(), "1111111111111111");
	build_within(".cfi_startproc\n", FRAMED, ".skip 0x20, 0x90; .cfi_endproc");
	assert_string_equal(told(), "1111111111111111");
	/* or one of many, where it is not large */
	build_within(OTHERS, FRAMED, ".skip 0x40, 0x90; .cfi_endproc");
	assert_string_equal(told(), "1111111111111111");
	build_within(OTHERS, FRAMED, MUCH);
	assert_string_equal(told(), "1bbbbbbb1.......");
	build_within(".cfi_startproc; mov (%rdi), %rax\n", FRAMED, MUCH);
	assert_string_equal(told(), "1111111111111");
}

/* Of code without call frame information sections tell no more than segments. */
static void test_no_sections(void **state)
{
	static const unsigned char none[8];
	int fd;

	build_within("", FILL "push %rax; mov %rdi, (%rsp); call *8(%rdi); pop %rcx; ret",
		     "");
	image_free(&image);
	fd = open("switch.so", O_RDWR | O_CLOEXEC);
	assert_int_equal(pwrite(fd, none, sizeof(((Elf64_Ehdr *)0)->e_shoff),
				offsetof(Elf64_Ehdr, e_shoff)),
			 8);
	assert_int_equal(pwrite(fd, none, 4, offsetof(Elf64_Ehdr, e_shnum)), 4);
	close(fd);
	load_table();
	assert_int_equal(image_rule(&image, base + strlen(FILL_TOLD)).cfa_offset, 8);
	assert_int_equal(image_rule(&image, base + strlen(FILL_TOLD) + 1).cfa_offset, 16);
	image_free(&image);
}

/* As Rust's main without unwinding: calls come back, and its ret proves it. */
static void test_straight_code_that_calls(void **state)
{
	ASSERT_TOLD(FILL "push %rax; mov %rdi, (%rsp); call *8(%rdi); pop %rcx; ret",
		    FILL_TOLD "122222222"
			      "1");
	/* one that never comes back, and another function behind it; the first is told by
	 * how its stack is aligned at the call */
	ASSERT_TOLD(FILL "sub $8, %rsp; call *8(%rdi); nopl (%rax);"
			 "push %rax; call *8(%rdi); pop %rcx; ret",
		    FILL_TOLD "1111222...122221");
	ASSERT_TOLD(FILL "sub $16, %rsp; call *8(%rdi); nopl (%rax);"
			 "push %rax; call *8(%rdi); pop %rcx; ret",
		    ".........................122221");
}

/* What lies behind a jump is no function of its own, nor is what ends in the kernel. */
static void test_no_functions(void **state)
{
	static const char *const bodies[] = {
		FILL "mov $15, %rax; syscall; nopl (%rax)",
		FILL "mov $15, %eax; syscall",
		FILL "push %fs; pop %rax; pushw %ax; ret",
		FILL "lret; push %rax; ret",
	};

	for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
		const char *text;

		build(bodies[i]);
		text = told();
		if (strspn(text, ".") != strlen(text))
			fail_msg("body %zu: %s", i, text);
	}
}

/* As glibc's clone3(): what is between its two entries is short. */
static void test_short_gap(void **state)
{
#define CLONE                                                                            \
	".cfi_startproc; mov %rcx, %r8; .cfi_endproc; syscall; test %rax, %rax; jl 2f;"  \
	"je 1f; ret; 1:"
#define TOLD ".cfi_startproc; ret; .cfi_endproc;"
	ASSERT_TOLD(CLONE TOLD "2:", "1111111111111"
				     "1");
	/* padding: up to an aligned address, or less than 8 bytes */
	ASSERT_TOLD("syscall; ret; .p2align 4;" TOLD, "...............1");
	ASSERT_TOLD("syscall; ret; nop;" TOLD, "....1");
}

/* Before the first function that is told, and in a file that tells of none. */
static void test_nothing_before(void **state)
{
	static const char *const behind[] = { TOLD_FUNCTION, "" };

	for (size_t i = 0; i < 2; i++) {
		build_within("", FILL "push %rax; call *8(%rdi); pop %rcx; ret",
			     behind[i]);
		assert_string_equal(told(), FILL_TOLD "122221");
	}
}

/* Registers that are written by less usual instructions, and a place on the stack that
 * is used again. */
static void test_frame_pointer_is_lost(void **state)
{
	ASSERT_TOLD(FILL "mov $1, %rbp; ret", FILL_TOLD "1111111A");
	ASSERT_TOLD(FILL "rdfsbase %rbp; ret", FILL_TOLD "11111A");
	ASSERT_TOLD(FILL "push %rbp; pop %rbp; ret", FILL_TOLD "12a");
	ASSERT_TOLD(FILL "push %rbp; pop %rbp; push %rax; pop %rax; ret",
		    FILL_TOLD "12aBA");
}

/* As wasmtime's: between its call and its way back are jumps within. */
#define LAUNCH                                                                           \
	"pop %rsi; pop %rdi; call *%rdi; test %al, %al; je 1f; xor %edi, %edi;"          \
	"jmp 2f; 1: mov $4, %edi; 2:"
#define WAY_BACK "mov 8(%rbp), %rsi; mov -8(%rbp), %rsp; mov (%rbp), %rbp; jmp *%rsi;"

static void test_launchpad(void **state)
{
	struct unwind_rule rule;

	build("nop; nop;" LAUNCH WAY_BACK "int3; nop; nop; mov (%rdi), %rsp; ret");
	rule = image_rule(&image, base + 2);
	assert_int_equal(rule.cfa, UNWIND_CFA_DEREF_FP);
	assert_int_equal(rule.deref_offset, -8);
	assert_int_equal(rule.cfa_offset, 0);
	assert_int_equal(rule.fp, UNWIND_FP_DEREF);
	assert_int_equal(rule.fp_words, 0);
	assert_int_equal(rule.ra, UNWIND_RA_FP);
	assert_int_equal(rule.ra_words, 1);
	assert_string_equal(told(), "..?????????????????????????????"
				    "!!...111A");
	ASSERT_TOLD("nop;" LAUNCH "mov 8(%rbp), %r9; mov -16(%rbp), %rsp;"
		    "mov (%rbp), %rbp; jmp *%r9",
		    ".?????????????????????????????"
		    "!!!");
}

/* Whose way back is another, or whose frame pointer is not that one all the time. */
static void test_no_launchpad(void **state)
{
	static const char *const bodies[] = {
		FILL "xor %edi, %edi;" WAY_BACK,
		FILL "call *%rdi; mov %rax, %rbp;" WAY_BACK,
		FILL "call *%rdi; jz 1f;" WAY_BACK "1: nop",
		FILL "call *%rdi; jmp *%rax;" WAY_BACK,
		FILL "call *%rdi; ret;" WAY_BACK,
		FILL "call *%rdi; mov 8(%rbp), %rsi; mov -8(%rbp), %rsp;"
		     "mov (%rbp), %rbp; jmp *%rdi",
		FILL "call *%rdi; mov 8(%rbp), %rsi; mov -8(%rbp), %rsp;"
		     "mov 8(%rbp), %rbp; jmp *%rsi",
		FILL "call *%rdi; mov 16(%rbp), %rsi; mov -8(%rbp), %rsp;"
		     "mov (%rbp), %rbp; jmp *%rsi",
	};

	for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
		build(bodies[i]);
		if (strchr(told(), '?'))
			fail_msg("body %zu", i);
	}
}

/* A stack that was made by hand may have the return address anywhere. */
static void test_return_address_elsewhere(void **state)
{
	struct unwind_rule rule;

	build(".cfi_startproc; .cfi_def_cfa %rsp, 24; .cfi_offset %rip, -16; nop;"
	      ".cfi_endproc");
	rule = image_rule(&image, base);
	assert_int_equal(rule.cfa, UNWIND_CFA_SP);
	assert_int_equal(rule.cfa_offset, 24);
	assert_int_equal(rule.ra_words, -2);
	image_free(&image);
}

/* Call frame information that is another context's, by a register that points there;
 * not that of a return address which was taken off the stack. */
static void test_what_a_file_tells(void **state)
{
	ASSERT_TOLD(".cfi_startproc; nop; .cfi_def_cfa %rdx, 0; .cfi_offset %rip, 168;"
		    "nop; ret; .cfi_endproc",
		    "1!!");
	ASSERT_TOLD(".cfi_startproc; nop; .cfi_def_cfa %rdi, 0; .cfi_register %rip, %rdx;"
		    "nop; ret; .cfi_endproc",
		    "1!!");
	ASSERT_TOLD(".cfi_startproc; pop %rdi; .cfi_def_cfa %rsp, 0;"
		    ".cfi_register %rip, %rdi; nop; ret; .cfi_endproc",
		    "100");
	ASSERT_TOLD(".cfi_startproc; .cfi_register %rip, %rax; .cfi_def_cfa %rsp, 0; nop;"
		    "nop; ret; .cfi_endproc",
		    "???");
	ASSERT_TOLD(".cfi_startproc simple; .cfi_def_cfa %rsp, 0;"
		    ".cfi_register %rip, %rax; nop; .cfi_register %rip, %rcx; nop; ret;"
		    ".cfi_endproc",
		    "???");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_entry_for_all),
		cmocka_unit_test(test_silent_entry),
		cmocka_unit_test(test_no_sections),
		cmocka_unit_test(test_setcontext),
		cmocka_unit_test(test_jumps_of_fibers),
		cmocka_unit_test(test_own_stack),
		cmocka_unit_test(test_what_is_not_followed),
		cmocka_unit_test(test_what_it_goes_on_with),
		cmocka_unit_test(test_what_is_skipped),
		cmocka_unit_test(test_what_is_called_there),
		cmocka_unit_test(test_frame_pointer_elsewhere),
		cmocka_unit_test(test_arm64_in_a_page),
		cmocka_unit_test(test_what_does_not_tell),
		cmocka_unit_test(test_behind_what_jumps),
		cmocka_unit_test(test_several_in_a_gap),
		cmocka_unit_test(test_straight_code),
		cmocka_unit_test(test_straight_code_that_calls),
		cmocka_unit_test(test_no_functions),
		cmocka_unit_test(test_short_gap),
		cmocka_unit_test(test_nothing_before),
		cmocka_unit_test(test_frame_pointer_is_lost),
		cmocka_unit_test(test_launchpad),
		cmocka_unit_test(test_no_launchpad),
		cmocka_unit_test(test_return_address_elsewhere),
		cmocka_unit_test(test_what_a_file_tells),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
