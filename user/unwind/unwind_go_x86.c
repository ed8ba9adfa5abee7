// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/unwind_go_code.h"

#include "obj/go_values.h"
#include "obj/x86_insn.h"
#include "unwind/x86_stack.h"

#include <string.h>

#define GO_CODE_MAX	512 /* of a function that writes sp; Go's have 384 */
#define NOWHERE		UINT64_MAX
#define BEHIND_BOTH	16 /* the frame pointer and the return address */
#define FP_BELOW_RETURN (-2)

#define PUSH_FP 0x55
#define REX_B	0x41 /* before it: of %r13 */

/* push %rbp; mov %rsp, %rbp */
static const uint8_t prologue[] = { 0x55, 0x48, 0x89, 0xe5 };

/* What is known of a function besides its distances. */
struct go_code {
	const struct go_function *function;
	bool saves_fp;	    /* before anything else */
	bool keeps_fp;	    /* and has it wherever sp may be */
	uint64_t leaves;    /* from here on its distances say nothing, or NOWHERE */
	enum unwind_cfa to; /* and this holds */
};

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

static void look_at_writer(struct unwind_go *go, struct go_code *code)
{
	const struct go_function *function = code->function;
	uint8_t bytes[GO_CODE_MAX];
	size_t n = go_code_read(go, function->begin, function->end, bytes, sizeof(bytes));

	code->leaves = function->begin;
	code->to = UNWIND_CFA_TORN;
	if (!n)
		return;
	code->saves_fp =
		n > sizeof(prologue) && !memcmp(bytes, prologue, sizeof(prologue));
	code->keeps_fp = code->saves_fp && go_code_is_of_runtime(function) &&
			 !go_code_never_comes_back(function);
	code->leaves = code->keeps_fp ? NOWHERE : find_write(function, bytes, n);
	if (go_code_never_comes_back(function))
		code->to = UNWIND_CFA_END;
}

static void look_at(struct unwind_go *go, struct go_code *code)
{
	code->leaves = NOWHERE;
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

/* The code from pc on at one distance. */
static int tell_piece(struct unwind_go *go, const struct go_code *code, uint64_t pc,
		      const struct go_values *distances)
{
	uint64_t has_fp = code->function->begin + sizeof(prologue);
	struct unwind_rule rule = rule_for(code, distances->value);
	int err = 0;

	if (!code->keeps_fp || rule.cfa != UNWIND_CFA_SP || !distances->value)
		return go_code_tell(go, pc, &rule);
	if (pc < has_fp) {
		err = go_code_tell(go, pc, &rule);
		pc = has_fp;
	}
	rule.cfa = UNWIND_CFA_FP;
	rule.cfa_offset = BEHIND_BOTH;
	return err || pc >= distances->end ? err : go_code_tell(go, pc, &rule);
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
	while (!err && pc < code.leaves && go_values_next(&distances)) {
		if (function->flags & GO_IS_ASSEMBLY && !distances.value)
			code.saves_fp = pushes_fp(go, pc, distances.end);
		err = tell_piece(go, &code, pc, &distances);
		pc = distances.end;
	}
	if (!err && code.leaves < function->end) {
		struct unwind_rule rule = { .cfa = (unsigned char)code.to };

		err = go_code_tell(go, code.leaves, &rule);
		pc = function->end;
	}
	return err || pc >= function->end ? err : go_code_tell(go, pc, &none);
}
