// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/x86_stack.h"

#include <string.h>

#define RIP	5 /* as a base without displacement's size */
#define HAS_SIB 4

struct operands {
	const uint8_t *at; /* behind the opcode */
	bool r, b;	   /* REX's bits */
	unsigned int mod;
	int reg, rm;
};

static void decode(struct operands *op)
{
	op->mod = op->at[0] >> 6;
	op->reg = (op->at[0] >> 3 & 7) + 8 * op->r;
	op->rm = (op->at[0] & 7) + 8 * op->b;
}

/* The register that a memory operand counts from; X86_NO_REG: none, or rip. */
static int base_of(const struct operands *op)
{
	int base = op->rm;

	if ((op->rm & 7) == HAS_SIB)
		base = (op->at[1] & 7) + 8 * op->b;
	if (op->mod == 0 && (base & 7) == RIP)
		return X86_NO_REG;
	return base;
}

/* lea's displacement, without an index; false: there is one. */
static bool displacement(const struct operands *op, int *ret)
{
	bool sib = (op->rm & 7) == HAS_SIB;
	const uint8_t *at = op->at + 1 + sib;
	int32_t wide;

	*ret = op->mod == 1 ? (int8_t)at[0] : 0;
	if (op->mod == 2) {
		memcpy(&wide, at, sizeof(wide));
		*ret = wide;
	}
	return !sib || (op->at[1] >> 3 & 7) == 4; /* r12 would be one; nobody's */
}

static void take_sp(struct x86_effect *is, int from)
{
	is->sp = from == X86_SP || from == X86_FP ? X86_SP_BACK : X86_SP_TAKEN;
	is->from = from;
}

/* reg = what lies in register or memory `from` */
static void move(struct x86_effect *is, int reg, int from, bool memory)
{
	is->writes_fp = reg == X86_FP;
	if (reg != X86_SP) {
		is->keeps = !memory && from == X86_SP ? reg : X86_NO_REG;
		is->sets = reg;
		return;
	}
	take_sp(is, from);
	if (memory && is->sp == X86_SP_TAKEN)
		is->from = X86_NO_REG;
}

static void load_address(struct x86_effect *is, const struct operands *op)
{
	int base = base_of(op), distance;
	bool plain = displacement(op, &distance);

	if (op->reg == X86_SP && base == X86_SP) {
		is->sp = plain ? X86_SP_MOVED : X86_SP_LOST;
		is->pushed = -distance;
	} else {
		move(is, op->reg, base, false);
	}
}

/* add, sub and others of an immediate */
static void compute(struct x86_effect *is, const struct operands *op, bool byte)
{
	int32_t value = (int8_t)op->at[1];
	int what = op->reg & 7;

	if (op->mod != 3 || what == 7) /* memory's, or cmp */
		return;
	is->writes_fp = op->rm == X86_FP;
	if (op->rm != X86_SP)
		return;
	if (!byte)
		memcpy(&value, op->at + 1, sizeof(value));
	is->sp = what == 0 || what == 5 ? X86_SP_MOVED : X86_SP_LOST;
	is->pushed = what == 0 ? -value : value;
}

static void push_or_pop(struct x86_effect *is, int reg, bool pops)
{
	is->pushed = pops ? -8 : 8;
	is->pushes_fp = !pops && reg == X86_FP;
	is->writes_fp = pops && reg == X86_FP;
	is->sets = pops ? reg : X86_NO_REG;
	if (pops && reg == X86_SP)
		is->sp = X86_SP_BACK;
}

static void exchange(struct x86_effect *is, int reg, int other, bool memory)
{
	is->writes_fp = reg == X86_FP || other == X86_FP;
	if (reg == X86_SP)
		take_sp(is, memory ? X86_NO_REG : other);
	else if (!memory && other == X86_SP)
		take_sp(is, reg);
}

/* An instruction that none of the others is: does it name one of the two? */
static void doubt_register(struct x86_effect *is, int reg)
{
	if (reg == X86_SP)
		is->sp = X86_SP_LOST;
	is->writes_fp |= reg == X86_FP;
}

static void doubt_place(struct x86_effect *is, const struct operands *op)
{
	if (op->mod == 3)
		doubt_register(is, op->rm);
}

static void doubt(struct x86_effect *is, const struct operands *op)
{
	doubt_register(is, op->reg);
	doubt_place(is, op);
}

/* ModRM's register is a part of the opcode: shifts, not, neg, mul, inc, … */
static bool is_group(uint8_t code)
{
	return code == 0x80 || code == 0xc0 || code == 0xc1 ||
	       (code >= 0xd0 && code <= 0xd3) || code == 0xf6 || code == 0xf7 ||
	       code == 0xfe || code == 0xc6 || code == 0xc7;
}

static void look_at_group(struct x86_effect *is, const struct operands *op)
{
	int what = op->reg & 7;

	is->leaves = is->goes = what == 4 || what == 5;
	if (what == 6)
		is->pushed = 8;
	else if (what < 2) /* inc, dec */
		doubt_place(is, op);
}

/* cmov, setcc, imul, xadd, shld, bts, rdfsbase, rdrand, and what takes a general register
 * out of vectors */
static bool may_write(uint8_t code)
{
	static const uint8_t others[] = { 0x2c, 0x2d, 0x38, 0x3a, 0x50, 0x7e, 0xa3,
					  0xa4, 0xa5, 0xab, 0xac, 0xad, 0xae, 0xaf,
					  0xc0, 0xc1, 0xc5, 0xc7, 0xd7 };

	return (code & 0xf0) == 0x40 || (code & 0xf0) == 0xb0 ||
	       memchr(others, code, sizeof(others));
}

