// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/x86_stack.h"

#include "obj/x86_insn.h"

#include <string.h>

#define RIP		5 /* as a base without displacement's size */
#define HAS_SIB		4
#define FARTHEST	(1 << 30) /* bytes */
#define REX		0x40
#define REG(n)		(1u << (n))
#define PAIR		(REG(0) | REG(2)) /* rax, rdx */
#define IMPLIED		(PAIR | REG(1) | REG(3) | REG(6) | REG(7))
#define LOST_IN_SYSCALL (REG(0) | REG(1) | REG(11))

/*
 * Which registers an instruction with ModRM writes: . none, r ModRM's register, m its
 * place if that is one, x both, M the place, and rax and rdx, i those that no operand
 * names, s those of a system call. !: nothing is known of any behind it.
 */
static const char one_byte[] = "mmrr....mmrr...." /* 00 */
			       "mmrr....mmrr...."
			       "mmrr....mmrr...."
			       "mmrr............"
			       "................" /* 40 */
			       "................"
			       "...r.....r.r...."
			       "................"
			       "mm.m..xxmmrrmr.m" /* 80 */
			       "................"
			       "................"
			       "................"
			       "mm....mm........" /* c0 */
			       "mmmm....iiiiiiii"
			       "................"
			       "......MM......m.";

static const char two_byte[] = "m!rr.s!!!!!.!..." /* 00 */
			       "..............m." /* 1e: rdssp */
			       "!!!!!!!!....rr.."
			       "!i!!!!!!........"
			       "rrrrrrrrrrrrrrrr" /* 40 */
			       "r..............."
			       "................"
			       "........xx....m."
			       "................" /* 80 */
			       "mmmmmmmmmmmmmmmm"
			       "..i.mm..!!!mmmmr"
			       "MMrmrrrrr!mmrrrr"
			       "xx...r.M........" /* c0 */
			       ".......r........"
			       "................"
			       "................";

struct operands {
	const uint8_t *at; /* behind the opcode */
	bool w, r, b;	   /* REX's bits */
	uint8_t rex;	   /* 0: none */
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
	int base = (op->rm & 7) == HAS_SIB ? (op->at[1] & 7) + 8 * op->b : op->rm;

	return op->mod == 0 && (base & 7) == RIP ? X86_NO_REG : base;
}

/* 32 bits. No frame is as large as what is cut off of them. */
static int wide(const uint8_t *at)
{
	int32_t value;

	memcpy(&value, at, sizeof(value));
	return value > FARTHEST ? FARTHEST : value < -FARTHEST ? -FARTHEST : value;
}

/* lea's displacement, without an index; false: there is one. */
static bool displacement(const struct operands *op, int *ret)
{
	bool sib = (op->rm & 7) == HAS_SIB;
	const uint8_t *at = op->at + 1 + sib;

	*ret = op->mod == 1 ? (int8_t)at[0] : op->mod == 2 ? wide(at) : 0;
	return !sib || ((op->at[1] >> 3 & 7) == 4 && !(op->rex & 2)); /* r12 */
}

static void take_sp(struct x86_effect *is, int from)
{
	is->sp = from == X86_SP || from == X86_FP ? X86_SP_BACK : X86_SP_TAKEN;
	is->from = from;
}

/* reg = what lies in register or memory `from` */
static void move(struct x86_effect *is, int reg, int from, bool memory)
{
	if (reg != X86_SP) {
		is->writes |= REG(reg);
		is->keeps = !memory && from == X86_SP ? reg : X86_NO_REG;
		is->sets = reg;
		return;
	}
	take_sp(is, from);
	if (memory && is->sp == X86_SP_TAKEN)
		is->from = X86_NO_REG;
}

static void sum(struct x86_effect *is, int reg, unsigned int of)
{
	is->sums = reg;
	is->sum = of;
}

/* reg = base + distance */
static void copy(struct x86_effect *is, int reg, int base, int distance)
{
	is->way = X86_COPIES;
	is->reg = reg;
	is->base = base;
	is->distance = distance;
}

/* reg = *(base + distance), or the other way round: as `way` says */
static void copy_memory(struct x86_effect *is, const struct operands *op,
			enum x86_way way)
{
	bool is_whole = op->w || way == X86_PUSHES; /* a push is, without a prefix */
	int base = base_of(op), distance;

	if (!is_whole || base == X86_NO_REG || !displacement(op, &distance))
		return;
	copy(is, op->reg, base, distance);
	is->way = way;
}

