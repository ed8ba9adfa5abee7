// SPDX-License-Identifier: BSD-2-Clause
/* What cases_hotspot.c has, where it is another on arm64: the link register, other
 * beginnings and ends of functions, and where the interpreter keeps sp. */
#include "java.h"

#define NOP	    0xd503201f
#define BANG	    0xd14053e9, 0xf900013f /* sub x9, sp, #20, lsl #12; str xzr, [x9] */
#define SUB	    0xd10103ff		   /* sub sp, sp, #64 */
#define SAVE	    0xa9037bfd		   /* stp x29, x30, [sp, #48] */
#define SET_FP_48   0x9100c3fd		   /* add x29, sp, #48 */
#define PUSH	    0xa9bf7bfd		   /* stp x29, x30, [sp, #-16]! */
#define SET_FP	    0x910003fd		   /* mov x29, sp */
#define SUB_REST    0xd100c3ff		   /* sub sp, sp, #48 */
#define MOVE_REST   0xd2800608		   /* mov x8, #48 */
#define SUB_REST_X8 0xcb2863ff		   /* sub sp, sp, x8 */
#define BARRIER	    0x58000188, 0x18000129 /* ldr x8, …; ldr w9, … */
#define LOAD	    0xa9437bfd		   /* ldp x29, x30, [sp, #48] */
#define ADD	    0x910103ff		   /* add sp, sp, #64 */
#define ADD_REST    0x9100c3ff		   /* add sp, sp, #48 */
#define POP	    0xa8c17bfd		   /* ldp x29, x30, [sp], #16 */
#define POLL	    0xf941bf88, 0xeb2863ff, 0x54000108 /* ldr x8; cmp sp, x8; b.hi */
#define POLL_11	    0xf9408788, 0xb940011f /* ldr x8, [x28, …]; ldr wzr, [x8] */
#define POLL_8	    0xd0000008, 0xb940011f /* adrp x8, …; ldr wzr, [x8] */
#define RETURN	    0xd65f03c0
#define BRANCH	    0x14000400
#define MOVES	    0x2a0103e0, 0x11000400 /* mov w0, w1; add w0, w0, #1 */
#define WAY_BACK    0x10000089, 0xa9bf27ff, 0xd63f0100, 0x910043ff

/* How much of the callee's frame is there: nothing, and the link register leads to the
 * caller; room for all; a record; all; a way back below it. */
enum is_there { NOTHING, TAKEN, RECORD, ALL, MORE };

#define INSNS_MAX 12

