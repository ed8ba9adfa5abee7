// SPDX-License-Identifier: BSD-2-Clause
/* Code that HotSpot generates: its code cache says how large a frame is, and a leaf's own
 * instructions how much of it is there. */
#include "java.h"

#include <string.h>

#define BANG	"\x89\x84\x24\x00\xc0\xfe\xff"
#define PUSH	"\x55"
#define SET_FP	"\x48\x8b\xec"
#define SUB	"\x48\x83\xec\x30"
#define SUB_4	"\x48\x81\xec\x38\x00\x00\x00"
#define SAVE	"\x48\x89\x6c\x24\x30"
#define SAVE_4	"\x48\x89\xac\x24\x30\x00\x00\x00"
#define ADD_FP	"\x48\x83\xc5\x30"
#define ASK	"\x41\x81\x7f\x20\x00\x00\x00\x00"
#define ASK_4	"\x41\x81\xbf\x48\x04\x00\x00\x00\x00\x00\x00"
#define JNE	"\x0f\x85\x10\x20\x00\x00"
#define JE	"\x74\x05"
#define CALL	"\xe8\x10\x20\x00\x00"
#define MISS	"\x3b\x46\x08\x0f\x85\x10\x20\x00\x00" /* cmp 8(%rsi),%eax; jne */
#define ADD	"\x48\x83\xc4\x30"
#define POP	"\x5d"
#define POLL	"\x49\x3b\xa7\x60\x03\x00\x00"
#define POLL_1	"\x49\x3b\x67\x28"
#define JA	"\x0f\x87\x10\x20\x00\x00"
#define POLL_15 "\x4d\x8b\x97\x08\x01\x00\x00\x41\x85\x02"
#define POLL_8	"\x85\x05\x10\x20\x30\x00"
#define RETURN	"\xc3"
#define JUMP	"\xe9\x10\x20\x30\x00"
#define LEAVE	"\xc9"
#define RAX	"\x50"
#define SCAN	"\xf2\x48\xaf\x58"
#define MOVES	"\x44\x8b\xd5\x41\xff\xc2" /* mov %ebp,%r10d; inc %r10d */

/* How much of the callee's frame is there: nothing but the return address; rbp, too; all
 * but rbp; all; and a word below. */
enum is_there { NOTHING, PUSHED, UNSAVED, ALL, SCANS };

static const struct {
	const char *code;
	size_t n;
	unsigned int at_byte;
	enum is_there is_there;
	bool is_end; /* behind the frame's beginning */
} leaves[] = {
#define LEAF(at_byte, is_there, is_end, code)                                            \
	{                                                                                \
		code, sizeof(code), at_byte, is_there, is_end                            \
	}
	LEAF(0, NOTHING, false, MISS BANG PUSH SUB),
	LEAF(3, NOTHING, false, MISS BANG PUSH SUB),
	LEAF(9, NOTHING, false, MISS BANG PUSH SUB),
	LEAF(0, NOTHING, false, BANG PUSH SUB),
	LEAF(7, NOTHING, false, BANG PUSH SUB),
	LEAF(8, PUSHED, false, BANG PUSH SUB),
	LEAF(8, PUSHED, false, BANG PUSH SUB_4),
	LEAF(8, PUSHED, false, BANG PUSH SET_FP SUB),
	LEAF(11, PUSHED, false, BANG PUSH SET_FP SUB),
	LEAF(0, NOTHING, false, SUB_4 SAVE),
	LEAF(7, UNSAVED, false, SUB_4 SAVE),
	LEAF(4, UNSAVED, false, SUB SAVE_4),
	LEAF(12, ALL, false, SUB_4 SAVE SET_FP ADD_FP),
	LEAF(15, ALL, false, SUB_4 SAVE SET_FP ADD_FP),
	LEAF(5, ALL, false, PUSH SUB ASK JNE),
	LEAF(13, ALL, false, PUSH SUB ASK JNE),
	LEAF(5, ALL, false, PUSH SUB ASK_4 JNE),
	LEAF(16, ALL, false, PUSH SUB ASK_4 JNE),
	LEAF(5, ALL, false, PUSH SUB "\x90" ASK JE CALL),
	LEAF(5, ALL, false, PUSH SUB "\x0f\x1f\x80\x00\x00\x00\x00" ASK_4 JE CALL),
	LEAF(14, ALL, false, PUSH SUB "\x90" ASK JE CALL),
	LEAF(16, ALL, false, PUSH SUB "\x90" ASK JE CALL),
	LEAF(0, NOTHING, false, "\x90" BANG PUSH SUB ASK),
	LEAF(0, ALL, true, MOVES),
	LEAF(3, ALL, true, MOVES),
	LEAF(0, ALL, true, ADD POP RETURN),
	LEAF(4, PUSHED, true, ADD POP RETURN),
	LEAF(5, NOTHING, true, ADD POP RETURN),
	LEAF(4, PUSHED, true, ADD POP POLL JA RETURN),
	LEAF(5, NOTHING, true, ADD POP POLL JA RETURN),
	LEAF(12, NOTHING, true, ADD POP POLL JA RETURN),
	LEAF(18, NOTHING, true, ADD POP POLL JA RETURN),
	LEAF(5, NOTHING, true, ADD POP POLL_1 JA RETURN),
	LEAF(9, NOTHING, true, ADD POP POLL_1 JA RETURN),
	LEAF(4, PUSHED, true, ADD POP POLL_15 RETURN),
	LEAF(5, NOTHING, true, ADD POP POLL_15 RETURN),
	LEAF(12, NOTHING, true, ADD POP POLL_15 RETURN),
	LEAF(4, PUSHED, true, ADD POP POLL_8 RETURN),
	LEAF(5, NOTHING, true, ADD POP POLL_8 RETURN),
	LEAF(5, NOTHING, true, ADD POP JUMP),
	LEAF(4, PUSHED, true, ADD POP JUMP),
	LEAF(1, SCANS, true, RAX SCAN),
	LEAF(4, SCANS, true, RAX SCAN),
	LEAF(1, NOTHING, true, LEAVE "\x49\x83\x7f\x08\x00"),
	LEAF(1, NOTHING, true, LEAVE "\x41\xf6\x47\x28\x01"),
	LEAF(0, ALL, true, JUMP),
	/* ja of two numbers, and a load from the thread */
	LEAF(3, ALL, true, "\x41\x39\xd8" JA),
	LEAF(0, ALL, true, POLL_15),
};

