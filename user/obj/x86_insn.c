// SPDX-License-Identifier: BSD-2-Clause
/*
 * After Intel's manual, volume 2, appendix A: prefixes, an opcode of one of four
 * maps, ModRM with its SIB and displacement, an immediate. A letter for each
 * opcode says what follows it:
 *
 *	.  nothing		m  ModRM		- no such instruction
 *	b  1 byte		B  ModRM and 1 byte
 *	z  2 or 4 bytes		Z  ModRM and 2 or 4 bytes
 *	others: see operands()
 */
#include "obj/x86_insn.h"

#include <string.h>

enum { UD2 = 0x0b, UD1 = 0xb9 }; /* of the 0f map: traps */

static const char one_byte[] = "mmmmbz--mmmmbz-x" /* 00: x is the 0f map */
			       "mmmmbz--mmmmbz--"
			       "mmmmbz--mmmmbz--"
			       "mmmmbz--mmmmbz--"
			       "----------------" /* 40: REX, taken before */
			       "................"
			       "--ve----zZbB...." /* 62, 63: EVEX, movsxd */
			       "bbbbbbbbbbbbbbbb"
			       "BZ-Bmmmmmmmmmmmm" /* 80 */
			       "..........-....."
			       "oooo....bz......" /* a0: a full address */
			       "bbbbbbbbvvvvvvvv" /* b8: mov of 2, 4 or 8 bytes */
			       "BBw.VVBZi.w..b-." /* c0: w 2 bytes, V VEX, i enter */
			       "mmmm---.mmmmmmmm"
			       "bbbbbbbbdd-b...."  /* e0: d 4 bytes */
			       "-.--..tT......mm"; /* f0: t, T: test has one more */

static const char two_byte[] = "mmmm-.......-m.B" /* 00: 0f 0f is 3DNow!'s */
			       "mmmmmmmmmmmmmmmm"
			       "mmmm----mmmmmmmm"
			       "......-.x-x-----" /* 30: x are maps of three bytes */
			       "mmmmmmmmmmmmmmmm"
			       "mmmmmmmmmmmmmmmm"
			       "mmmmmmmmmmmmmmmm"
			       "BBBBmmm.mm--mmmm"
			       "dddddddddddddddd" /* 80 */
			       "mmmmmmmmmmmmmmmm"
			       "...mBm--...mBmmm"
			       "mmmmmmmmmmBmmmmm"
			       "mmBmBBBm........"
			       "mmmmmmmmmmmmmmmm"
			       "mmmmmmmmmmmmmmmm"
			       "mmmmmmmmmmmmmmmm";

struct insn {
	const uint8_t *code;
	size_t n, at;
	bool wide;  /* REX.W */
	bool small; /* operands of 2 bytes */
	bool calls;
	bool bad;
};

/* The next byte, if there is one. */
static uint8_t next_byte(const struct insn *insn)
{
	return insn->at < insn->n ? insn->code[insn->at] : 0;
}

static uint8_t take(struct insn *insn)
{
	uint8_t byte = next_byte(insn);

	insn->bad |= insn->at++ >= insn->n;
	return byte;
}

/* ModRM, SIB and displacement; returns ModRM. */
static uint8_t take_modrm(struct insn *insn)
{
	uint8_t modrm = take(insn), sib = 0;
	unsigned int mod = modrm >> 6, rm = modrm & 7;

	if (mod == 3)
		return modrm;
	if (rm == 4)
		sib = take(insn);
	if (mod == 1)
		insn->at += 1;
	else if (mod == 2 || rm == 5 || (rm == 4 && (sib & 7) == 5))
		insn->at += 4;
	return modrm;
}

static bool has_modrm(char letter)
{
	return letter == 'm' || letter == 'B' || letter == 'Z' || letter == 'X' ||
	       letter == 't' || letter == 'T';
}

static void operands(struct insn *insn, char letter)
{
	size_t size = insn->small && !insn->wide ? 2 : 4;
	uint8_t modrm = 0;

	if (has_modrm(letter))
		modrm = take_modrm(insn);
	switch (letter) {
	case '.':
	case 'm':
		break;
	case 'b':
	case 'B':
		insn->at += 1;
		break;
	case 'w':
		insn->at += 2;
		break;
	case 'i':
		insn->at += 3;
		break;
	case 'd':
	case 'X':
		insn->at += 4;
		break;
	case 'z':
	case 'Z':
		insn->at += size;
		break;
	case 'v':
		insn->at += insn->wide ? 8 : size;
		break;
	case 'o':
		insn->at += 8;
		break;
	case 't': /* test, and not, neg, mul, … without an immediate */
		insn->at += (modrm >> 3 & 7) < 2 ? 1 : 0;
		break;
	case 'T':
		insn->at += (modrm >> 3 & 7) < 2 ? size : 0;
		break;
	default:
		insn->bad = true;
	}
}

