// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/unwind_go_code.h"

#include "obj/go_values.h"
#include "obj/x86_insn.h"
#include "unwind/unwind_go_calls.h"
#include "unwind/x86_stack.h"

#include <string.h>

#define GO_CODE_MAX	512 /* of a function that writes sp; Go's have 384 */
#define NOWHERE		UINT64_MAX
#define BEHIND_BOTH	16 /* the frame pointer and the return address */
#define FP_BELOW_RETURN (-2)

#define PUSH_FP 0x55
#define REX_B	0x41 /* before it: of %r13 */

#define ANY -1

/* push %rbp; mov %rsp, %rbp */
static const int16_t prologue[] = { 0x55, 0x48, 0x89, 0xe5 };
/* sub $n, %rsp; mov %rbp, n - 8(%rsp); lea n - 8(%rsp), %rbp: before Go 1.21 */
static const int16_t old_prologue[] = { 0x48, 0x83, 0xec, ANY,	0x48, 0x89, 0x6c,
					0x24, ANY,  0x48, 0x8d, 0x6c, 0x24, ANY };

/* How runtime.systemstack comes back: g of the thread, its m, the m's goroutine, which
 * becomes g, and of that sp. Position-independent code has g's place in %rcx. */
#define TO_M_AND_GOROUTINE 0x48, 0x8b, 0x58, ANY, 0x48, 0x8b, 0x83, ANY, ANY, ANY, ANY
#define FROM_GOROUTINE	   0x48, 0x8b, 0x60, ANY

static const int16_t back[] = { 0x64, 0x48, 0x8b, 0x04, 0x25,
				ANY,  ANY,  ANY,  ANY,	TO_M_AND_GOROUTINE,
				0x64, 0x48, 0x89, 0x04, 0x25,
				ANY,  ANY,  ANY,  ANY,	FROM_GOROUTINE };
static const int16_t back_pie[] = { 0x48,	   0xc7, 0xc1, ANY,
				    ANY,	   ANY,	 ANY,  0x64,
				    0x48,	   0x8b, 0x01, TO_M_AND_GOROUTINE,
				    0x64,	   0x48, 0x89, 0x01,
				    FROM_GOROUTINE };

#define R12 12

static const int16_t to_r12[] = { 0x49, 0x89, 0xe4 };	/* mov %rsp, %r12 */
static const int16_t from_r12[] = { 0x4c, 0x89, 0xe4 }; /* mov %r12, %rsp */

#define LENGTH(pattern) (sizeof(pattern) / sizeof(*(pattern)))

/* What is known of a function besides its distances. */
struct go_code {
	const struct go_function *function;
	bool saves_fp;	 /* before anything else */
	uint64_t has_fp; /* from here on it keeps it wherever sp may be; 0: it doesn't */
	/* between these its distances say nothing, but this holds; or NOWHERE */
	uint64_t leaves, comes_back;
	struct unwind_rule away;
};

static bool is_like(const uint8_t *bytes, size_t n, const int16_t *pattern, size_t length)
{
	if (n < length)
		return false;
	for (size_t i = 0; i < length; i++)
		if (pattern[i] != ANY && pattern[i] != bytes[i])
			return false;
	return true;
}