static const struct {
	uint32_t insns[INSNS_MAX];
	unsigned int at;
	enum is_there is_there;
	bool is_end; /* behind the frame's beginning */
} leaves[] = {
#define LEAF(at, is_there, is_end, ...)                                                  \
	{                                                                                \
		{ __VA_ARGS__ }, at, is_there, is_end                                    \
	}
	LEAF(0, NOTHING, false, NOP, BANG, SUB, SAVE),
	LEAF(2, NOTHING, false, NOP, BANG, SUB, SAVE),
	LEAF(3, NOTHING, false, NOP, BANG, SUB, SAVE),
	LEAF(4, TAKEN, false, NOP, BANG, SUB, SAVE),
	LEAF(5, ALL, false, NOP, BANG, SUB, SAVE, BARRIER),
	LEAF(6, ALL, false, NOP, BANG, SUB, SAVE, BARRIER),
	LEAF(6, ALL, false, NOP, BANG, SUB, SAVE, SET_FP_48, BARRIER),
	LEAF(3, NOTHING, false, NOP, BANG, PUSH, SUB_REST),
	LEAF(4, RECORD, false, NOP, BANG, PUSH, SUB_REST),
	LEAF(5, ALL, false, NOP, BANG, PUSH, SUB_REST, BARRIER),
	LEAF(4, RECORD, false, NOP, BANG, PUSH, SET_FP, SUB_REST),
	LEAF(5, RECORD, false, NOP, BANG, PUSH, SET_FP, SUB_REST),
	LEAF(6, ALL, false, NOP, BANG, PUSH, SET_FP, SUB_REST, BARRIER),
	LEAF(4, RECORD, false, NOP, BANG, PUSH, MOVE_REST, SUB_REST_X8),
	LEAF(5, RECORD, false, NOP, BANG, PUSH, MOVE_REST, SUB_REST_X8),
	LEAF(6, ALL, false, NOP, BANG, PUSH, MOVE_REST, SUB_REST_X8, BARRIER),
	LEAF(0, NOTHING, true, PUSH, SET_FP, SUB_REST),
	LEAF(1, RECORD, true, PUSH, SET_FP, SUB_REST),
	LEAF(2, RECORD, true, PUSH, SET_FP, SUB_REST),
	LEAF(0, NOTHING, true, SUB, SAVE),
	LEAF(1, TAKEN, true, SUB, SAVE),
	LEAF(0, ALL, true, MOVES),
	LEAF(1, ALL, true, MOVES),
	LEAF(0, ALL, true, LOAD, ADD, POLL, RETURN),
	LEAF(1, ALL, true, LOAD, ADD, POLL, RETURN),
	LEAF(2, NOTHING, true, LOAD, ADD, POLL, RETURN),
	LEAF(3, NOTHING, true, LOAD, ADD, POLL, RETURN),
	LEAF(4, NOTHING, true, LOAD, ADD, POLL, RETURN),
	LEAF(5, NOTHING, true, LOAD, ADD, POLL, RETURN),
	LEAF(2, NOTHING, true, LOAD, ADD, POLL_11, RETURN),
	LEAF(3, NOTHING, true, LOAD, ADD, POLL_11, RETURN),
	LEAF(4, NOTHING, true, LOAD, ADD, POLL_11, RETURN),
	LEAF(3, NOTHING, true, LOAD, ADD, POLL_8, RETURN),
	LEAF(2, NOTHING, true, LOAD, ADD, BRANCH, MOVES),
	LEAF(3, ALL, true, LOAD, ADD, BRANCH, MOVES),
	LEAF(0, ALL, true, ADD_REST, POP, POLL, RETURN),
	LEAF(1, RECORD, true, ADD_REST, POP, POLL, RETURN),
	LEAF(2, NOTHING, true, ADD_REST, POP, POLL, RETURN),
	LEAF(3, NOTHING, true, ADD_REST, POP, POLL, RETURN),
	LEAF(5, NOTHING, true, ADD_REST, POP, POLL, RETURN),
	/* in a loop it asks as well, and the frame is there */
	LEAF(1, ALL, true, MOVES, POLL_11, MOVES),
	LEAF(3, ALL, true, MOVES, POLL_11, MOVES),
	LEAF(1, ALL, true, WAY_BACK),
	LEAF(2, MORE, true, WAY_BACK),
	LEAF(3, MORE, true, WAY_BACK),
};

static void put_insns(uint64_t at, const uint32_t *insns, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		put_field((struct hotspot_field){ 0, 4 }, at + 4 * i, insns[i]);
}

static struct sampled put_arm64(struct hotspot *vm)
{
	struct sampled at = put_java(vm);

	fp_gives_sp = false;
	return at;
}

/* So deep below the callee's end, with its return address in the link register or not. */
static void lay_leaf(struct sampled *at, uint64_t depth, bool in_lr)
{
	at->sp = CALLEE_END - depth;
	at->fp = GARBAGE;
	at->lr = in_lr ? BLOB_SITE(CALLER) : BLOB_SITE(CALLER) + 0x10;
	if (in_lr) /* nobody saved it */
		memory_put(CALLEE_END - 8, BLOB_SITE(CALLER) + 0x10);
}

