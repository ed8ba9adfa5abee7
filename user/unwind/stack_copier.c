// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/stack_copier.h"

#include "obj/arm64_insn.h"
#include "obj/x86_insn.h"
#include "unwind/arm64_stack.h"
#include "unwind/x86_stack.h"

#include <elf.h>
#include <string.h>

#define PATHS_MAX      128 /* that are still to be followed */
#define FLOW_BYTES_MAX 8192

/* Where an instruction of either machine leads. */
struct flow {
	size_t bytes;
	bool calls;
	bool leaves; /* never goes on behind itself */
	bool traps;  /* LEAVES: for good */
	bool is_direct;
	int64_t to; /* is_direct: where a jump or a call leads, from its first byte */
};

/* And what it does to the stack pointer. */
struct effect {
	bool takes_result;  /* of a call, as it is in the register for that */
	bool adds;	    /* what is in a register */
	bool writes_result; /* that register */
};

#define RESULT 0 /* the register of either machine: rax, x0 */

/* add %reg, %rsp: 3 bytes */
static bool adds_to_sp(const uint8_t *code, size_t n)
{
	return n == 3 && (code[0] & 0xfb) == 0x48 && code[1] == 0x01 &&
	       (code[2] & 0xc7) == 0xc4;
}

static bool is_ret(const uint8_t *code)
{
	code += *code == 0xf2 || *code == 0xf3;
	return *code == 0xc2 || *code == 0xc3;
}

static bool read_x86(const uint8_t *code, size_t n, struct flow *ret)
{
	bool by_register;

	ret->bytes = x86_insn_bytes(code, n, &ret->calls);
	if (!ret->bytes)
		return false;
	ret->is_direct = x86_insn_distance(code, ret->bytes, &ret->to);
	ret->to += (int64_t)ret->bytes;
	ret->leaves = x86_insn_leaves(code, ret->bytes, &by_register);
	ret->traps = ret->leaves && !ret->is_direct && !by_register && !is_ret(code);
	return true;
}

static struct effect effect_x86(const uint8_t *code, size_t n)
{
	const struct x86_effect is = x86_effect(code, n);

	return (struct effect){
		.takes_result = is.sp == X86_SP_TAKEN && is.from == RESULT,
		.adds = adds_to_sp(code, n),
		.writes_result = is.writes >> RESULT & 1,
	};
}

/* add sp, sp, reg */
static bool arm64_adds_to_sp(uint32_t insn)
{
	return (insn & 0xffe0e3ff) == 0x8b2063ff;
}

static bool read_arm64(const uint8_t *code, size_t n, struct flow *ret)
{
	bool by_register;
	uint32_t insn;

	if (n < sizeof(insn))
		return false;
	memcpy(&insn, code, sizeof(insn));
	ret->bytes = sizeof(insn);
	ret->calls = arm64_insn_calls(insn);
	ret->is_direct = arm64_insn_distance(insn, &ret->to);
	ret->traps = arm64_insn_is_padding(insn) && insn != ARM64_NOP;
	ret->leaves = ret->traps || arm64_insn_leaves(insn, &by_register);
	return true;
}

static struct effect effect_arm64(const uint8_t *code)
{
	struct arm64_effect is;
	uint32_t insn;

	memcpy(&insn, code, sizeof(insn));
	is = arm64_effect(insn);
	return (struct effect){
		.takes_result = is.sp == ARM64_SP_TAKEN && is.from == RESULT,
		.adds = arm64_adds_to_sp(insn),
		.writes_result = is.sets >> RESULT & 1,
	};
}

static bool read_insn(const struct function_code *in, size_t at, struct flow *ret)
{
	ret->to = 0;
	return in->machine == EM_X86_64 ? read_x86(in->code + at, in->n - at, ret)
					: read_arm64(in->code + at, in->n - at, ret);
}

