// SPDX-License-Identifier: BSD-2-Clause
/* Leaves in code that no rule tells of: what their own instruction says. */
#include "code.h"

#include <string.h>

#define GENERATED 0x8000 /* code that no table is of; it is called by function 1 */

/* A leaf there, at `code` so many bytes behind the function's first, with `pushed` words
 * on the stack; its frame pointer is function 1's. */
static struct sampled leaf_in_generated(const char *code, unsigned int at_byte,
					unsigned int pushed)
{
	struct sampled at = leaf_in_code(0);
	uint64_t words[6] = { 0 };

	memcpy(words, code, strnlen(code, sizeof(words)));
	memory_put(GENERATED - 16, 0);
	memory_put(GENERATED - 8, 0);
	for (int i = 0; i < 6; i++)
		memory_put(GENERATED + 8 * (uint64_t)i, words[i]);
	at.pc = GENERATED + at_byte;
	at.sp = STACK - 8 * pushed;
	at.fp = FP(STACK, 1);
	memory_put(STACK - 8, at.fp);
	memory_put(STACK, SITE(1));
	put_frame(at.fp, 0, SITE(2));
	return at;
}

static void put_generated(void)
{
	mapping_table_add(GENERATED, GENERATED + 0x1000, 0, 0, UNWIND_BY_FP);
	put_like_code(RULE_FP, 2, 0);
	put_call_before(SITE(1));
}

/* The same leaf in a world of its own. */
static struct sampled put_generated_leaf(const char *code, unsigned int at_byte,
					 unsigned int pushed)
{
	world_setup(NULL);
	put_generated();
	return leaf_in_generated(code, at_byte, pushed);
}

#define V8_ENTRY                                                                         \
	"\x48\x8b\x59\xf8\xf6\x43\x35\x01\x0f\x85\x32\x65\x14\x20"                       \
	"\x55\x48\x89\xe5"
#define V8_RETURN "\x5d\x48\x83\xf9\x02\x7f\x03\xc2\x10\x7f"

/* gcc's, of nested functions: mov $…,%r11; movabs $…,%r10; jmp *%r11 */
#define MOVE_CHAIN	"\x49\xba\x70\xe2\xff\xff\xff\x7f\x11\x11"
#define JUMP_NESTED	"\x49\xff\xe3"
#define TRAMPOLINE	"\x41\xbb\x10\x12\x40\x01" MOVE_CHAIN JUMP_NESTED
#define MOVE_FAR	"\xf3\x0f\x1e\xfa\x49\xbb\x10\x12\x55\x55\x55\x55\x11\x11"
#define FAR_TRAMPOLINE	MOVE_FAR MOVE_CHAIN JUMP_NESTED
#define HEAP_TRAMPOLINE MOVE_FAR MOVE_CHAIN "\x41\xff\xe3" /* of -ftrampoline-impl=heap */

/* LLVM's, without a frame pointer: push %rbp, %r15, %r14, %rbx; sub $24,%rsp */
#define PUSHES "\x55\x41\x57\x41\x56\x53\x48\x83\xec\x18"