static void test_leaves(void **state)
{
	static const uint64_t depths[] = { 0, CALLEE_BYTES, 16, CALLEE_BYTES,
					   CALLEE_BYTES + 16 };

	for (size_t i = 0; i < sizeof(leaves) / sizeof(*leaves); i++) {
		struct hotspot *vm = &java_layouts[i % 2];
		uint64_t begin = BLOB(CALLEE) + (leaves[i].is_end ? COMPLETE : 8);
		enum is_there is_there = leaves[i].is_there;
		struct sampled at = put_arm64(vm);

		put_insns(begin, leaves[i].insns, INSNS_MAX);
		at.pc = begin + 4 * leaves[i].at;
		lay_leaf(&at, depths[is_there], is_there <= TAKEN);
		assert_java(&at, "UCCCC");
	}
}

/* The callee calls C, with a way back on the stack or without. */
static void test_call_with_way_back(void **state)
{
	static const uint32_t insns[] = { WAY_BACK };

	for (int has_one = 0; has_one < 2; has_one++) {
		struct sampled at = put_arm64(&java_layouts[0]);
		uint64_t site = BLOB(CALLEE) + COMPLETE + 12;
		uint64_t sp = CALLEE_END - CALLEE_BYTES - (has_one ? 16 : 0);
		char text[100];

		put_insns(site - 12, insns, has_one ? 4 : 3);
		put_call(sp - 16, 16, 0);
		memory_put(sp - 8, site);
		at.pc = FUNCTION(0);
		at.sp = sp - 16;
		sprintf(text, "%llx %llx %llx %llx 10108 10208",
			(unsigned long long)at.pc, (unsigned long long)site,
			BLOB_SITE(CALLER), CALL_STUB);
		ASSERT_WALK(&at, "UCCCCC", text, START);
	}
}

enum call_form { BL, BY_WAY, BY_PAGE, BY_CONSTANT, N_CALLS };

#define CALLED	(STUBS + 0x100)
#define THE_WAY (BLOB(CALLER) + 0x200)

static void put_call_of_stub(enum call_form call, uint64_t site, uint64_t stub)
{
	const uint64_t pages = (stub >> 12) - (site >> 12);
	const uint32_t way[] = { 0x58000048, 0xd61f0100, (uint32_t)stub,
				 (uint32_t)(stub >> 32) };
	const uint32_t page[] = { 0x90000008 | (pages & 3) << 29 |
					  (pages >> 2 & 0x7ffff) << 5,
				  0x91000108 | (stub & 0xfff) << 10, 0xd63f0100 };
	const uint32_t constant[] = { 0xd2800008 | (stub & 0xffff) << 5,
				      0xf2a00008 | (stub >> 16 & 0xffff) << 5,
				      0xf2c00008 | (stub >> 32 & 0xffff) << 5,
				      0xd63f0100 };

	switch (call) {
	case BL:
		put_call_to(site, stub);
		return;
	case BY_WAY:
		put_call_to(site, THE_WAY);
		put_insns(THE_WAY, way, 4);
		return;
	case BY_PAGE:
		put_insns(site - 12, page, 3);
		return;
	default:
		put_insns(site - 16, constant, 4);
	}
}

/* Stubs: without a frame, at their beginning and later; with a frame pointer, and with
 * registers that they saved. */
static void test_stubs(void **state)
{
	static const struct {
		uint32_t first, at_pc;
		uint64_t pc, depth;
		bool has_fp;
	} stubs[] = {
		{ NOP, NOP, 0, 0, false },
		{ NOP, NOP, 0x80, 0, false },
		{ 0xa9bf7bfd, NOP, 0x80, 0x30, true },
		{ 0x6dbc27e8, 0x6dbc27e8, 0, 0, false }, /* stp d8, d9, [sp, #-64]! */
		{ 0x6dbc27e8, NOP, 0x80, 64, false },
		{ 0x6dbc27e8, RETURN, 0x80, 0, false },
		{ 0xa9bd57f4, NOP, 0x80, 48, false }, /* stp x20, x21, [sp, #-48]! */
	};

	for (enum call_form call = 0; call < N_CALLS; call++)
		for (size_t i = 0; i < sizeof(stubs) / sizeof(*stubs); i++) {
			struct sampled at = put_arm64(&java_layouts[i & 1]);

			at.pc = CALLED + stubs[i].pc;
			put_insns(CALLED, &stubs[i].first, 1);
			put_insns(at.pc, &stubs[i].at_pc, 1);
			put_call_of_stub(call, BLOB_SITE(CALLER), CALLED);
			lay_leaf(&at, stubs[i].depth, !stubs[i].has_fp);
			if (stubs[i].has_fp)
				at.fp = CALLEE_END - 16;
			assert_java(&at, "UCCCC");
		}
}

