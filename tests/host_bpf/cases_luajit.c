// SPDX-License-Identifier: BSD-2-Clause
/* LuaJIT's interpreter, and what it compiled: the frame that its state has at work. */
#include "code.h"

#define TRACES	 0x40000ULL
#define LEAF	 0x40100ULL
#define TRACE_AT 0x40208ULL
#define STATE	 HEAP
#define GLOBAL	 (HEAP + 0x1000)
#define DISPATCH (GLOBAL + 0xf80)

/* As it keeps its caller's registers. */
#define RULE_LUA                                                                         \
	RULE(.cfa = UNWIND_CFA_SP, .cfa_offset = 80, .fp = UNWIND_FP_CFA,                \
	     .fp_words = -2, .bx_words = -3)

/* Function 0 is the interpreter, called by 1, which 2 called. */
static void put_lua(uint32_t flags)
{
	const struct unwind_rule rules[] = { RULE_LUA, RULE_SP(32), RULE_OF(END) };

	world_setup(NULL);
	put_code(rules, 3, flags);
	mapping_table_add(TRACES, TRACES + 0x1000, 0, 0, UNWIND_BY_FP | flags);
	for (int i = 0; i < 3; i++)
		put_call_before(SITE(i));
	put_call_before(TRACE_AT);
}

/* Its frame, of a lua_State; who it is called by has the rest. */
static void put_lua_frame(uint64_t at, uint64_t state, uint64_t cframe)
{
	for (int i = 0; i < 9; i++)
		memory_put(at + 8 * i, 0x5555000 + i);
	memory_put(at + 16, state);
	memory_put(state + 0x10, GLOBAL);
	memory_put(state + 0x50, cframe);
	put_call(put_call(at, 80, 1), 32, 2);
}

/* The leaf is in a trace that spills so many words. */
static struct sampled in_trace(int spilled, uint32_t flags)
{
	struct sampled at;

	put_lua(flags);
	put_lua_frame(STACK + 8 * spilled, STATE, (STACK + 8 * spilled) | 1);
	for (int i = 0; i < spilled; i++)
		memory_put(STACK + 8 * i, i % 2 ? STATE : GARBAGE + i);
	at = leaf_in_code(0);
	at.pc = LEAF;
	at.fp = STACK + 0x400;
	at.regs[14] = DISPATCH;
	put_frame(at.fp, 0, SITE(2));
	return at;
}

static void test_traces(void **state)
{
	for (int spilled = 0; spilled < 64; spilled++) {
		struct sampled at = in_trace(spilled, UNWIND_LUAJIT);

		ASSERT_WALK(&at, "UCC", "40100 10108 10208", START);
	}
}

/* Which then goes by its frame pointer, as other generated code. */
static void test_no_trace(void **state)
{
	struct sampled at = in_trace(64, UNWIND_LUAJIT);

	ASSERT_WALK(&at, "UP", "40100 10208", START);
	at = in_trace(4, UNWIND_LUAJIT);
	at.regs[14] = GLOBAL - 8;
	ASSERT_WALK(&at, "UP", "40100 10208", START);
	at = in_trace(4, UNWIND_LUAJIT);
	memory_put(STATE + 0x50, STACK + 8 * 4 + 8);
	ASSERT_WALK(&at, "UP", "40100 10208", START);
	at = in_trace(4, UNWIND_LUAJIT);
	memory_put(STACK + 8 * 4 + 16, STATE + 4);
	ASSERT_WALK(&at, "UP", "40100 10208", START);
	at = in_trace(4, 0); /* nobody beside it is LuaJIT */
	ASSERT_WALK(&at, "UP", "40100 10208", START);
}

#define STATE_32  0x1000000ULL
#define GLOBAL_32 0x2000000ULL
#define CODE_32	  0x3000000ULL

/* Without GC64, in a trace that spills so many words. */
static struct sampled in_trace_32(int spilled)
{
	struct sampled at = in_trace(spilled, UNWIND_LUAJIT);
	uint64_t frame = STACK + 8 * spilled;