/* nops, prefetches, endbr, vectors among themselves and memory, cpuid, rdtsc */
static bool is_harmless(uint8_t code)
{
	return (code >= 0x10 && code <= 0x1f) || (code >= 0x28 && code <= 0x2f) ||
	       (code >= 0x51 && code <= 0x7f) || code >= 0xd0 || code == 0xc2 ||
	       code == 0xc4 || code == 0xc6 || code == 0x0d || code == 0x31 ||
	       code == 0xa2;
}

/* Of those left one enters the kernel, which may have made the frame at hand: the code
 * that signal handlers return to ends so. */
static void fear_worst(struct x86_effect *is)
{
	is->sp = X86_SP_LOST;
	is->writes_fp = true;
}

static void look_at_two_bytes(struct x86_effect *is, struct operands *op)
{
	uint8_t code = *op->at++;

	op->at += code == 0x38 || code == 0x3a; /* maps of three bytes */
	decode(op);
	if (code == 0x0b)
		is->leaves = true;
	else if (code == 0xa0 || code == 0xa8) /* push, pop of fs, gs */
		is->pushed = 8;
	else if (code == 0xa1 || code == 0xa9)
		is->pushed = -8;
	else if ((code & 0xf0) == 0x80)
		is->jumps = true;
	else if (code >= 0xc8 && code <= 0xcf) /* bswap */
		is->writes_fp = (code & 7) + 8 * op->b == X86_FP;
	else if (may_write(code))
		doubt(is, op);
	else if (!is_harmless(code))
		fear_worst(is);
}

static void look_at_no_modrm(struct x86_effect *is, uint8_t code, bool b)
{
	int reg = (code & 7) + 8 * b;

	if (code >= 0x50 && code <= 0x5f)
		push_or_pop(is, reg, code >= 0x58);
	else if (code >= 0x91 && code <= 0x97)
		exchange(is, reg, 0, false);
	else if (code >= 0xb8 && code <= 0xbf)
		move(is, reg, X86_NO_REG, true);
	else if (code == 0x68 || code == 0x6a || code == 0x9c)
		is->pushed = 8;
	else if (code == 0x9d)
		is->pushed = -8;
	else if (code == 0xc9)
		move(is, X86_SP, X86_FP, false);
	else if (code == 0xc8)
		is->sp = X86_SP_LOST;
	else if (code == 0xcd) /* int */
		fear_worst(is);
	/* and what vectors' prefixes say is not read */
	is->writes_fp |= code == 0xc9 || code == 0xc8 || code == 0xc4 || code == 0xc5 ||
			 code == 0x62;
	is->jumps = (code & 0xf0) == 0x70 || (code & 0xfc) == 0xe0;
	is->returns = code == 0xc3;
	is->goes = code == 0xe9 || code == 0xeb;
	is->leaves = is->goes || code == 0xc3 || code == 0xc2 || code == 0xf4 ||
		     code == 0xcf || code == 0xcb || code == 0xca;
}

static bool has_modrm(uint8_t code)
{
	return (code < 0x40 && (code & 7) < 4) || code == 0x63 || code == 0x69 ||
	       code == 0x6b || (code >= 0x80 && code <= 0x8f) || code == 0xc0 ||
	       code == 0xc1 || code == 0xc6 || code == 0xc7 ||
	       (code >= 0xd0 && code <= 0xd3) || code == 0xf6 || code == 0xf7 ||
	       code == 0xfe || code == 0xff;
}

static void look_at_modrm(struct x86_effect *is, uint8_t code, const struct operands *op)
{
	bool memory = op->mod != 3;

	if (code == 0x8b)
		move(is, op->reg, memory ? base_of(op) : op->rm, memory);
	else if (code == 0x89 && !memory)
		move(is, op->rm, op->reg, false);
	else if (code == 0x8d)
		load_address(is, op);
	else if (code == 0x81 || code == 0x83)
		compute(is, op, code == 0x83);
	else if (code == 0x87)
		exchange(is, op->reg, memory ? X86_NO_REG : op->rm, memory);
	else if (code == 0xff)
		look_at_group(is, op);
	else if (code == 0x8f)
		push_or_pop(is, memory ? X86_NO_REG : op->rm, true);
	else if (is_group(code))
		doubt_place(is, op);
	else if (code != 0x88 && code != 0x89 && code != 0x84 && code != 0x85 &&
		 (code & 0xf8) != 0x38) /* stores, test and cmp write none */
		doubt(is, op);
}

static bool is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 ||
	       byte == 0xf3 || (byte & 0xe7) == 0x26 || (byte & 0xfe) == 0x64;
}

struct x86_effect x86_effect(const uint8_t *code, size_t n)
{
	uint8_t padded[32] = { 0 }; /* fields that are not there are 0 */
	struct x86_effect is = { .from = X86_NO_REG,
				 .keeps = X86_NO_REG,
				 .sets = X86_NO_REG };
	struct operands op = { .at = padded };
	bool short_words = false;

	memcpy(padded, code, n < sizeof(padded) / 2 ? n : sizeof(padded) / 2);
	while (op.at < padded + n && is_prefix(*op.at))
		short_words |= *op.at++ == 0x66;
	if ((*op.at & 0xf0) == 0x40) {
		op.r = *op.at & 4;
		op.b = *op.at++ & 1;
	}
	if (*op.at == 0x0f) {
		op.at++;
		look_at_two_bytes(&is, &op);
	} else if (has_modrm(*op.at)) {
		op.at++;
		decode(&op);
		look_at_modrm(&is, op.at[-1], &op);
	} else {
		look_at_no_modrm(&is, *op.at, op.b);
	}
	if (short_words && is.pushed) /* by 2, as pushw */
		is.sp = X86_SP_LOST;
	return is;
}