static void load_address(struct x86_effect *is, const struct operands *op)
{
	int base = base_of(op), distance;
	bool plain = displacement(op, &distance);

	if (op->w && plain && base != X86_NO_REG)
		copy(is, op->reg, base, distance);
	else if (op->w && base != X86_NO_REG)
		sum(is, op->reg, REG(base));
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
	int what = op->reg & 7, value;

	if (op->mod != 3 || what == 7) /* memory's, or cmp */
		return;
	value = byte ? (int8_t)op->at[1] : wide(op->at + 1);
	if (op->w && (what == 0 || what == 5))
		copy(is, op->rm, op->rm, what == 0 ? value : -value);
	else if (op->w && what == 4)
		sum(is, op->rm, REG(op->rm));
	if (op->rm != X86_SP) {
		is->writes |= REG(op->rm);
		return;
	}
	is->sp = what == 0 || what == 5 ? X86_SP_MOVED : X86_SP_LOST;
	is->pushed = what == 0 ? -value : value;
	is->aligns = what == 4;
}

static void push_or_pop(struct x86_effect *is, int reg, bool pops)
{
	is->pushed = pops ? -8 : 8;
	is->pushes = pops ? X86_NO_REG : reg;
	is->sets = pops ? reg : X86_NO_REG;
	if (!pops)
		return;
	if (reg == X86_SP)
		is->sp = X86_SP_BACK;
	copy(is, reg, X86_SP, 0);
	is->way = X86_LOADS;
	if (reg != X86_NO_REG)
		is->writes |= REG(reg);
}

static void exchange(struct x86_effect *is, int reg, int other, bool memory)
{
	is->writes |= REG(reg) | (memory ? 0 : REG(other));
	if (reg == X86_SP)
		take_sp(is, memory ? X86_NO_REG : other);
	else if (!memory && other == X86_SP)
		take_sp(is, reg);
}

static void fear_worst(struct x86_effect *is)
{
	is->sp = X86_SP_LOST;
	is->writes = ~0u;
}

/* Without REX the second four of one byte are the upper halves of the first. */
static unsigned int written(const struct operands *op, int reg, bool bytes)
{
	return REG(bytes && !op->rex && reg < 8 ? reg & 3 : reg);
}

/* bytes: its operands are of one byte */
static void write_registers(struct x86_effect *is, const struct operands *op, char letter,
			    bool bytes)
{
	unsigned int reg = written(op, op->reg, bytes);
	unsigned int place = op->mod == 3 ? written(op, op->rm, bytes) : 0;

	if (letter == 'r' || letter == 'x')
		is->writes |= reg;
	if (letter == 'm' || letter == 'x' || letter == 'M')
		is->writes |= place;
	if (letter == 'M')
		is->writes |= PAIR;
	else if (letter == 'i')
		is->writes |= IMPLIED;
	else if (letter == 's')
		is->writes |= LOST_IN_SYSCALL;
	else if (letter == '!')
		fear_worst(is);
	if (is->writes & REG(X86_SP) && is->sp == X86_SP_MOVED)
		is->sp = X86_SP_LOST;
}

/* call, jmp, push; inc and dec, which have one of 1 byte each */
static void look_at_group(struct x86_effect *is, const struct operands *op, bool bytes)
{
	int what = op->reg & 7;

	is->goes = what == 4 || what == 5;
	if (what == 6)
		is->pushed = 8;
	else if (what < 2)
		write_registers(is, op, 'm', bytes);
	else if (what < 4)
		is->writes = X86_LOST_IN_A_CALL;
	if (what == 6 && op->mod != 3)
		copy_memory(is, op, X86_PUSHES);
}

/* Of the maps of three bytes: 0f 38's crc32, adcx, …; 0f 3a's pextr; pcmpestri. */
static char far_letter(uint8_t map, uint8_t code)
{
	if (map == 0x38)
		return code >= 0xf0 ? 'x' : '.';
	if (code >= 0x60 && code <= 0x63)
		return 'i';
	return code >= 0x14 && code <= 0x17 ? 'm' : '.';
}

static void look_at_two_bytes(struct x86_effect *is, struct operands *op, bool f3)
{
	uint8_t code = *op->at++, far = *op->at;
	bool bytes = (code & 0xf0) == 0x90 || code == 0xb0 || code == 0xc0;

	op->at += code == 0x38 || code == 0x3a;
	decode(op);
	is->jumps = (code & 0xf0) == 0x80;
	if (code == 0xa0 || code == 0xa8) /* push, pop of fs, gs */
		is->pushed = 8;
	else if (code == 0xa1 || code == 0xa9)
		is->pushed = -8;
	else if (code >= 0xc8 && code <= 0xcf) /* bswap */
		is->writes = REG((code & 7) + 8 * op->b);
	else if (code == 0x38 || code == 0x3a)
		write_registers(is, op, far_letter(code, far), false);
	else if (!(code == 0x7e && f3)) /* movq between vectors */
		write_registers(is, op, two_byte[code], bytes);
}

