// SPDX-License-Identifier: BSD-2-Clause
/*
 * Go's frames on arm64 begin with the return address, at sp, and end where sp was; the
 * caller's frame pointer is kept below them, at sp - 8, where x29 then points:
 *
 *	str  x30, [sp, #-size]!		sub  x20, sp, #size
 *	stur x29, [sp, #-8]		stp  x29, x30, [x20, #-8]
 *	sub  x29, sp, #8		mov  sp, x20
 *					sub  x29, sp, #8
 */
#include "unwind/unwind_go_code.h"

#include "obj/arm64_insn.h"
#include "obj/go_values.h"
#include "unwind/arm64_stack.h"
#include "unwind/unwind_go_calls.h"

#include <string.h>

#define GO_ASSEMBLY_MAX 16384 /* of a function; none that moves sp has more */

/* A signal's handler pushes them before it makes a goroutine call something. */
#define GO_INJECTED_BYTES 16

#define STUR_FP	    0xf81f83fd /* stur x29, [sp, #-8] */
#define LDUR_FP	    0xf85f83fd /* ldur x29, [sp, #-8] */
#define LDP_FP_LR   0xa97ffbfd /* ldp x29, x30, [sp, #-8] */
#define SET_FP	    0xd10023fd /* sub x29, sp, #8 */
#define STP_BELOW   0xa93ff81d /* stp x29, x30, [Rn, #-8]; Rn: bits 5 to 9 */
#define STR_LR_PUSH 0xf8000c1e /* str x30, [Rn, #imm]!; imm: bits 12 to 20 */
#define STUR_LR	    0xf800001e /* stur x30, [Rn, #imm] */
#define STR_LR_FAR  0xf83b6bfe /* str x30, [sp, x27] */
#define REG_MASK    0x000003e0
#define IMM_MASK    0x001ff000
#define BY_SP	    0x000003e0
#define LDR	    0xf9400000 /* ldr Rt, [Rn, #imm] */
#define STR	    0xf9000000
#define SECOND_WORD (1u << 10) /* #8 */
#define G	    28	       /* the register that has the thread's g */

/* In a function that is written in assembly, before an instruction of it. */
struct go_state {
	bool is_framed; /* by the code above */
	bool is_saved;	/* the caller's frame pointer is in memory */
	bool has_fp;	/* x29 is the frame's */
	bool knows_fp;	/* x29 is the caller's, as long as it is not saved */
	bool knows_lr;
	bool is_leaf; /* it calls nobody, so the link register stays what it was */
	bool has_switched, has_called; /* to another stack; and there */
	bool is_torn;
	bool is_beside_c; /* what it keeps of the goroutine lies at sp */
	uint32_t own;	  /* registers that hold this stack's pointer */
	uint32_t before;
	short kept_lr; /* of runtime.morestack, in what is kept; 0: not known */
};

static bool is_injected(const struct go_function *function)
{
	return go_code_is(function, "runtime.asyncPreempt") ||
	       go_code_is(function, "runtime.sigpanic");
}

/* With sp so far below where it was; by_fp: which x29 tells. */
static struct unwind_rule rule_for(const struct go_function *function, int distance,
				   bool is_saved, bool by_fp)
{
	int words = distance / GO_WORD;
	struct unwind_rule rule = {
		.cfa = by_fp ? UNWIND_CFA_FP : UNWIND_CFA_SP,
		.cfa_offset = distance + (by_fp ? GO_WORD : 0),
		.ra = distance ? UNWIND_RA_CFA : UNWIND_RA_LR,
	};

	if (distance < 0 || distance > GO_DISTANCE_MAX || distance % GO_WORD ||
	    words >= INT16_MAX)
		return (struct unwind_rule){ .cfa = UNWIND_CFA_UNSUPPORTED };
	if (is_injected(function)) {
		rule.cfa_offset += GO_INJECTED_BYTES;
		words += GO_INJECTED_BYTES / GO_WORD;
	}
	if (distance)
		rule.ra_words = (short)-words;
	if (is_saved) {
		rule.fp = UNWIND_FP_CFA;
		rule.fp_words = (short)(-words - 1);
	}
	return rule;
}

/* What Go's compiler made. x29 is as the caller left it when sp has just moved. */
static int tell_compiled(struct unwind_go *go, const struct go_function *function)
{
	static const struct unwind_rule none;
	struct go_values distances;
	uint64_t pc = function->begin;
	bool has_moved = false;
	int err = 0;

	go_values_begin(&go->table, function, function->sp, &distances);
	while (!err && go_values_next(&distances)) {
		int distance = distances.value;
		struct unwind_rule rule;

		if (distance && !has_moved) {
			rule = rule_for(function, distance, false, false);
			err = go_calls_tell(go, pc, &rule);
			pc += ARM64_INSN_BYTES;
			has_moved = true;
		}
		rule = rule_for(function, distance, distance, false);
		if (!err && pc < distances.end)
			err = go_calls_tell(go, pc, &rule);
		pc = distances.end;
	}
	return err || pc >= function->end ? err : go_calls_tell(go, pc, &none);
}

