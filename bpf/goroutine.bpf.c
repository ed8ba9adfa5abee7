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

enum { KEPT_M, KEPT_SP, KEPT_PC };

int goroutine_find(__u32 hook)
{
	struct scratch *s = scratch(hook);
	__u64 at = s ? (__s64)s->rule.deref_offset : 0;
	__u64 kept[UNWIND_GO_WORDS] = { 0 }, m = 0, goroutine = 0;

	if (!s || s->on_waiting_thread || !find_g(s))
		return 0;
	if (!read_user(&m, sizeof(m), (s->go_g & knobs.addr_mask) + at) ||
	    !read_user(&goroutine, sizeof(goroutine),
		       (m & knobs.addr_mask) + 8 * s->rule.reg) ||
	    !read_user(kept, sizeof(kept), (goroutine & knobs.addr_mask) + at) ||
	    kept[KEPT_M] != m)
		return 0;
	s->cfa = kept[KEPT_SP] & knobs.addr_mask;
	if (s->rule.ra != UNWIND_RA_REG) {
		s->cfa -= 8 * (__s64)s->rule.ra_words;
		return 1;
	}
	s->go_pc = kept[KEPT_PC] & knobs.addr_mask;
	s->lr = kept[s->rule.ra_words & (UNWIND_GO_WORDS - 1)] & knobs.addr_mask;
	return 1;
}