/* The few of a vector's prefix that write a general register: as far_letter(), v the one
 * that the prefix names, b that and ModRM's. */
static char vector_letter(unsigned int map, uint8_t code)
{
	static const uint8_t first[] = { 0x2c, 0x2d, 0x50, 0x78, 0x79, 0x93, 0xc5, 0xd7 };

	if (map == 2 && code >= 0xe0)
		return code == 0xf3 ? 'v' : code == 0xf6 || code < 0xf0 ? 'b' : 'r';
	if (map == 3)
		return code == 0xf0 ? 'r' : far_letter(0x3a, code);
	if (map != 2 && code == 0x7e)
		return 'm';
	return map != 2 && memchr(first, code, sizeof(first)) ? 'r' : '.';
}

static void look_at_vector(struct x86_effect *is, struct operands *op, uint8_t prefix)
{
	const uint8_t *at = op->at;
	uint8_t last = prefix == 0xc5 ? at[0] : at[1]; /* vvvv, inverted, and pp */
	unsigned int map = prefix == 0xc5 ? 1 : at[0] & (prefix == 0xc4 ? 0x1f : 7);
	char letter;

	op->rex = REX;
	op->r = !(at[0] & 0x80);
	op->b = prefix != 0xc5 && !(at[0] & 0x20);
	op->at += prefix == 0xc5 ? 1 : prefix == 0xc4 ? 2 : 3;
	letter = vector_letter(map, *op->at++);
	decode(op);
	if (letter == 'm' && map == 1 && (last & 3) == 2) /* vmovq between vectors */
		return;
	if (letter == 'v' || letter == 'b')
		is->writes |= REG(~last >> 3 & 0xf);
	write_registers(is, op, letter == 'b' ? 'r' : letter, false);
}

/* add, or, …, cmp of al, eax or rax and an immediate */
static bool is_of_accumulator(uint8_t code)
{
	return code < 0x40 && (code & 6) == 4;
}

/* jcc, nop, test, ret, int3, jmp; x87's, but for fnstsw */
static bool only_goes_or_looks(uint8_t code)
{
	return (code & 0xf0) == 0x70 || code == 0x90 || (code & 0xfe) == 0xa8 ||
	       (code & 0xfe) == 0xc2 || code == 0xcc || (code & 0xfd) == 0xe9 ||
	       (code >= 0xd8 && code < 0xdf);
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
	else if (code >= 0xb0 && code <= 0xb7) /* of a byte; ah may be written, or sp */
		is->writes = REG(reg & 3) | REG(reg);
	else if (code == 0x68 || code == 0x6a || (code & 0xfe) == 0x9c)
		is->pushed = code == 0x9d ? -8 : 8;
	else if (code == 0xc9)
		move(is, X86_SP, X86_FP, false);
	else if (code == 0xc8)
		is->sp = X86_SP_LOST;
	else if (code == 0xcd) /* int */
		fear_worst(is);
	else if (code == 0xe8)
		is->writes = X86_LOST_IN_A_CALL;
	else if (is_of_accumulator(code))
		is->writes = (code & 0xfe) == 0x3c ? 0 : REG(0); /* cmp */
	else if (!only_goes_or_looks(code))
		is->writes = IMPLIED & ~REG(3); /* rbx is cpuid's */
	if (code == 0xc9 || code == 0xc8)
		is->writes |= REG(X86_FP);
	is->drops = code == 0xc9;
	is->jumps = (code & 0xf0) == 0x70 || (code & 0xfc) == 0xe0;
	is->returns = code == 0xc3;
	is->goes = code == 0xe9 || code == 0xeb;
}

static bool has_modrm(uint8_t code)
{
	return (code < 0x40 && (code & 7) < 4) || code == 0x63 || code == 0x69 ||
	       code == 0x6b || (code >= 0x80 && code <= 0x8f) || code == 0xc0 ||
	       code == 0xc1 || code == 0xc6 || code == 0xc7 ||
	       (code >= 0xd0 && code <= 0xd3) || code == 0xf6 || code == 0xf7 ||
	       code == 0xfe || code == 0xff;
}

/* Of those that share an opcode: test, and cmp of an immediate, write nothing; neg and
 * not, one place. */
static char one_byte_letter(uint8_t code, const struct operands *op)
{
	int what = op->reg & 7;

	if (code >= 0x80 && code <= 0x83 && what == 7)
		return '.';
	if ((code & 0xfe) == 0xf6 && what < 4)
		return what < 2 ? '.' : 'm';
	return one_byte[code];
}