static void test_leaves(void **state)
{
	for (size_t i = 0; i < sizeof(leaves) / sizeof(*leaves); i++) {
		struct hotspot *vm = &java_layouts[i % 2];
		uint64_t begin = BLOB(CALLEE) + (leaves[i].is_end ? COMPLETE : 0);
		struct sampled at = put_java(vm);

		if (!leaves[i].is_end)
			begin += 8;
		put_bytes(begin, leaves[i].code, leaves[i].n);
		at.pc = begin + leaves[i].at_byte;
		at.sp = leaves[i].is_there == NOTHING  ? CALLEE_END - 8
			: leaves[i].is_there == PUSHED ? CALLEE_END - 16
			: leaves[i].is_there == SCANS  ? CALLEE_END - CALLEE_BYTES - 8
						       : CALLEE_END - CALLEE_BYTES;
		at.fp = 0x123456789;
		if (leaves[i].is_there == UNSAVED)
			memory_put(CALLEE_END - 16, 0);
		assert_java(&at, "UCCCC");
	}
}

/* In the callee's code proper, with its frame. */
static struct sampled put_leaf(struct hotspot *vm)
{
	struct sampled at = put_java(vm);

	put_bytes(BLOB(CALLEE) + COMPLETE, MOVES, sizeof(MOVES));
	at.pc = BLOB(CALLEE) + COMPLETE + 3;
	at.sp = CALLEE_END - CALLEE_BYTES;
	at.fp = 0x123456789;
	return at;
}

/* What the code leads to is no caller: it is cut, and the frame pointer is not asked. */
static void test_leaf_that_nobody_called(void **state)
{
	struct sampled at = put_leaf(&java_layouts[0]);
	char text[40];

	at.fp = CALLER_END - 16;
	memory_put(CALLEE_END - 8, SITE(1));
	memory_put(CALLEE_END, 0);
	sprintf(text, "%llx cut", (unsigned long long)at.pc);
	ASSERT_WALK(&at, "U", text, BROKEN);
}

/* Without a block that says so there is the frame pointer, for what it is worth. */
static void test_no_block(void **state)
{
	const uint64_t first = (BLOCK(CALLEE) - HEAP_LOW) >> SHIFT;
	struct hotspot *vm = &java_layouts[0];

	for (int i = 0; i < 7; i++) {
		struct sampled at = put_leaf(vm);
		char text[80];

		at.fp = CALLER_END - 16;
		if (i == 0)
			put_tag(first + 1, HOTSPOT_SEGMENT_FREE);
		else if (i == 1)
			memory_unmap(SEGMENTS);
		else if (i == 2) /* it goes back for ever */
			for (uint64_t k = 0; k < HEAP_BYTES >> SHIFT; k++)
				put_tag(k, 1);
		else if (i == 3)
			put_field(vm->frame_words, BLOCK(CALLEE), -2);
		else if (i == 4)
			put_field(vm->frame_words, BLOCK(CALLEE), 0x10000);
		else if (i == 5) /* as far behind as a free one's number */
			put_bytes(at.pc = BLOCK(CALLEE) + (0xff << SHIFT) + 0x100, MOVES,
				  sizeof(MOVES));
		else
			at.hotspot = NULL;
		sprintf(text, "%llx %llx 10108 10208", (unsigned long long)at.pc,
			CALL_STUB);
		/* the call stub's caller is found as before, if it is known */
		ASSERT_WALK(&at, at.hotspot ? "UPCC" : "UPPC", text, START);
	}
}