/* Is this how a frame is made, with sp moved by the instruction at hand? */
static bool makes_frame(const struct go_state *state, uint32_t insn)
{
	return (insn & ~(uint32_t)IMM_MASK) == (STR_LR_PUSH | BY_SP) ||
	       (state->before & ~(uint32_t)IMM_MASK) == (STUR_LR | BY_SP) ||
	       state->before == STR_LR_FAR ||
	       (state->before & ~(uint32_t)REG_MASK) == STP_BELOW;
}

static void follow_fp(struct go_state *state, const struct arm64_effect *is,
		      uint32_t insn)
{
	if (insn == LDUR_FP || insn == LDP_FP_LR) {
		state->is_saved = state->has_fp = state->is_torn = false;
		state->has_switched = state->has_called = false;
		state->knows_fp = true;
	} else if (insn == STUR_FP || (insn & ~(uint32_t)REG_MASK) == STP_BELOW) {
		state->is_saved = state->knows_fp;
	} else if (is->sets >> ARM64_FP & 1) {
		state->knows_fp = false;
		state->has_fp |=
			insn == SET_FP && state->is_framed && !state->has_switched;
		/* once it comes back it sets x29 to what that was */
		state->is_torn |= state->has_switched && !state->has_called;
	}
}

static void follow_sp(struct go_state *state, const struct arm64_effect *is,
		      uint32_t insn)
{
	bool is_own = is->sp == ARM64_SP_MOVED ||
		      (is->sp == ARM64_SP_TAKEN && state->own >> is->from & 1);

	if (makes_frame(state, insn) && (is->sp != ARM64_SP_MOVED || is->pushed > 0))
		state->is_framed = true;
	else if (!is_own)
		state->has_switched = true;
	if (is->sp != ARM64_SP_MOVED)
		state->is_beside_c = false;
	else if (state->is_framed && (insn & ~31u) == (STR | SECOND_WORD | BY_SP))
		state->is_beside_c = state->has_switched;
	state->own &= ~is->sets;
	if (is->keeps != ARM64_NO_REG && !state->has_switched)
		state->own |= 1u << is->keeps;
}

/* Behind an instruction. */
static void follow(struct go_state *state, uint32_t insn)
{
	struct arm64_effect is = arm64_effect(insn);

	follow_sp(state, &is, insn);
	follow_fp(state, &is, insn);
	if (is.calls)
		state->knows_lr = false;
	else if (is.sets >> ARM64_LR & 1)
		state->knows_lr = state->is_framed;
	state->has_called |= is.calls && state->has_switched;
	state->before = insn;
	/* what lies behind is led to from where the frame was there */
	if (is.leaves && state->is_framed) {
		state->has_switched = state->has_called = state->is_torn = false;
		state->knows_lr = state->is_saved = state->has_fp = true;
	}
}

/* Does it load register `to` from [register `base`, #bytes]? */
static bool loads(uint32_t insn, uint32_t to, uint32_t base, int *ret_bytes)
{
	*ret_bytes = (int)(insn >> 10 & 0xfff) * GO_WORD;
	return (insn & 0xffc003ff) == (LDR | base << 5 | to);
}

/* How runtime.systemstack comes back: from g its m, and the m's goroutine, which becomes
 * g. */
static void find_kept(struct unwind_go *go, const uint8_t *code, size_t n)
{
	uint32_t insns[2];
	int m, now;

	for (size_t at = 0; at + sizeof(insns) <= n; at += ARM64_INSN_BYTES) {
		memcpy(insns, code + at, sizeof(insns));
		if (!loads(insns[0], insns[0] & 31, G, &m) ||
		    !loads(insns[1], G, insns[0] & 31, &now) || now / GO_WORD > UINT8_MAX)
			continue;
		go->kept = (struct go_kept){ .is_known = true,
					     .m = (short)m,
					     .now = (unsigned char)(now / GO_WORD) };
	}
}

/* Which of what is kept of a goroutine is its link register, which runtime.morestack was
 * given in x3; 0: it can't be told. */
static short find_kept_lr(const struct unwind_go *go, const uint8_t *code, size_t n)
{
	for (size_t at = 0; at + ARM64_INSN_BYTES <= n; at += ARM64_INSN_BYTES) {
		uint32_t insn;
		int word;

		memcpy(&insn, code + at, sizeof(insn));
		word = (int)(insn >> 10 & 0xfff) - go->kept.m / GO_WORD;
		if ((insn & 0xffc003ff) == (STR | G << 5 | 3) && word > 0 &&
		    word < UNWIND_GO_WORDS)
			return (short)word;
	}
	return 0;
}

