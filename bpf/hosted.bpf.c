// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Code that never moves the stack pointer, which JITs generate and GHC compiles into
 * files: who runs it has made its frame, so one rule holds for all of it. Its host's file
 * tells which (user/unwind/unwind_host.c). Where such code is entered and left, or pushes
 * something all the same, and in what others generate beside it, the rule is not true.
 * It is believed if a call in the host's own file led there, where all that runs such
 * code is called from.
 */
#include "hosted.bpf.h"
#include "table.bpf.h"

#define POPS_BYTES 32 /* of it that are read */
#define POPS_MAX   6  /* of what else it has there: YJIT has 6 for temporaries */

/* Instructions, of which the first byte is the lowest. */
#define IS_MOV(code) (((code)&0xffff) == 0x8948) /* of a call's result, 3 bytes */
#define IS_POP(code) (((code)&0xf8) == 0x58)
#define POP_PREFIX   0x41 /* before the pop of r8 and on */

/* add $n, %rsp: n is DROPPED, and below 128 */
#define IS_DROP(code) (((code)&0x80ffffff) == 0xc48348)
#define DROPPED(code) ((code) >> 24)

/* Is what lies in s->mapping hosted code that may have called some more? */
static __always_inline bool is_nesting(struct scratch *s)
{
	return s->rule.reg == UNWIND_NESTS && s->mapping.flags & UNWIND_HOST &&
	       is_generated(s);
}

/* Does the frame end at s->cfa, to go on in the host's text, behind a call? */
static __always_inline bool is_end(struct scratch *s, __u32 hook, __u32 host)
{
	const struct unwind_mapping here = s->mapping;
	bool is_there;
	__u64 pc;

	if (s->cfa & 7 || !chunk_read(hook, s->cfa + 8 * (__s64)s->rule.ra_words))
		return false;
	pc = s->word & knobs.addr_mask;
	is_there = table_find_mapping(hook, pc - 1) &&
		   (s->mapping.table == host || is_nesting(s)) && table_is_called(pc);
	s->mapping = here;
	return is_there;
}

/* The next byte of the code that lies in s->chunk. */
static __always_inline __u8 next_byte(struct scratch *s)
{
	return s->chunk[s->low++ & (POPS_BYTES - 1)];
}

/* Adds to s->cfa what the code there takes off at once; 0: nothing. verifier: a function,
 * and how far it is lies in a map value, or what follows had all its ways. */
__noinline int hosted_add_pops(__u32 hook)
{
	struct scratch *s = scratch_of(PART_HOSTED, hook);
	__u64 cfa = s ? s->cfa : 0;
	__u32 first;
	__u8 code;

	if (!s)
		return 0;
	s->chunk_bytes = 0;
	if (!read_user(s->chunk, POPS_BYTES, s->pc))
		return 0;
	first = *(const __u32 *)s->chunk;
	if (IS_DROP(first))
		s->cfa += DROPPED(first);
	s->low = IS_MOV(first) ? 3 : 0;
#pragma clang loop unroll(full)
	for (int i = 0; i < POPS_MAX; i++) {
		code = next_byte(s);
		if (code == POP_PREFIX)
			code = next_byte(s);
		if (!IS_POP(code))
			break;
		s->cfa += 8;
		REREAD();
	}
	return s->cfa != cfa;
}

/* A helper's between hosted code and what it calls: that aligns the stack for it. Itself,
 * the leaf, it may not have done so yet, or any more. */
#define HELPER_BYTES 16

static __always_inline bool is_helper_s(struct scratch *s, __u32 hook, __u32 host)
{
	if (s->rule.reg != UNWIND_NESTS)
		return false;
	for (int bytes = HELPER_BYTES; bytes; bytes -= 8) {
		s->cfa = s->sp + bytes;
		if (is_end(s, hook, host)) {
			s->rule = (struct unwind_rule){
				.cfa = UNWIND_CFA_SP,
				.cfa_offset = bytes,
				.ra_words = -1,
			};
			return true;
		}
		if (!s->is_leaf)
			break;
	}
	return false;
}

/* Where the frame at hand may end, one after the other: as the rule says, behind what the
 * code takes off in addition, or behind that alone if it is what enters and leaves. */
enum guess { AS_RULED, WITH_POPS, AS_POPPED, N_GUESSES };

static __always_inline bool find_end(struct scratch *s, __u32 hook, __u32 host)
{
	/* verifier: no call that others call again, of which a tick may have 8 */
	s->cfa = (s->rule.cfa == UNWIND_CFA_SP ? s->sp : s->fp) +
		 (__s64)s->rule.cfa_offset;
	for (int i = AS_RULED; i < N_GUESSES; i++) {
		if (i == AS_POPPED)
			s->cfa -= (__s64)s->rule.cfa_offset - 8;
		if (is_end(s, hook, host))
			return true;
		if (s->rule.cfa != UNWIND_CFA_SP ||
		    (i == AS_RULED && !hosted_add_pops(hook)))
			return false;
	}
	return false;
}

int hosted_try_frame(__u32 hook)
{
	struct scratch *s = scratch_of(PART_HOSTED, hook);
	const union unwind_page *page;
	__u64 cfa;

	if (!s || !FP_GIVES_SP)
		return 0;
	if (!s->mapping_table) {
		/* of a process that was not heard of yet: its host will be known */
		if (s->mapping.flags & UNWIND_HOST_OF_FILES)
			set_pending(s);
		return 0;
	}
	page = unwind_page(s->mapping_table);
	if (!page || !page->mapping_head.host)
		return 0;
	cfa = s->cfa;
	s->rule = page->mapping_head.hosted;
	if (s->rule.cfa == UNWIND_CFA_REG)
		return 1;
	if (find_end(s, hook, page->mapping_head.host) ||
	    is_helper_s(s, hook, page->mapping_head.host))
		s->step_kind = STEP_KIND_TABLE;
	else
		s->cfa = cfa;
	return 0;
}