/* Far from its block's beginning. */
static void test_long_code(void **state)
{
	enum { SEGMENTS_OF_IT = 200 };

	for (int hop = 17; hop > 0; hop -= 4) {
		struct hotspot *vm = &java_layouts[0];
		struct sampled at = put_leaf(vm);

		put_block(vm, LONG, SEGMENTS_OF_IT, CALLEE_BYTES / 8, COMPLETE);
		for (int i = hop; i < SEGMENTS_OF_IT; i++)
			put_tag(((LONG - HEAP_LOW) >> SHIFT) + (uint64_t)i,
				(unsigned char)hop);
		at.pc = LONG + (SEGMENTS_OF_IT - 1ULL) * (1 << SHIFT) + 8;
		put_bytes(at.pc - 3, MOVES, sizeof(MOVES));
		put_call_to(BLOB_SITE(CALLER), LONG + CODE_AT);
		if (SEGMENTS_OF_IT / hop < 15)
			assert_java(&at, "UCCCC");
		else
			assert_int_equal(walker_sample(&at)->n_thread, 1);
	}
}

/* Who makes up a code cache in which each frame is far from its block's beginning has
 * some of them walked. */
static void test_many_long_ways(void **state)
{
	enum { FRAMES = 400 };

	for (unsigned char back = 1; back < 16; back += 14) {
		struct hotspot *vm = &java_layouts[0];
		struct sampled at = put_java(vm);
		const uint64_t ra = LONG + (15 << SHIFT) + 8;
		uint64_t sp = STACK;

		put_block(vm, LONG, 16, 4, 0);
		for (unsigned int i = 1; i < 16; i++)
			put_tag(((LONG - HEAP_LOW) >> SHIFT) + i, back == 1 ? 1 : i);
		for (int i = 0; i < FRAMES; i++, sp += 32)
			put_frame(sp + 16, GARBAGE, i + 1 < FRAMES ? ra : CALL_STUB);
		put_frame(sp - 16, sp + 0x20, CALL_STUB);
		put_frame(sp + 0x20, 0, SITE(1));
		put_call(sp + 0x30, 16, 2);
		put_bytes(at.pc = LONG + (15 << SHIFT), MOVES, sizeof(MOVES));
		at.sp = STACK;
		assert_true((walker_sample(&at)->ending == END_START) == (back != 1));
		assert_true(walker_sample(&at)->n_thread > 200);
	}
}

/* The interpreter returns to itself where nobody called, and has added locals to its
 * caller's frame, whose sp it keeps. */
static struct sampled put_interpreted(struct hotspot *vm)
{
	struct sampled at = put_leaf(vm);

	memory_put(CALLEE_END, 0);
	put_frame(CALLEE_END - 16, CALLEE_END + 0x40, INTERPRETED);
	memory_put(CALLEE_END + 0x40 - 8, CALLEE_END + 0x80);
	put_frame(CALLEE_END + 0x40, GARBAGE, BLOB_SITE(CALLER));
	put_frame(CALLEE_END + 0x80 + CALLER_BYTES - 16, STUB_FP + 0x80, CALL_STUB);
	put_frame(STUB_FP + 0x80, 0, SITE(1));
	put_call(STUB_FP + 0x80 + 16, 16, 2);
	return at;
}

static void test_interpreted_caller(void **state)
{
	struct sampled at = put_interpreted(&java_layouts[0]);
	char text[100];

	sprintf(text, "%llx %llx %llx %llx 10108 10208", (unsigned long long)at.pc,
		INTERPRETED, BLOB_SITE(CALLER), CALL_STUB);
	ASSERT_WALK(&at, "UCCCCC", text, START);
	/* a stack does not go back */
	memory_put(CALLEE_END + 0x40 - 8, CALLEE_END - 0x80);
	sprintf(text, "%llx %llx cut", (unsigned long long)at.pc, INTERPRETED);
	ASSERT_WALK(&at, "UC", text, BROKEN);
}

/* What was called through a method handle keeps the sp from before a word was taken from
 * below its return address. */