	memory_put(frame + 16, 2);
	memory_put(frame + 24, STATE_32 | CODE_32 << 32);
	memory_put(STATE_32 + 8, GLOBAL_32 | 0x5555ULL << 32);
	memory_put(STATE_32 + 0x30, frame | 1);
	at.regs[14] = GLOBAL_32 + 0xc88;
	return at;
}

static void test_32_bits(void **state)
{
	for (int spilled = 0; spilled < 64; spilled++) {
		struct sampled at = in_trace_32(spilled);

		ASSERT_WALK(&at, "UCC", "40100 10108 10208", START);
	}
}

/* What is no state's pointer, no state's frame, or no trace. */
static void test_32_bits_of_others(void **state)
{
	for (int i = 0; i < 4; i++) {
		struct sampled at = in_trace_32(4);

		if (i == 0)
			memory_put(STACK + 32 + 24, STATE_32 | 0x7ffeULL << 32);
		if (i == 1)
			memory_put(STATE_32 + 0x30, STACK + 32 + 8);
		if (i == 2)
			at.regs[14] = GLOBAL_32 - 1;
		if (i == 3)
			at.regs[14] = GLOBAL_32 + 0x10000;
		ASSERT_WALK(&at, "UP", "40100 10208", START);
	}
}

/* What a trace called. */
static struct sampled called_by_a_trace(void)
{
	struct sampled at = leaf_in_code(CODE_BYTES);

	memory_put(STACK + 24, TRACE_AT);
	put_lua_frame(STACK + 32 + 16, STATE, STACK + 32 + 16);
	return at;
}

static void test_called_by_a_trace(void **state)
{
	struct sampled at;

	put_lua(UNWIND_LUAJIT);
	at = called_by_a_trace();
	ASSERT_WALK(&at, "UCCC", "10100 40208 10108 10208", START);
}

/* Other code of the same process, of which a copy has a rule. */
static void test_called_by_a_copy(void **state)
{
	const struct unwind_rule rules[] = { RULE_LUA, RULE_SP(32), RULE_OF(END) };
	struct sampled at;
	uint32_t copied;

	for (uint64_t i = TRACES; i < TRACES + 0x1000; i += 8)
		memory_put(i, 0x9090909090909090);
	put_call_before(TRACE_AT);
	copied = put_copy_of(TRACES, RULE_SP(48 + 80 + 32));
	put_code(rules, 3, UNWIND_LUAJIT);
	mapping_table_add(TRACES, TRACES + 0x1000, 0, copied,
			  UNWIND_COPIED | UNWIND_LUAJIT);
	put_call_before(SITE(2));
	at = called_by_a_trace();
	put_call(STACK + 32, 48 + 80 + 32, 2);
	ASSERT_WALK(&at, "UCC", "10100 40208 10208", START);
}

/* Where traces are entered and left, and where it calls its own parts. */
static void test_interpreter_with_more(void **state)
{
	for (int more = 0; more < 62; more += more < 2 ? 1 : 12) {
		struct sampled at;

		put_lua(UNWIND_LUAJIT);
		at = leaf_in_code(0);
		for (int i = 0; i < more; i++)
			memory_put(STACK + 8 * i, GARBAGE);
		put_lua_frame(STACK + 8 * more, STATE, STACK + 8 * more);
		ASSERT_WALK(&at, "UCC", "10000 10108 10208", START);
	}
}

/* If its frame can't be found there, as of builds whose states are laid out otherwise, it
 * is cut: what its rule leads to may be 0, as at a start. */
static void test_interpreter_with_more_astray(void **state)
{
	struct sampled at;

	for (int word = 0; word < 2; word++) {
		put_lua(UNWIND_LUAJIT);
		at = leaf_in_code(0);
		for (int i = 0; i < 22; i++)
			memory_put(STACK + 8 * i, word ? GARBAGE : 0);
		put_lua_frame(STACK + 8 * 22, STATE, 0);
		ASSERT_WALK(&at, "U", "10000 cut", TORN);
	}
}