static bool is_of_bytes(uint8_t code)
{
	return (code < 0x40 && !(code & 1)) || code == 0x80 || code == 0x86 ||
	       code == 0x88 || code == 0x8a || code == 0xc0 || code == 0xc6 ||
	       code == 0xd0 || code == 0xd2 || code == 0xf6;
}

/* add, and, sub of registers: a difference still counts from what it was taken from. */
static void look_at_sum(struct x86_effect *is, uint8_t code, const struct operands *op)
{
	int to = code & 2 ? op->reg : op->rm, other = code & 2 ? op->rm : op->reg;

	if (!op->w || (op->mod != 3 && !(code & 2))) /* into memory */
		return;
	sum(is, to, REG(to) | (code < 8 && op->mod == 3 ? REG(other) : 0));
	if (to == X86_SP && op->mod == 3 && (code & 0xf8) != 0x20) /* and */
		is->sp = code < 8 ? X86_SP_RAISED : X86_SP_LOWERED;
	is->from = other;
}

static bool is_sum(uint8_t code)
{
	return (code & 5) == 1 && (code < 8 || (code >= 0x20 && code < 0x30));
}

static void look_at_modrm(struct x86_effect *is, uint8_t code, const struct operands *op)
{
	bool memory = op->mod != 3;

	if (is_sum(code))
		look_at_sum(is, code, op);
	if (code == 0x8b) {
		move(is, op->reg, memory ? base_of(op) : op->rm, memory);
		if (memory)
			copy_memory(is, op, X86_LOADS);
		else if (op->w)
			copy(is, op->reg, op->rm, 0);
	} else if (code == 0x89 && !memory) {
		move(is, op->rm, op->reg, false);
		if (op->w)
			copy(is, op->rm, op->reg, 0);
	} else if (code == 0x89) {
		copy_memory(is, op, X86_STORES);
	} else if (code == 0x8d) {
		load_address(is, op);
	} else if (code == 0x81 || code == 0x83) {
		compute(is, op, code == 0x83);
	} else if (code == 0x87) {
		exchange(is, op->reg, memory ? X86_NO_REG : op->rm, memory);
	} else if (code == 0xfe || code == 0xff) {
		look_at_group(is, op, code == 0xfe);
	} else if (code == 0x8f && (op->at[0] & 0x1f) >= 8) {
		fear_worst(is); /* no pop: AMD's XOP */
	} else if (code == 0x8f) {
		push_or_pop(is, memory ? X86_NO_REG : op->rm, true);
	} else {
		write_registers(is, op, one_byte_letter(code, op), is_of_bytes(code));
	}
}

struct x86_effect x86_effect(const uint8_t *code, size_t n)
{
	uint8_t padded[32] = { 0 }; /* fields that are not there are 0 */
	static const struct x86_effect nothing = { .from = X86_NO_REG,
						   .keeps = X86_NO_REG,
						   .sets = X86_NO_REG,
						   .sums = X86_NO_REG,
						   .pushes = X86_NO_REG };
	struct x86_effect is = nothing;
	struct operands op = { .at = padded };
	bool short_words = false, f3 = false, by_register;

	memcpy(padded, code, n < sizeof(padded) / 2 ? n : sizeof(padded) / 2);
	for (; op.at < padded + n && x86_insn_is_prefix(*op.at); op.at++) {
		short_words |= *op.at == 0x66;
		f3 |= *op.at == 0xf3;
	}
	if ((*op.at & 0xf0) == REX) {
		op.rex = *op.at;
		op.w = *op.at & 8;
		op.r = *op.at & 4;
		op.b = *op.at++ & 1;
	}
	if (*op.at == 0x0f) {
		op.at++;
		look_at_two_bytes(&is, &op, f3);
	} else if (*op.at == 0xc4 || *op.at == 0xc5 || *op.at == 0x62) {
		op.at++;
		look_at_vector(&is, &op, op.at[-1]);
	} else if (has_modrm(*op.at)) {
		op.at++;
		decode(&op);
		look_at_modrm(&is, op.at[-1], &op);
	} else {
		look_at_no_modrm(&is, *op.at, op.b);
	}
	if (is.way == X86_COPIES && is.reg == is.base && !is.distance)
		is = nothing; /* lea 0(%rbp), %rbp fills up before a loop */
	/* by 2, as pushw; or so far */
	if ((short_words && is.pushed) || is.pushed / FARTHEST)
		is.sp = X86_SP_LOST;
	if (is.way == X86_COPIES)
		sum(&is, is.reg, REG(is.base));
	is.writes_fp = is.writes & REG(X86_FP);
	is.leaves = x86_insn_leaves(code, n, &by_register);
	return is;
}
