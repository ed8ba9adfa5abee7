// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/launchpad.h"

#include "obj/x86_insn.h"
#include "unwind/x86_stack.h"

#include <string.h>

#define LAUNCHPAD_MAX 256 /* bytes */
#define JUMP_SHORT    0xeb
#define IF_SHORT      0x70 /* to 0x7f */

/* mov 8(%rbp),%R; mov N(%rbp),%rsp; mov (%rbp),%rbp; jmp *%R */
static bool match_end(const uint8_t *code, size_t n, struct launchpad *ret)
{
	static const uint8_t load_sp[] = { 0x48, 0x8b, 0x65 },
			     load_fp[] = { 0x48, 0x8b, 0x6d, 0 };
	bool is_high = n && code[0] == 0x4c;
	size_t end = is_high ? 15 : 14;
	const uint8_t *jump = code + end - 2;

	if (n < end || (!is_high && code[0] != 0x48) || code[1] != 0x8b ||
	    (code[2] & 0xc7) != 0x45 || code[3] != 8)
		return false;
	if (memcmp(code + 4, load_sp, sizeof(load_sp)) != 0 || code[7] % 8 ||
	    memcmp(code + 8, load_fp, sizeof(load_fp)) != 0)
		return false;
	if ((is_high && code[12] != 0x41) || jump[0] != 0xff ||
	    jump[1] != (0xe0 | (code[2] >> 3 & 7)))
		return false;
	ret->torn_at = 12;
	ret->end = end;
	ret->rule = (struct unwind_rule){ .cfa = UNWIND_CFA_DEREF_FP,
					  .deref_offset = (int8_t)code[7],
					  .fp = UNWIND_FP_DEREF,
					  .bx_words = UNWIND_BX_LOST,
					  .ra = UNWIND_RA_FP,
					  .ra_words = 1 };
	return true;
}

/* A jump within the function, forwards: how far, from behind it. */
static bool read_jump(const uint8_t *code, size_t n, size_t *ret)
{
	if (n != 2 || code[1] > INT8_MAX ||
	    (code[0] != JUMP_SHORT && (code[0] & 0xf0) != IF_SHORT))
		return false;
	*ret = code[1];
	return true;
}

bool launchpad_find(const uint8_t *code, size_t n, struct launchpad *ret)
{
	size_t at = 0, target = 0, one, jump;
	bool has_called = false, calls;

	if (n > LAUNCHPAD_MAX)
		n = LAUNCHPAD_MAX;
	for (; at < n; at += one) {
		struct x86_effect is;

		if (has_called && match_end(code + at, n - at, ret)) {
			ret->torn_at += at;
			ret->end += at;
			return target <= at;
		}
		one = x86_insn_bytes(code + at, n - at, &calls);
		if (!one)
			return false;
		has_called |= calls;
		is = x86_effect(code + at, one);
		if (is.writes_fp || is.returns)
			return false;
		if (!is.leaves && !is.jumps)
			continue;
		if (!read_jump(code + at, one, &jump))
			return false;
		if (at + one + jump > target)
			target = at + one + jump;
	}
	return false;
}
