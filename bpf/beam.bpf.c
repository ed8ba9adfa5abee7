// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Erlang's runtime, BEAM, on x86-64. A scheduler's thread enters its generated code once
 * and for all; that makes room on the thread's stack for registers of Erlang's, to which
 * rbx points from there on, and saves nothing. Erlang's code then runs on stacks of its
 * own, a process each, and C that it calls on the thread's, right below these registers.
 *
 * So rbx leads from all of this code to who entered it: the return address lies above
 * what is known to be there, and which one it is the host's file says.
 *
 * Where Erlang's code keeps frame pointers (+JPperf true), its callers are shown as well,
 * up to the first function of the process at work, or of the scheduler, whose frame
 * pointer is 0. Elsewhere rbp is a register like any.
 */
#include "beam.bpf.h"
#include "chunk.bpf.h"
#include "table.bpf.h"
#include "words.bpf.h"

/* From rbx on (struct ErtsSchedulerRegisters): 1,024 of Erlang's registers, and of them
 * for floats, and some others, up to a line of the cache; 25 words were seen. */
#define REGISTERS_BYTES (2 * 1024 * 8)
#define OTHER_WORDS	48

/* Whose code is it that returns there? */
enum owner { NOBODY, BEAM, ERLANG };

static __always_inline enum owner owner_of(struct scratch *s, __u32 hook, __u64 pc)
{
	const struct unwind_mapping here = s->mapping;
	enum owner owner = NOBODY;

	if (table_find_mapping(hook, pc - 1) && s->mapping.flags & UNWIND_HOST)
		owner = is_generated(s) ? ERLANG : BEAM;
	s->mapping = here;
	return owner;
}

/* Where the frame of who entered the code at hand begins into s->beam_end, by s->rule.
 * verifier: no branches, which the loop would multiply */
__noinline int beam_find_scheduler(__u32 hook)
{
	struct scratch *s = scratch_of(PART_HOSTED, hook);
	const __u64 *words;
	__u64 at, found = 0, n;
	__u32 returns;

	if (!s)
		return 0;
	words = (const __u64 *)s->chunk;
	returns = s->rule.cfa_offset;
	if (!read_register(s, hook, s->bx_at, s->rule.reg))
		return 0;
	at = s->word + REGISTERS_BYTES;
	s->chunk_bytes = 0;
	if (at & 7 || !read_user(s->chunk, 8 * OTHER_WORDS, at))
		return 0;
	for (__u64 i = 0; i < OTHER_WORDS; i++) {
		__u64 is_it = (__u32)words[i] ^ returns;

		is_it = (is_it - 1) >> 63; /* 0, less 1: all bits */
		KEEP(is_it);
		found |= (i + 1) & -is_it;
	}
	n = (found - 1) & (CHUNK_BYTES / 8 - 1); /* nonsense of two */
	if (!found || (__u32)words[n] != returns || owner_of(s, hook, words[n]) != BEAM)
		return 0;
	s->beam_end = at + 8 * (n + 1);
	return 1;
}

/* A frame record, of which is asked what nothing but one would have: a call led to where
 * it returns, and so for the one that it leads to, if that is not the process's first. */
static __always_inline bool is_record(__u64 at)
{
	__u64 record[2], first;

	if (at & 7 || !read_user(record, sizeof(record), at) ||
	    !table_is_called(record[1]))
		return false;
	first = record[0];
	if (!first)
		return true;
	return !(first & 7) && first > at && read_user(record, sizeof(record), first) &&
	       (!record[0] || table_is_called(record[1]));
}

static __always_inline void leave_by_sp(struct scratch *s, __u64 cfa)
{
	s->cfa = cfa;
	s->rule = (struct unwind_rule){ .cfa = UNWIND_CFA_SP, .ra_words = -1 };
	s->step_kind = STEP_KIND_TABLE;
}

/*
 * Has the leaf no frame, or none any more? Then its return address is the topmost word of
 * its process's stack. While it has one that is a term, or its frame record, and Erlang's
 * garbage collector tells terms from addresses, too.
 */
static __always_inline bool is_frameless(struct scratch *s, __u32 hook)
{
	return s->is_leaf && s->beam_end - s->sp >= SAME_STACK_BYTES &&
	       chunk_read(hook, s->sp) && table_is_called(s->word) &&
	       owner_of(s, hook, s->word) == ERLANG;
}

int beam_try_frame(__u32 hook)
{
	struct scratch *s = scratch_of(PART_HOSTED, hook);

	if (!s || (!s->beam_end && !beam_find_scheduler(hook)))
		return 0;
	s->strays = 0; /* C's frame pointer may be Erlang's */
	if (is_frameless(s, hook)) {
		leave_by_sp(s, s->sp + 8);
	} else if (s->fp && is_record(s->fp)) {
		s->step_kind = STEP_KIND_PROVEN_FP;
	} else {
		leave_by_sp(s, s->beam_end);
		s->rule.bx_words = UNWIND_BX_LOST;
		s->rule.fp = UNWIND_FP_LOST;
	}
	return 0;
}