/* Maps 1 to 3 are those of 0f, 0f 38 and 0f 3a. */
static void take_mapped(struct insn *insn, unsigned int map)
{
	uint8_t opcode = take(insn);

	if (map == 1 && opcode == 0x38)
		take_mapped(insn, 2);
	else if (map == 1 && opcode == 0x3a)
		take_mapped(insn, 3);
	else if (map == 1)
		operands(insn, two_byte[opcode]);
	else
		operands(insn, map == 3 ? 'B' : 'm');
}

/* Vector instructions: the map is in the prefix, ModRM always follows, but for
 * vzeroupper. */
static void take_vector(struct insn *insn, unsigned int map)
{
	uint8_t opcode = take(insn);
	char letter = map == 3 ? 'B' : 'm';

	if (map == 1 && (two_byte[opcode] == 'B' || opcode == 0x77))
		letter = two_byte[opcode];
	if (!map || map > 6 || map == 4) /* 5 and 6: half precision */
		insn->bad = true;
	operands(insn, letter);
}

static void take_one_byte(struct insn *insn)
{
	uint8_t opcode = take(insn), next = next_byte(insn);

	if (opcode == 0x0f) {
		take_mapped(insn, 1);
	} else if (opcode == 0xc5) {
		insn->at += 1;
		take_vector(insn, 1);
	} else if (opcode == 0xc4) {
		insn->at += 2;
		take_vector(insn, next & 0x1f);
	} else if (opcode == 0x62) {
		insn->at += 3;
		take_vector(insn, next & 7);
	} else if (opcode == 0x8f && (next & 0x1f) >= 8) { /* AMD's XOP, else pop */
		insn->at += 3;
		operands(insn, (next & 0x1f) == 8 ? 'B' : (next & 0x1f) == 9 ? 'm' : 'X');
	} else if (opcode == 0x63) {
		operands(insn, 'm');
	} else {
		insn->calls = opcode == 0xe8 || (opcode == 0xff && (next >> 3 & 6) == 2);
		operands(insn, one_byte[opcode]);
	}
}

bool x86_insn_is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 ||
	       byte == 0xf3 || (byte & 0xe7) == 0x26 || (byte & 0xfe) == 0x64;
}

static void take_prefixes(struct insn *insn)
{
	for (; x86_insn_is_prefix(next_byte(insn)); insn->at++)
		insn->small |= next_byte(insn) == 0x66;
	if ((next_byte(insn) & 0xf0) == 0x40)
		insn->wide = take(insn) & 8;
}

size_t x86_insn_bytes(const uint8_t *code, size_t n, bool *ret_calls)
{
	struct insn insn = { .code = code, .n = n < X86_INSN_MAX ? n : X86_INSN_MAX };
	bool is_whole;

	take_prefixes(&insn);
	take_one_byte(&insn);
	is_whole = !insn.bad && insn.at <= insn.n;
	*ret_calls = is_whole && insn.calls;
	return is_whole ? insn.at : 0;
}

/* Where its opcode is. */
static size_t opcode_at(const uint8_t *code, size_t n)
{
	size_t at = 0;

	while (at + 1 < n && x86_insn_is_prefix(code[at]))
		at++;
	return at + 1 < n && (code[at] & 0xf0) == 0x40 ? at + 1 : at;
}

bool x86_insn_distance(const uint8_t *code, size_t n, int64_t *ret)
{
	size_t at = opcode_at(code, n);
	uint8_t opcode = code[at];
	int32_t wide;

	if ((opcode & 0xf0) == 0x70 || (opcode & 0xfc) == 0xe0 || opcode == 0xeb) {
		*ret = (int8_t)code[n - 1];
		return true;
	}
	if (opcode != 0xe8 && opcode != 0xe9 &&
	    !(opcode == 0x0f && (code[at + 1] & 0xf0) == 0x80))
		return false;
	memcpy(&wide, code + n - sizeof(wide), sizeof(wide));
	*ret = wide;
	return true;
}