/* mov %rax, %rsp in both its forms, or an addition */
static bool may_take_x86(const uint8_t *code)
{
	static const uint8_t moves[][3] = { { 0x48, 0x89, 0xc4 }, { 0x48, 0x8b, 0xe0 } };

	return !memcmp(code, moves[0], sizeof(moves[0])) ||
	       !memcmp(code, moves[1], sizeof(moves[1])) ||
	       adds_to_sp(code, sizeof(moves[0]));
}

static bool may_take_arm64(const uint8_t *code)
{
	const struct effect does = effect_arm64(code);

	return does.takes_result || does.adds;
}

bool stack_copier_may_take(uint16_t machine, const uint8_t *code, size_t n)
{
	bool is_x86 = machine == EM_X86_64;
	size_t step = is_x86 ? 1 : ARM64_INSN_BYTES, last = is_x86 ? 3 : ARM64_INSN_BYTES;

	for (size_t at = 0; at + last <= n; at += step)
		if (is_x86 ? may_take_x86(code + at) : may_take_arm64(code + at))
			return true;
	return false;
}

bool stack_copier_find(const struct function_code *in, struct stack_copier *ret)
{
	bool called = false, taken = false;
	bool has_result = false; /* of the last call */
	struct flow is;

	for (size_t at = 0; at < in->n && read_insn(in, at, &is); at += is.bytes) {
		const struct effect does = in->machine == EM_X86_64
						   ? effect_x86(in->code + at, is.bytes)
						   : effect_arm64(in->code + at);

		if (taken && is.calls) {
			ret->copied = at + is.bytes;
			return true;
		}
		called |= is.calls;
		if (called && (does.adds || (has_result && does.takes_result))) {
			taken = true;
			ret->taken = at + is.bytes;
		}
		taken &= !is.leaves && !is.is_direct;
		has_result = is.calls || (has_result && !does.writes_result);
	}
	return false;
}

/* Where paths through a function are still to be gone. */
struct paths {
	const struct function_code *in;
	size_t at[PATHS_MAX], n;
	uint8_t seen[FLOW_BYTES_MAX / 8];
};

static bool is_new(struct paths *paths, size_t at)
{
	uint8_t *byte = &paths->seen[at / 8];
	bool is_seen = *byte >> at % 8 & 1;

	*byte |= (uint8_t)(1u << at % 8);
	return !is_seen;
}

/* A path begins there as well; false: it leads out of the function, or is too many. */
static bool add_path(struct paths *paths, int64_t to)
{
	if (to < 0 || (uint64_t)to >= paths->in->n || paths->n == PATHS_MAX)
		return false;
	paths->at[paths->n++] = (size_t)to;
	return true;
}

/* To where no path goes on, or another one has been. False: it may return there. */
static bool follow(struct paths *paths, size_t at)
{
	struct flow is;

	for (; at < paths->in->n && is_new(paths, at); at += is.bytes) {
		if (!read_insn(paths->in, at, &is))
			return false;
		if (is.traps)
			return true;
		if (!is.calls && is.is_direct && !add_path(paths, (int64_t)at + is.to))
			return false;
		if (is.leaves)
			return is.is_direct;
	}
	return true;
}

bool stack_copier_may_return(const struct function_code *in, size_t from)
{
	struct paths paths = { .in = in };

	if (in->n > FLOW_BYTES_MAX || !add_path(&paths, (int64_t)from))
		return true;
	while (paths.n)
		if (!follow(&paths, paths.at[--paths.n]))
			return true;
	return false;
}

size_t stack_copier_calls(const struct function_code *in, struct direct_call *ret,
			  size_t max)
{
	size_t n = 0;
	struct flow is;

	for (size_t at = 0; at < in->n && n < max && read_insn(in, at, &is);
	     at += is.bytes)
		if (is.calls && is.is_direct)
			ret[n++] = (struct direct_call){ at + is.bytes,
							 (int64_t)at + is.to };
	return n;
}