/* On the scheduler's stack. */
static struct unwind_rule rule_away(const struct unwind_go *go,
				    const struct go_function *function,
				    const struct go_state *state, int distance)
{
	struct unwind_rule rule = { .cfa = UNWIND_CFA_TORN };

	if (go_code_never_comes_back(function))
		rule.cfa = UNWIND_CFA_END;
	if (state->is_beside_c && go_code_is(function, "runtime.asmcgocall"))
		return (struct unwind_rule){ .cfa = UNWIND_CFA_GO_C,
					     .ra_words = (short)(-distance / GO_WORD),
					     .fp = UNWIND_FP_CFA,
					     .fp_words =
						     (short)(-distance / GO_WORD - 1) };
	if (!go->kept.is_known)
		return rule;
	if (state->is_framed && go_code_is(function, "runtime.systemstack")) {
		rule = go_code_kept_rule(go);
		rule.ra_words = (short)(-distance / GO_WORD);
		rule.fp = UNWIND_FP_CFA;
		rule.fp_words = (short)(rule.ra_words - 1);
	} else if (state->kept_lr && go->knows_scheduler) {
		rule = go_code_kept_rule(go);
		rule.ra = UNWIND_RA_REG;
		rule.ra_words = state->kept_lr;
		rule.fp = UNWIND_FP_LOST;
	}
	return rule;
}

static struct unwind_rule rule_in(const struct unwind_go *go,
				  const struct go_function *function,
				  const struct go_state *state, int distance)
{
	static const struct unwind_rule torn = { .cfa = UNWIND_CFA_TORN };
	bool by_fp = state->has_fp && !state->is_torn && go_code_is_of_runtime(function);
	struct unwind_rule rule;

	if (state->has_switched && !(by_fp && distance))
		return rule_away(go, function, state, distance);
	if (!distance || !state->is_framed) {
		rule = rule_for(function, distance, false, false);
		rule.ra = UNWIND_RA_LR;
		rule.ra_words = 0;
		if (!state->is_framed && !state->knows_fp)
			rule.fp = UNWIND_FP_LOST;
		return state->knows_lr ? rule : torn;
	}
	rule = rule_for(function, distance, state->is_saved || state->has_switched,
			state->has_switched);
	/* and may have another use for the place where that is saved */
	if (state->is_leaf) {
		rule.ra = UNWIND_RA_LR;
		rule.ra_words = 0;
	}
	return rule;
}

static bool calls_nobody(const struct go_function *function, const uint8_t *code,
			 size_t n)
{
	uint32_t insn;

	for (size_t at = 0; at + sizeof(insn) <= n; at += sizeof(insn)) {
		memcpy(&insn, code + at, sizeof(insn));
		if (arm64_insn_calls(insn))
			return false;
	}
	return n == function->end - function->begin;
}

static int tell_assembly(struct unwind_go *go, const struct go_function *function,
			 const uint8_t *code, size_t n)
{
	struct go_state state = { .knows_fp = true,
				  .knows_lr = true,
				  .is_leaf = calls_nobody(function, code, n) };
	uint64_t pc = function->begin;
	struct unwind_rule rule = { 0 };
	struct go_values distances;
	uint32_t insn;
	int err = 0;

	if (go_code_is(function, "runtime.systemstack"))
		find_kept(go, code, n);
	else if (go_code_is(function, "runtime.morestack"))
		state.kept_lr = find_kept_lr(go, code, n);
	go_values_begin(&go->table, function, function->sp, &distances);
	for (size_t at = 0; !err && at + sizeof(insn) <= n; at += sizeof(insn)) {
		pc = function->begin + at;
		if (pc >= distances.end && !go_values_next(&distances))
			break;
		rule = rule_in(go, function, &state, distances.value);
		err = go_calls_tell(go, pc, &rule);
		memcpy(&insn, code + at, sizeof(insn));
		follow(&state, insn);
		pc += sizeof(insn);
	}
	rule = (struct unwind_rule){ 0 };
	return err || pc >= function->end ? err : go_calls_tell(go, pc, &rule);
}

int go_code_tell_arm64(struct unwind_go *go, const struct go_function *function)
{
	uint8_t code[GO_ASSEMBLY_MAX];
	size_t n;

	if (!(function->flags & GO_IS_ASSEMBLY))
		return tell_compiled(go, function);
	n = go_code_read(go, function->begin, function->end, code, sizeof(code));
	return tell_assembly(go, function, code, n);
}