/* Where the frame pointer is its caller's, some instructions say where that is. */
static void test_generated_leaf(void **state)
{
	static const struct {
		const char *code;
		unsigned int at_byte, pushed;
	} cases[] = {
		{ "\x55\x48\x89\xe5", 0, 0 },		      /* push %rbp; mov */
		{ "\x55\x48\x8b\xec", 0, 0 },		      /* the other form */
		{ "\xf3\x0f\x1e\xfa\x55\x48\x89\xe5", 0, 0 }, /* endbr64 */
		{ "\x55\x48\x89\xe5", 1, 1 },		      /* mov %rsp,%rbp */
		{ "\x55\x48\x8b\xec", 1, 1 },
		{ "\x90\x90\x5d\xc3", 2, 1 }, /* pop %rbp; ret */
		{ "\x90\x90\x5d\xc3", 3, 0 },
		{ "\x90\x90\xf3\xc3", 2, 0 }, /* rep ret */
		{ "\x5d\xc2\x10\x7f", 0, 1 }, /* pop %rbp; ret $N */
		{ "\x5d\xc2\x10\x7f", 1, 0 },
		{ "\x5d\xc5\xf8\x77\xc3", 0, 1 }, /* pop %rbp; vzeroupper; ret */
		{ "\x5d\xc5\xf8\x77\xc3", 1, 0 },
		{ "\x5d\xc5\xf8\x77\xc3", 4, 0 },
		/* mov -8(%rcx),%rbx; testb $1,53(%rbx); jne; push %rbp; mov */
		{ V8_ENTRY, 0, 0 },
		{ V8_ENTRY, 4, 0 },
		{ V8_ENTRY, 8, 0 },
		{ V8_ENTRY, 14, 0 },
		/* pop %rbp; cmp $2,%rcx; jg; ret $16 */
		{ V8_RETURN, 1, 0 },
		{ V8_RETURN, 5, 0 },
		{ V8_RETURN, 7, 0 },
		{ "\x90\x5d\xeb\x10", 2, 0 },		      /* pop %rbp; jmp */
		{ "\x90\x5d\xe9\x10\x20\x30\x40", 2, 0 },     /* the long form */
		{ "\x90\x5d\xff\xe1", 2, 0 },		      /* jmp *%rcx */
		{ "\x90\x5d\x41\xff\x24\xc0", 2, 0 },	      /* *(%r8,%rax,8) */
		{ "\x90\x5d\x3e\xff\x25\x10\x20\x30", 2, 0 }, /* notrack */
		{ PUSHES, 0, 0 },
		{ PUSHES, 1, 1 },
		{ PUSHES, 3, 2 },
		{ PUSHES, 5, 3 },
		{ PUSHES, 6, 4 },
		{ "\x53\x90\x90", 1, 1 }, /* push %rbx; nop */
		{ TRAMPOLINE, 0, 0 },
		{ TRAMPOLINE, 6, 0 },
		{ TRAMPOLINE, 16, 0 },
		{ FAR_TRAMPOLINE, 0, 0 },
		{ FAR_TRAMPOLINE, 4, 0 },
		{ FAR_TRAMPOLINE, 14, 0 },
		{ FAR_TRAMPOLINE, 24, 0 },
		{ HEAP_TRAMPOLINE, 14, 0 },
		{ HEAP_TRAMPOLINE, 24, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[40];
		struct sampled at;

		at = put_generated_leaf(cases[i].code, cases[i].at_byte, cases[i].pushed);
		sprintf(text, "%x 10108 10208", GENERATED + cases[i].at_byte);
		ASSERT_WALK(&at, "UCC", text, START);
		/* what was not called from there is no caller: as without such code */
		memory_put(SITE(1) - 8, 0x9090909090909090);
		sprintf(text, "%x 10208", GENERATED + cases[i].at_byte);
		ASSERT_WALK(&at, "UP", text, START);
	}
}

/* SBCL's functions begin in a frame that their caller has made for them, whose return
 * address is that of whom it was made for last. */
static void test_made_frame(void **state)
{
	struct sampled at = put_generated_leaf("\x8f\x45\x08\x48\x8d\x65\xd0", 0, 0);

	at.fp = STACK + 8;
	put_frame(at.fp, FP(STACK, 1), SITE(3));
	put_call_before(SITE(3));
	ASSERT_WALK(&at, "UCC", "8000 10108 10208", START);
	/* behind that it is the frame's */
	put_frame(at.fp, FP(STACK, 1), SITE(1));
	at.pc += 3;
	at.sp += 8;
	ASSERT_WALK(&at, "UPC", "8003 10108 10208", START);
}

/* Other code does not, though what lies on the stack was called. */
static void test_generated_no_leaf(void **state)
{
	static const struct {
		const char *code;
		unsigned int at_byte, pushed;
	} cases[] = {
		{ "\x57\x53", 0, 0 }, /* push %rdi, which is nobody's */
		{ "\x57\x53", 1, 1 },
		{ "\x90\x5d\xff\xd1", 2, 0 },	  /* pop %rbp; call *%rcx */
		{ "\x90\x5d\x74\x10", 2, 0 },	  /* jz */
		{ "\x90\x5d\x41\xff\xd1", 2, 0 }, /* call *%r9 */
		{ "\x90\x5d\x48\xe9\x10", 2, 0 }, /* no such instruction */
		{ "\x90\x90\xeb\x10", 2, 0 },	  /* jmp alone */
		{ "\x5d\xc5\xf8\x77\x90", 1, 0 }, /* vzeroupper alone */
		{ "\x55\x48\x89\xe5\x53", 5, 2 }, /* there is a frame pointer */
		{ "\x90\x53\x41\x54", 2, 1 },	  /* it begins elsewhere */
		{ "\x41\x54\x90", 1, 1 },	  /* within an instruction */
		{ "\x53\x90\x90", 2, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[40];
		struct sampled at;

		at = put_generated_leaf(cases[i].code, cases[i].at_byte, cases[i].pushed);
		sprintf(text, "%x 10208", GENERATED + cases[i].at_byte);
		ASSERT_WALK(&at, "UP", text, START);
	}
}

/*
 * Its frame pointer may be anything's, as PyPy's that leads to what it has instead of a
 * stack: what seems to be the return address is a word of that. A caller on another stack
 * has called; on the same one others than calls may have put an address there (HotSpot's
 * interpreter does).
 */
static void test_generated_elsewhere(void **state)
{
	enum { AWAY = 0x100000 };
	static const struct {
		int64_t away; /* from sp */
		bool is_called, is_caller;
	} cases[] = {
		{ AWAY, false, false },	      { -AWAY, false, false },
		{ AWAY, true, true },	      { -AWAY, true, true },
		{ 0x100, false, true },	      { -0x100, false, true },
		{ 64 << 10, false, false },   { (64 << 10) - 16, false, true },
		{ -(64 << 10), false, true }, { -(64 << 10) - 16, false, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sampled at = put_generated_leaf("\x90\x90", 1, 0);
		const uint64_t ra = GENERATED + 0x800;

		at.fp = at.sp + (uint64_t)cases[i].away;
		memory_put(ra - 8, 0);
		memory_put(ra, 0);
		if (cases[i].is_called)
			put_call_before(ra);
		put_frame(at.fp, 0, ra);
		if (cases[i].is_caller)
			ASSERT_WALK(&at, "UP", "8001 8800", FP_ZERO);
		else
			ASSERT_WALK(&at, "U", "8001 cut", BROKEN);
	}
}

/* And so may the frame pointer that such code leaves to whom it calls. */
static void test_generated_caller_elsewhere(void **state)
{
	const struct unwind_rule rules[] = { RULE_SP(0x20), RULE_OF(END) };
	const uint64_t data = STACK + 0x100000;

	for (int is_called = 0; is_called < 2; is_called++) {
		struct sampled at;

		world_setup(NULL);
		mapping_table_add(GENERATED, GENERATED + 0x1000, 0, 0, UNWIND_BY_FP);
		put_code(rules, 2, 0);
		memory_put(GENERATED, 0);
		memory_put(GENERATED + 8, 0);
		memory_put(GENERATED + 16, 0);
		at = leaf_in_code(0);
		at.fp = data;
		memory_put(STACK + 0x18, GENERATED + 8);
		memory_put(GENERATED + 0x7f8, 0);
		memory_put(GENERATED + 0x800, 0);
		if (is_called)
			put_call_before(GENERATED + 0x800);
		put_frame(data, 0, GENERATED + 0x800);
		if (is_called)
			ASSERT_WALK(&at, "UCP", "10000 8008 8800", FP_ZERO);
		else
			ASSERT_WALK(&at, "UC", "10000 8008 cut", BROKEN);
	}
}

/* What a call returns to says where its caller is, if it does nothing but return. */
static void test_generated_caller(void **state)
{
	static const struct {
		const char code[9];
		unsigned int bytes; /* of its frame; 0: it does not say */
	} cases[] = {
		{ "\x48\x83\xc4\x08\xc3\x48\x83\xec", 16 }, /* add $8,%rsp; ret */
		{ "\x48\x83\xc4\x78\xc3", 0x80 },
		{ "\x48\x81\xc4\x88\x01\0\0\xc3", 0x190 },
		{ "\xc3\x90", 8 },
		{ "\x48\x83\xc4\x88\xc3", 0 }, /* makes it larger */
		{ "\x48\x81\xc4\x88\xff\xff\xff\xc3", 0 },
		{ "\x48\x83\xc4\x09\xc3", 0 },
		{ "\x48\x83\xc4\x08\x90\xc3", 0 },
		{ "\x48\x89\xc4\x08\xc3", 0 },
	};
	const struct unwind_rule rules[] = { RULE_SP(0x20), RULE_OF(END) };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sampled at;
		uint64_t word;

		world_setup(NULL);
		mapping_table_add(GENERATED, GENERATED + 0x1000, 0, 0, UNWIND_BY_FP);
		put_code(rules, 2, 0);
		memcpy(&word, cases[i].code, sizeof(word));
		memory_put(GENERATED + 8, word);
		memory_put(GENERATED + 16, 0);
		at = leaf_in_code(0);
		at.fp = 0;
		memory_put(STACK + 0x18, GENERATED + 8);
		if (cases[i].bytes) {
			put_call(STACK + 0x20, cases[i].bytes, 1);
			ASSERT_WALK(&at, "UCC", "10000 8008 10108", START);
		} else {
			ASSERT_WALK(&at, "UC", "10000 8008", FP_ZERO);
		}
	}
}

#define TORN_MAX 4

/* Cranelift's switch of stacks: where the instructions begin between the one that takes
 * fp and the jump's end. */
static const struct inline_switch {
	const char *code;
	size_t bytes;
	uint8_t torn[TORN_MAX]; /* 0: none */
} inline_switches[] = {
	{ "\x48\x89\x21\x48\x89\xc4\x48\x8b\x41\x08\x48\x89\x69\x08"
	  "\x48\x89\xc5\x48\x8b\x41\x10\x48\x8d\x15\x06\x00\x00\x00"
	  "\x48\x89\x51\x10\xff\xe0\x48\xc1\xef\x20",
	  38,
	  { 17, 21, 28, 32 } },
	/* both contexts by %r12, which takes a byte more */
	{ "\x49\x89\x24\x24\x48\x89\xc4\x49\x8b\x44\x24\x08"
	  "\x49\x89\x6c\x24\x08\x48\x89\xc5\x49\x8b\x44\x24\x10"
	  "\x48\x8d\x0d\x07\x00\x00\x00\x49\x89\x4c\x24\x10\xff\xe0",
	  39,
	  { 20, 25, 32, 37 } },
	/* an address elsewhere */
	{ "\x48\x89\xc5\x48\x8b\x41\x10\x48\x8d\x15\x06\x01\x00\x00"
	  "\x48\x89\x51\x10\xff\xe0",
	  20,
	  { 0 } },
};

static void check_inline_switch(const struct inline_switch *is, size_t at_byte)
{
	const struct sampled at = leaf_in_generated("", at_byte, 0);
	uint64_t words[8] = { 0 };
	bool torn = at_byte && memchr(is->torn, (int)at_byte, TORN_MAX);
	char text[40];

	memcpy(words, is->code, is->bytes);
	memory_put(GENERATED - 8, 0);
	memory_put(GENERATED - 16, 0);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		memory_put(GENERATED + 8 * i, words[i]);
	sprintf(text, torn ? "%zx cut" : "%zx 10208", GENERATED + at_byte);
	if (torn)
		ASSERT_WALK(&at, "U", text, TORN);
	else
		ASSERT_WALK(&at, "UP", text, START);
}

static void test_inline_switch(void **state)
{
	for (size_t i = 0; i < sizeof(inline_switches) / sizeof(*inline_switches); i++) {
		world_setup(NULL);
		put_generated();
		for (size_t byte = 0; byte < inline_switches[i].bytes; byte++)
			check_inline_switch(&inline_switches[i], byte);
	}
}

/* A return address that a function took off the stack, as vfork does; of the sampled
 * frame alone, since whoever is called may use the register. */
static void check_ra_in_register(bool sp_by_fp)
{
	for (int reg = 0; reg <= USER_REGS; reg++) {
		struct unwind_rule rule = RULE(.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_REG);
		struct unwind_rule rules[] = { rule, RULE_SP(16), RULE_OF(END), rule };
		struct sampled at;

		rules[0].ra_words = rules[3].ra_words = (short)reg;
		world_setup(NULL);
		fp_gives_sp = sp_by_fp;
		put_code(rules, 4, 0);
		at = leaf_in_code(0);
		at.fp = 0;
		for (int i = 0; i < USER_REGS; i++)
			at.regs[i] = i == reg ? SITE(1) : GARBAGE;
		put_call(STACK, 16, 2);
		if (reg < USER_REGS)
			ASSERT_WALK(&at, "UCC", "10000 10108 10208", START);
		else
			ASSERT_WALK(&at, "U", "10000 cut", BROKEN);
		put_call(STACK, 16, 3);
		if (reg < USER_REGS)
			ASSERT_WALK(&at, "UCC", "10000 10108 10308 cut", BROKEN);
	}
}

static void test_ra_in_register(void **state)
{
	check_ra_in_register(true);
	check_ra_in_register(false); /* arm64 */
}

/* A system call may be its function's last instruction: there the function's own rule
 * holds, not that of what lies behind it, and wherever the mapping ends. */
static void test_in_syscall(void **state)
{
	const struct unwind_rule rules[] = { RULE_SP(0x20), RULE_SP(0x40), RULE_OF(END) };
	struct sampled at = leaf_in_code(CODE_BYTES);

	put_code(rules, 3, 0);
	at.process_info = tables_process_info();
	put_call(STACK, 0x20, 2);
	put_call(put_call(STACK, 0x40, 1), 0x40, 2);
	at.fp = 0;
	ASSERT_WALK(&at, "UCC", "10100 10108 10208", START);
	at.in_syscall = 1;
	ASSERT_WALK(&at, "SC", "10100 10208", START);
	/* nobody called who was begun by it, whatever lies on its stack */
	at.in_syscall = IN_SYSCALL_THAT_BEGAN_IT;
	ASSERT_WALK(&at, "S", "10100", START);
	at.in_syscall = 1;
	at.pc = FUNCTION(3);
	ASSERT_WALK(&at, "S", "10300", START);
}

/* Where no rule is, of what follows only a return belongs to the function that calls. */
static void test_generated_in_syscall(void **state)
{
	static const struct {
		const char *code;
		bool returns;
	} cases[] = {
		{ "\x0f\x05\xc3", true },
		{ "\x0f\x05\xc2\x10\x7f", true },
		{ "\x0f\x05\x55\x48\x89\xe5", false },
		{ "\x0f\x05\xf3\x0f\x1e\xfa\x55\x48\x89\xe5", false },
		{ "\x0f\x05" V8_ENTRY, false },
	};

	put_generated();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sampled at = leaf_in_generated(cases[i].code, 2, 0);

		ASSERT_WALK(&at, "UCC", "8002 10108 10208", START);
		at.in_syscall = 1;
		if (cases[i].returns)
			ASSERT_WALK(&at, "SCC", "8002 10108 10208", START);
		else
			ASSERT_WALK(&at, "SP", "8002 10208", START);
	}
}

int run_leaf_cases(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_generated_leaf),	CASE(test_generated_no_leaf),
		CASE(test_generated_elsewhere), CASE(test_generated_caller_elsewhere),
		CASE(test_generated_caller),	CASE(test_inline_switch),
		CASE(test_made_frame),		CASE(test_ra_in_register),
		CASE(test_in_syscall),		CASE(test_generated_in_syscall),
	};

	return cmocka_run_group_tests_name("leaves", tests, NULL, NULL);
}
