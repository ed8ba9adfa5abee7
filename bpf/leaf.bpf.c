// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A leaf in code that no rule tells of: generated code, files without call frame
 * information. While a function makes its frame, and when it has taken it down, the frame
 * pointer is its caller's, and whoever follows it skips the caller. Short functions that
 * are called all the time are mostly seen there, at their return.
 *
 * So the code at the leaf's pc is read: it may be one of the few instructions of which it
 * is known where the return address lies. That address must be one behind a call, and the
 * frame pointer where it should have been saved, the one that is at hand. Or it may be
 * in a switch to another stack. Everything else goes by frame pointer, as before.
 */
#include "code.bpf.h"
#include "leaf.bpf.h"
#include "pushes.bpf.h"

/* The code around pc, in s->chunk by words. */
#define PC_WORD	   2
#define CODE_BYTES 32

static __always_inline __u64 *code_words(struct scratch *s)
{
	return (__u64 *)s->chunk;
}

/* Behind a page's beginning, or before its end, some of it may be another's. */
static __always_inline void read_code(struct scratch *s)
{
	__u64 *words = code_words(s);

	s->chunk_bytes = 0;
	if (read_user(words, CODE_BYTES, s->pc - 8 * PC_WORD))
		return;
#pragma clang loop unroll(full)
	for (int i = 0; i < CODE_BYTES / 8; i++)
		words[i] = 0;
	if (!read_user(&words[PC_WORD], 16, s->pc) &&
	    !read_user(&words[PC_WORD], 8, s->pc))
		read_user(&words[PC_WORD], LEAF_RETURN_BYTES, s->pc);
}

/* Does the code so many bytes before pc return from a signal handler? */
static __always_inline bool restores_before(const __u64 *words, __u32 bytes)
{
	__u32 at = 8 * PC_WORD - bytes, bits = 8 * (at % 8);
	__u64 code[2] = { words[at / 8], words[at / 8 + 1] };

	if (bits) {
		code[0] = code[0] >> bits | code[1] << (64 - bits);
		code[1] >>= bits;
	}
	code[1] &= RESTORER_BYTES > 8 ? 0xff : 0;
	return restores(code);
}

/* Is what s->rule leads to a caller: is there a call before it, and the frame pointer
 * that it says was saved the one at hand? */
static __always_inline bool leads_to_call(struct scratch *s, __u32 hook, bool saves_fp)
{
	__u64 pc = s->lr;

	if (s->rule.ra != UNWIND_RA_LR) {
		if (!chunk_read(hook, s->cfa + 8 * (__s64)s->rule.ra_words))
			return false;
		pc = s->word & knobs.addr_mask;
	}
	if (!is_called(pc))
		return false;
	if (!saves_fp)
		return true;
	return chunk_read(hook, s->cfa + 8 * (__s64)s->rule.fp_words) &&
	       (s->word & knobs.addr_mask) == s->fp;
}

/* Is the leaf at a function's beginning, before its frame? Then s->rule says how much it
 * has pushed. verifier: a function, or all this had as many ways as what is asked
 * before */
__noinline int leaf_begins(__u32 hook)
{
	struct scratch *s = scratch(hook);
	const __u64 *words;

	if (!s)
		return 0;
	words = code_words(s);
	/* not yet: the rule that was left behind is that of a function's first byte */
	return is_before_prologue(&words[PC_WORD]) ||
	       is_among_pushes(&words[PC_WORD], s->pc, &s->rule);
}

int leaf_try_code(__u32 hook)
{
	struct scratch *s = scratch(hook);
	bool saves_fp;
	__u64 *words;

	if (!s)
		return 0;
	read_code(s);
	words = code_words(s);
	/* no table is needed for the code that a signal handler returns to; the leaf is
	 * at either instruction of it, or in the kernel behind the second */
	if (restores_before(words, 0) || restores_before(words, RESTORER_SECOND) ||
	    restores_before(words, RESTORER_BYTES)) {
		s->step_kind = STEP_KIND_SIGNAL;
		return 0;
	}
	if (is_torn(words)) {
		s->step_kind = STEP_KIND_END;
		s->rule.cfa = UNWIND_CFA_TORN;
		return 0;
	}
	/* behind a stub's last instruction another function begins */
	if (s->in_syscall && !returns(words[PC_WORD]))
		return 0;
	if (!leaf_rule(words[PC_WORD], words[PC_WORD - 1], &s->rule, &saves_fp) &&
	    !leaf_begins(hook))
		return 0;
	s->cfa = s->sp + (__s64)s->rule.cfa_offset;
	if (leads_to_call(s, hook, saves_fp))
		s->step_kind = STEP_KIND_TABLE;
	else
		s->cfa = s->fp + FRAME_BYTES;
	return 0;
}