static void test_interpreted_by_handle(void **state)
{
	struct sampled at = put_interpreted(&java_layouts[0]);
	uint64_t fp = CALLEE_END + 0x18;
	char text[100];

	put_frame(CALLEE_END - 16, fp, INTERPRETED);
	put_frame(fp, CALLEE_END + 0x40, INTERPRETED);
	memory_put(fp - 8, fp + 8);
	sprintf(text, "%llx %llx %llx %llx %llx 10108 10208", (unsigned long long)at.pc,
		INTERPRETED, INTERPRETED, BLOB_SITE(CALLER), CALL_STUB);
	ASSERT_WALK(&at, "UCCCCCC", text, START);
	memory_put(fp - 8, fp);
	sprintf(text, "%llx %llx cut", (unsigned long long)at.pc, INTERPRETED);
	ASSERT_WALK(&at, "UC", text, BROKEN);
}

/* A frame that interprets a method is that method's; a leaf has its own before. */
static void test_interpreted_method(void **state)
{
	static const struct {
		uint64_t method;
		bool is_one;
	} cases[] = {
		{ 0x7f1200345678, true },
		{ 0, false },
		{ 0x7f1200345679, false },
		{ 0xff00000000000008, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sampled at = put_interpreted(&java_layouts[0]);
		uint64_t fp = CALLEE_END + 0x40, method = cases[i].method;
		char text[100];

		memory_put(fp - 24, method);
		sprintf(text, "%llx %llx %llx %llx 10108 10208",
			(unsigned long long)at.pc,
			cases[i].is_one ? (unsigned long long)method : INTERPRETED,
			BLOB_SITE(CALLER), CALL_STUB);
		ASSERT_WALK(&at, cases[i].is_one ? "UMCCCC" : "UCCCCC", text, START);
		at.pc = INTERPRETER + 0x200;
		at.sp = fp - 0x70;
		at.fp = fp;
		at.regs[14] = fp + 0x28;
		memory_put(fp - 56, 5);
		sprintf(text,
			cases[i].is_one ? "%llx 7f1200345678 %llx %llx 10108 10208"
					: "%llx %llx %llx 10108 10208",
			(unsigned long long)at.pc, BLOB_SITE(CALLER), CALL_STUB);
		ASSERT_WALK(&at, cases[i].is_one ? "UMCCCC" : "UCCCC", text, START);
	}
}

/* The interpreter as a leaf, whose frame is there if a register has its locals. */
static void test_interpreter(void **state)
{
	for (int i = 0; i < 4; i++) {
		struct sampled at = put_interpreted(&java_layouts[0]);
		uint64_t fp = CALLEE_END + 0x40, locals = fp + 0x28;
		char text[80];

		at.pc = INTERPRETER + 0x200;
		at.sp = fp - 0x70;
		at.fp = fp;
		at.regs[14] = i ? locals : 0;
		memory_put(fp - 56, i == 1 ? locals : i == 2 ? 5 : 1);
		memory_put(fp - 48, i == 3 ? locals : 0); /* JDK 8 */
		sprintf(text, "%llx %llx %llx 10108 10208", (unsigned long long)at.pc,
			BLOB_SITE(CALLER), CALL_STUB);
		ASSERT_WALK(&at, i ? "UCCCC" : "UPCCC", text, START);
	}
}

/* Stubs, by the calls that lead to them: without a frame, and with a frame pointer. */
static void test_stubs(void **state)
{
	for (int i = 0; i < 8; i++) {
		struct hotspot *vm = &java_layouts[i & 1];
		bool has_fp = i & 2, by_register = i & 4;
		struct sampled at = put_java(vm);

		at.pc = STUBS + 0x180;
		at.sp = has_fp ? CALLEE_END - 0x30 : CALLEE_END - 8;
		at.fp = has_fp ? CALLEE_END - 16 : CALLER_END - 16;
		if (by_register) { /* movabs $…,%r10; call *%r10 */
			put_bytes(BLOB_SITE(CALLER) - 13, "\x49\xba", 2);
			put_field((struct hotspot_field){ 0, 8 }, BLOB_SITE(CALLER) - 11,
				  (int64_t)(STUBS + 0x100));
			put_bytes(BLOB_SITE(CALLER) - 3, "\x41\xff\xd2", 3);
		} else {
			put_call_to(BLOB_SITE(CALLER), STUBS + 0x100);
		}
		assert_java(&at, "UCCCC");
		/* of who called something else it may be true all the same */
		put_bytes(BLOB_SITE(CALLER) - 13, "\x90\x90", 2);
		put_call_to(BLOB_SITE(CALLER), BLOB(CALLEE));
		if (has_fp)
			memory_put(at.sp, 0);
		assert_java(&at, "UPCCC");
	}
}

int run_hotspot_cases(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_leaves),
		CASE(test_leaf_that_nobody_called),
		CASE(test_no_block),
		CASE(test_long_code),
		CASE(test_many_long_ways),
		CASE(test_interpreted_caller),
		CASE(test_interpreted_by_handle),
		CASE(test_interpreted_method),
		CASE(test_interpreter),
		CASE(test_stubs),
	};

	return cmocka_run_group_tests_name("hotspot", tests, NULL, NULL);
}