/* A stub that something called which does not say where it leads: its frame is there if
 * that has the same way back as the link register. */
static void test_stub_of_unknown_call(void **state)
{
	for (int has_frame = 0; has_frame < 2; has_frame++) {
		struct sampled at = put_arm64(&java_layouts[0]);

		put_field((struct hotspot_field){ 0, 4 }, BLOB_SITE(CALLER) - 4,
			  0xd63f0060); /* blr x3 */
		at.pc = STUBS + 0x180;
		lay_leaf(&at, has_frame ? 0x30 : 0, true);
		if (has_frame) {
			memory_put(CALLEE_END - 8, BLOB_SITE(CALLER));
			at.fp = CALLEE_END - 16;
		}
		assert_java(&at, has_frame ? "UCCCC" : "UPCCC");
	}
}

#define UNPROVEN_TOO "700000004123 " /* INTERPRETED, as text */

/* An interpreted caller of the interpreter has its sp below the callee. The leaf is
 * compiled; the interpreter's, with a frame; the same, perhaps without one. */
static void test_interpreted_caller(void **state)
{
	for (int i = 0; i < 3; i++) {
		struct sampled at = put_arm64(&java_layouts[0]);
		uint64_t inner = CALLEE_END + 0x20, outer = CALLEE_END + 0x80;
		uint64_t method = 0x7f1200345678;
		const uint32_t insns[] = { MOVES };
		char text[120];

		put_frame(CALLEE_END - 16, inner, INTERPRETED);
		memory_put(inner - 8, inner - 0x18);
		memory_put(inner - 24, method + 8);
		put_frame(inner, outer, INTERPRETED);
		memory_put(outer - 8, outer + 0x40);
		memory_put(outer - 24, method);
		put_frame(outer, GARBAGE, BLOB_SITE(CALLER));
		put_frame(outer + 0x40 + CALLER_BYTES - 16, STUB_FP + 0x100, CALL_STUB);
		put_frame(STUB_FP + 0x100, 0, SITE(1));
		put_call(STUB_FP + 0x100 + 16, 16, 2);
		put_insns(BLOB(CALLEE) + COMPLETE, insns, 2);
		at.pc = i ? INTERPRETER + 0x200 : BLOB(CALLEE) + COMPLETE + 4;
		at.sp = i ? inner - 0x70 : CALLEE_END - CALLEE_BYTES;
		at.fp = i ? inner : GARBAGE;
		at.x24 = i == 1 ? inner + 0x38 : 0;
		memory_put(inner - 64, i == 1 ? inner + 0x38 : 5);
		sprintf(text, "%llx %llx %s%llx %llx %llx 10108 10208",
			(unsigned long long)at.pc, (unsigned long long)method + 8,
			i == 2 ? UNPROVEN_TOO : "", (unsigned long long)method,
			BLOB_SITE(CALLER), CALL_STUB);
		ASSERT_WALK(&at, i == 2 ? "UMPMCCCC" : "UMMCCCC", text, START);
	}
}

int run_hotspot_arm64_cases(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_leaves),
		CASE(test_call_with_way_back),
		CASE(test_stubs),
		CASE(test_stub_of_unknown_call),
		CASE(test_interpreted_caller),
	};

	return cmocka_run_group_tests_name("hotspot_arm64", tests, NULL, NULL);
}