/* Called by way of C once more, it has another frame at work; a coroutine's is near. */
static void test_outer_frame(void **state)
{
	struct sampled at;
	uint64_t outer = STACK + 32 + 80;

	put_lua(UNWIND_LUAJIT);
	at = leaf_in_code(CODE_BYTES);
	put_lua_frame(outer, STATE + 0x100, outer);
	put_lua_frame(STACK + 32, STATE, STACK - 0x100);
	put_call(STACK, 32, 0);
	put_call(STACK + 32, 80, 0);
	put_call(outer, 80, 1);
	ASSERT_WALK(&at, "UCCCC", "10100 10008 10008 10108 10208", START);
}

/* A trace's end has called function 1, which had the interpreter call 1 once more. */
static void test_frame_before(void **state)
{
	for (uint64_t more = 1; more < 64; more += 20) {
		struct sampled at;
		uint64_t inner = STACK + 32, outer = inner + 80 + 32 + 8 * more;

		put_lua(UNWIND_LUAJIT);
		at = leaf_in_code(CODE_BYTES);
		for (uint64_t i = STACK; i < outer; i += 8)
			memory_put(i, GARBAGE);
		put_lua_frame(outer, STATE, 0);
		put_lua_frame(inner, STATE, inner | 2);
		memory_put(inner + 32, outer | 1);
		put_call(STACK, 32, 0);
		put_call(put_call(inner, 80, 1), 32, 0);
		memory_put(outer, GARBAGE);
		put_call(put_call(outer, 80, 1), 32, 2);
		ASSERT_WALK(&at, "UCCCCC", "10100 10008 10108 10008 10108 10208", START);
		/* of another one */
		memory_put(inner + 32, outer + 8);
		ASSERT_WALK(&at, "UCCC", "10100 10008 10108 10008 cut", TORN);
	}
}

/* Generated code by frame pointer, each frame of which is looked for in vain; above so
 * many of them nobody looks any more for the one that is there. */
static void test_looks_are_counted(void **state)
{
	for (int frames = 20; frames <= 70; frames += 50) {
		struct sampled at;
		uint64_t fp = STACK + 0x400;

		put_lua(UNWIND_LUAJIT);
		at = leaf_in_code(0);
		at.pc = LEAF;
		at.fp = fp;
		for (int i = 0; i < frames; i++, fp += 0x400)
			put_frame(fp, fp + 0x400, TRACE_AT);
		put_frame(fp, 0, SITE(2));
		put_lua_frame(fp - 0x400 + FRAME_BYTES, STATE, fp - 0x400 + FRAME_BYTES);
		assert_int_equal(walker_sample(&at)->words[frames + 1] & FRAME_ADDR_MASK,
				 frames == 20 ? SITE(1) : SITE(2));
	}
}

/* Who is not loaded with what finds its frames does not try: the record of rbp, which is
 * anybody's, would lead on. */
static void test_tick_without_it(void **state)
{
	struct sampled at = in_trace(0, UNWIND_LUAJIT);

	knobs.parts = PARTS_ALL & ~PART_LUAJIT;
	ASSERT_WALK(&at, "U", "40100 cut", AWAITED);
}

int run_luajit_cases(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_traces),
		CASE(test_no_trace),
		CASE(test_32_bits),
		CASE(test_32_bits_of_others),
		CASE(test_called_by_a_trace),
		CASE(test_called_by_a_copy),
		CASE(test_interpreter_with_more),
		CASE(test_interpreter_with_more_astray),
		CASE(test_outer_frame),
		CASE(test_frame_before),
		CASE(test_looks_are_counted),
		CASE(test_tick_without_it),
	};

	return cmocka_run_group_tests_name("luajit", tests, NULL, NULL);
}