int x86_insn_condition(const uint8_t *code, size_t n)
{
	if (n == 2 && (code[0] & 0xf0) == 0x70)
		return code[0] & 0xf;
	return n == 6 && code[0] == 0x0f && (code[1] & 0xf0) == 0x80 ? code[1] & 0xf : -1;
}

bool x86_insn_takes_address(const uint8_t *code, size_t n, uint64_t end, uint64_t *ret)
{
	size_t at = opcode_at(code, n);
	bool is_lea = n - at == 6 && code[at] == 0x8d && (code[at + 1] & 0xc7) == 5;
	int32_t wide;

	if (!is_lea && !(n - at == 5 && (code[at] & 0xf8) == 0xb8))
		return false;
	memcpy(&wide, code + n - sizeof(wide), sizeof(wide));
	*ret = (is_lea ? end : 0) + (uint64_t)(int64_t)wide;
	return true;
}

bool x86_insn_leaves(const uint8_t *code, size_t n, bool *ret_by_register)
{
	size_t at = opcode_at(code, n);
	uint8_t next = at + 1 < n ? code[at + 1] : 0;

	*ret_by_register = false;
	switch (code[at]) {
	case 0xc2: /* ret, of its kinds, iret, hlt, jmp */
	case 0xc3:
	case 0xca:
	case 0xcb:
	case 0xcf:
	case 0xe9:
	case 0xeb:
	case 0xf4:
		return true;
	case 0x0f:
		return next == UD2 || next == UD1;
	case 0xff:
		*ret_by_register = (next >> 3 & 6) == 4;
		return *ret_by_register;
	default:
		return false;
	}
}

bool x86_insn_is_ud1(const uint8_t *code, size_t n)
{
	size_t at = opcode_at(code, n);

	return at + 1 < n && code[at] == 0x0f && code[at + 1] == UD1;
}

bool x86_insn_leaves_handler(const uint8_t *code, size_t at, size_t n)
{
	/* what a mov of 15 ends with, and syscall */
	static const uint8_t call[] = { 15, 0, 0, 0, 0x0f, 0x05 };
	size_t number = sizeof(call) - 2;

	return n == 2 && at >= number && !memcmp(code + at - number, call, sizeof(call));
}

bool x86_insn_takes_args(const uint8_t *code, size_t n)
{
	size_t at = opcode_at(code, n);

	return code[at] == 0xc2 && n - at == 3 && code[at + 1] % 8 == 0 && code[at + 1] &&
	       !code[at + 2];
}

bool x86_insn_is_padding(const uint8_t *code, size_t n)
{
	while (n > 1 && (*code == 0x66 || *code == 0x2e)) {
		code++;
		n--;
	}
	return *code == X86_NOP || *code == X86_INT3 ||
	       (n > 1 && code[0] == 0x0f && code[1] == 0x1f);
}

#define ZEROES_ALIGN 16
#define ZEROES_MIN   2 /* one may begin an instruction */

size_t x86_insn_zeroes(const uint8_t *code, size_t n, uint64_t vaddr, bool behind_end)
{
	size_t left = ZEROES_ALIGN - vaddr % ZEROES_ALIGN;

	if ((left < ZEROES_MIN && !behind_end) || left > n)
		return 0;
	for (size_t i = 0; i < left; i++)
		if (code[i])
			return 0;
	return left;
}

size_t x86_insn_number(const uint8_t *code, size_t n, uint64_t vaddr)
{
	uint64_t number;
	bool is_movabs;

	if (n < sizeof(number) || vaddr % sizeof(number))
		return 0;
	memcpy(&number, code, sizeof(number));
	/* else no instructions are so, but movabs of 0 */
	is_movabs = (code[0] & 0xf8) == 0x48 && (code[1] & 0xf8) == 0xb8;
	return number && number <= UINT16_MAX && !is_movabs ? sizeof(number) : 0;
}

size_t x86_insn_endbr64(const uint8_t *code, size_t n)
{
	static const uint8_t endbr64[X86_ENDBR64_BYTES] = { 0xf3, 0x0f, 0x1e, 0xfa };

	return n >= sizeof(endbr64) && !memcmp(code, endbr64, sizeof(endbr64))
		       ? sizeof(endbr64)
		       : 0;
}
