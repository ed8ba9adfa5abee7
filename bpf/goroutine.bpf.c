// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Go's runtime does much of its work on the stack of the scheduler, and comes back from
 * there by what it has kept of the goroutine: so does the walk. The code that comes back
 * says which words those are (user/unwind/unwind_go.h).
 *
 * While the thread has no goroutine, or has another one already, nothing leads to a
 * caller. The goroutine knows its m, so what merely looks like one is found out.
 */
#include "goroutine.bpf.h"

#ifdef __bpf__
#include "compat.bpf.h"
#endif

#define STACK_END 8 /* of a g: where its stack ends */

enum { KEPT_M, KEPT_SP, KEPT_PC };

struct kept {
	__u64 of[UNWIND_GO_WORDS];
};

static __always_inline bool find_kept(struct scratch *s, struct kept *ret)
{
	__u64 m = 0, goroutine = 0, at = (__s64)s->rule.deref_offset;

	return !s->on_waiting_thread && find_g(s) &&
	       read_user(&m, sizeof(m), (s->go_g & knobs.addr_mask) + at) &&
	       read_user(&goroutine, sizeof(goroutine),
			 (m & knobs.addr_mask) + 8 * s->rule.reg) &&
	       read_user(ret, sizeof(*ret), (goroutine & knobs.addr_mask) + at) &&
	       ret->of[KEPT_M] == m;
}

/* Where sp was when C was called. */
static __always_inline bool find_beside_c(struct scratch *s, __u64 *ret)
{
	__u64 kept[2] = { 0 }, end = 0;

	if ((!FP_GIVES_SP && s->sp_is_least) ||
	    !read_user(kept, sizeof(kept), s->sp + (__s64)s->rule.deref_offset))
		return false;
	if (kept[0] &&
	    !read_user(&end, sizeof(end), (kept[0] & knobs.addr_mask) + STACK_END))
		return false;
	*ret = (kept[0] ? end - kept[1] : kept[1]) & knobs.addr_mask;
	return true;
}

int goroutine_find(__u32 hook)
{
	struct scratch *s = scratch(hook);
	struct kept kept = { 0 };
	__u64 sp = 0;

	if (!s)
		return 0;
	if (s->rule.cfa == UNWIND_CFA_GO_C ? !find_beside_c(s, &sp)
					   : !find_kept(s, &kept))
		return 0;
	if (s->rule.cfa == UNWIND_CFA_GO)
		sp = kept.of[KEPT_SP] & knobs.addr_mask;
	s->cfa = sp;
	if (s->rule.ra != UNWIND_RA_REG) {
		s->cfa -= 8 * (__s64)s->rule.ra_words;
		return 1;
	}
	s->go_pc = kept.of[KEPT_PC] & knobs.addr_mask;
	s->lr = kept.of[s->rule.ra_words & (UNWIND_GO_WORDS - 1)] & knobs.addr_mask;
	return 1;
}