static int int_at(const uint8_t *bytes)
{
	int32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* What the code at hand keeps of a goroutine, if that is how it comes back; *ret_n: its
 * bytes. */
static struct go_kept find_kept(const uint8_t *bytes, size_t n, size_t *ret_n)
{
	bool is_pie = is_like(bytes, n, back_pie, LENGTH(back_pie));
	struct go_kept kept = { 0 };
	const uint8_t *steps;
	int now;

	if (!is_pie && !is_like(bytes, n, back, LENGTH(back)))
		return kept;
	*ret_n = is_pie ? LENGTH(back_pie) : LENGTH(back);
	steps = bytes + (is_pie ? 11 : 9);
	now = int_at(steps + 7);
	kept.g = int_at(bytes + (is_pie ? 3 : 5));
	kept.m = steps[3];
	kept.now = (unsigned char)(now / GO_WORD);
	/* what is kept begins behind the m with sp */
	kept.is_known = now >= 0 && now % GO_WORD == 0 && now / GO_WORD <= UINT8_MAX &&
			bytes[*ret_n - 1] == kept.m + GO_WORD;
	return kept;
}

/* Behind the first instruction that sets sp to something else, or that can't be read. */
static uint64_t find_write(const struct go_function *function, const uint8_t *bytes,
			   size_t n)
{
	for (size_t at = 0; at < n;) {
		bool calls;
		size_t one = x86_insn_bytes(bytes + at, n - at, &calls);

		if (!one)
			return function->begin + at;
		if (x86_effect(bytes + at, one).sp != X86_SP_MOVED)
			return function->begin + at + one;
		at += one;
	}
	return NOWHERE;
}

/* Where it comes back to the goroutine; NOWHERE: it can't be told. */
static uint64_t find_back(struct unwind_go *go, const struct go_function *function,
			  const uint8_t *bytes, size_t n)
{
	size_t length = 0;

	for (size_t at = 0; at < n; at++) {
		go->kept = find_kept(bytes + at, n - at, &length);
		if (go->kept.is_known)
			return function->begin + at + length;
	}
	return NOWHERE;
}

/* Where the frame pointer is the frame's own; 0: nowhere. */
static uint64_t find_fp(const struct go_function *function, const uint8_t *bytes,
			size_t n)
{
	if (is_like(bytes, n, prologue, LENGTH(prologue)))
		return function->begin + LENGTH(prologue);
	if (is_like(bytes, n, old_prologue, LENGTH(old_prologue)) &&
	    bytes[8] == bytes[3] - GO_WORD && bytes[13] == bytes[8])
		return function->begin + LENGTH(old_prologue);
	return 0;
}

/*
 * Who calls C on the scheduler's stack may keep sp in r12, which C gives back: racecall()
 * and its like. From behind where it is put there up to behind where it comes back by it,
 * that leads on; or the frame pointer does, if there is one.
 */
static bool find_kept_sp(const uint8_t *bytes, size_t n, struct go_code *code)
{
	uint64_t kept_at = NOWHERE, begin = code->function->begin;
	int pushed = 0;
	bool calls;

	for (size_t at = 0, one;
	     at < n && (one = x86_insn_bytes(bytes + at, n - at, &calls)); at += one) {
		struct x86_effect is = x86_effect(bytes + at, one);
		bool is_kept = kept_at != NOWHERE;

		if (is.leaves || (is_kept ? is.writes_fp : is.sp != X86_SP_MOVED))
			return false;
		if (is_like(bytes + at, one, to_r12, LENGTH(to_r12))) {
			kept_at = begin + at + one;
		} else if (is_kept &&
			   is_like(bytes + at, one, from_r12, LENGTH(from_r12))) {
			code->leaves = code->has_fp ? NOWHERE : kept_at;
			code->comes_back = code->has_fp ? NOWHERE : begin + at + one;
			code->away = (struct unwind_rule){
				.cfa = UNWIND_CFA_REG,
				.reg = R12,
				.cfa_offset = GO_WORD + pushed,
				.fp = pushed ? UNWIND_FP_LOST : UNWIND_FP_SAME,
				.ra_words = -1,
				.bx_words = UNWIND_BX_LOST,
			};
			return true;
		} else if (is.sets == R12) {
			return false;
		}
		pushed += is_kept ? 0 : is.pushed;
	}
	return false;
}

/* What leads on from where it is on the scheduler's stack. */
static void look_away(struct unwind_go *go, struct go_code *code)
{
	const struct go_function *function = code->function;

	code->away.cfa = UNWIND_CFA_TORN;
	if (go_code_never_comes_back(function)) {
		code->away.cfa = UNWIND_CFA_END;
	} else if (go->kept.is_known && go_code_is(function, "runtime.systemstack")) {
		code->away = go_code_kept_rule(go);
		code->away.ra_words = -1;
	} else if (go->kept.is_known && go->knows_scheduler &&
		   go_code_is(function, "runtime.morestack")) {
		code->away = go_code_kept_rule(go);
		code->away.ra = UNWIND_RA_REG;
		code->away.fp = UNWIND_FP_LOST;
	}
}

static void look_at_writer(struct unwind_go *go, struct go_code *code)
{
	const struct go_function *function = code->function;
	uint8_t bytes[GO_CODE_MAX];
	size_t n = go_code_read(go, function->begin, function->end, bytes, sizeof(bytes));
	uint64_t comes_back = NOWHERE;

	code->leaves = function->begin;
	code->away.cfa = UNWIND_CFA_TORN;
	if (!n)
		return;
	code->has_fp = find_fp(function, bytes, n);
	code->saves_fp = code->has_fp != 0;
	if (find_kept_sp(bytes, n, code))
		return;
	if (go_code_is(function, "runtime.systemstack"))
		comes_back = find_back(go, function, bytes, n);
	if (!go_code_is_of_runtime(function) || go_code_never_comes_back(function))
		code->has_fp = 0;
	code->leaves = code->has_fp ? NOWHERE : find_write(function, bytes, n);
	look_away(go, code);
	if (code->away.cfa == UNWIND_CFA_GO)
		code->comes_back = comes_back;
}

static void look_at(struct unwind_go *go, struct go_code *code)
{
	code->leaves = code->comes_back = NOWHERE;
	code->saves_fp = !(code->function->flags & GO_IS_ASSEMBLY);
	if (code->function->flags & GO_WRITES_SP)
		look_at_writer(go, code);
}

static struct unwind_rule rule_for(const struct go_code *code, int distance)
{
	struct unwind_rule rule = {
		.cfa = UNWIND_CFA_SP,
		.cfa_offset = distance + GO_WORD,
		.ra_words = -1,
		.bx_words = UNWIND_BX_LOST, /* Go saves no such register */
	};

	if (distance < 0 || distance > GO_DISTANCE_MAX || distance % GO_WORD)
		return (struct unwind_rule){ .cfa = UNWIND_CFA_UNSUPPORTED };
	if (distance) {
		rule.fp = code->saves_fp ? UNWIND_FP_CFA : UNWIND_FP_LOST;
		rule.fp_words = code->saves_fp ? FP_BELOW_RETURN : 0;
	}
	return rule;
}

/* Is the last instruction of a piece push %rbp? So assembly has it, but where it saves
 * another register, or nothing. */
static bool pushes_fp(struct unwind_go *go, uint64_t pc, uint64_t end)
{
	uint8_t bytes[2] = { 0 };
	size_t n = end - pc < sizeof(bytes) ? 1 : sizeof(bytes);

	return go_code_read(go, end - n, end, bytes + sizeof(bytes) - n, n) &&
	       bytes[1] == PUSH_FP && bytes[0] != REX_B;
}

/* The code in [pc, end), at one distance. */
static int tell_piece(struct unwind_go *go, const struct go_code *code, uint64_t pc,
		      uint64_t end, int distance)
{
	struct unwind_rule rule = rule_for(code, distance);
	int err = 0;

	if (!code->has_fp || rule.cfa != UNWIND_CFA_SP || !distance)
		return go_calls_tell(go, pc, &rule);
	if (pc < code->has_fp) {
		err = go_calls_tell(go, pc, &rule);
		pc = code->has_fp;
	}
	rule.cfa = UNWIND_CFA_FP;
	rule.cfa_offset = BEHIND_BOTH;
	return err || pc >= end ? err : go_calls_tell(go, pc, &rule);
}

/* From a piece on that begins before the function leaves its stack up to one that ends
 * behind where it comes back. */
static int tell_around(struct unwind_go *go, const struct go_code *code, uint64_t pc,
		       uint64_t end, int distance)
{
	int err = 0;

	if (pc < code->leaves)
		err = tell_piece(go, code, pc, end, distance);
	if (!err && pc <= code->leaves && code->leaves < end)
		err = go_calls_tell(go, code->leaves, &code->away);
	if (err || code->comes_back >= end)
		return err;
	return tell_piece(go, code, pc > code->comes_back ? pc : code->comes_back, end,
			  distance);
}

int go_code_tell_x86(struct unwind_go *go, const struct go_function *function)
{
	static const struct unwind_rule none;
	struct go_code code = { .function = function };
	struct go_values distances;
	uint64_t pc = function->begin;
	int err = 0;

	look_at(go, &code);
	go_values_begin(&go->table, function, function->sp, &distances);
	while (!err && go_values_next(&distances)) {
		if (function->flags & GO_IS_ASSEMBLY && !distances.value && !code.has_fp)
			code.saves_fp |= pushes_fp(go, pc, distances.end);
		err = tell_around(go, &code, pc, distances.end, distances.value);
		pc = distances.end;
	}
	if (!err && pc <= code.leaves && code.leaves < function->end)
		err = go_calls_tell(go, code.leaves, &code.away);
	if (code.leaves < function->end && code.comes_back == NOWHERE)
		pc = function->end;
	return err || pc >= function->end ? err : go_calls_tell(go, pc, &none);
}
