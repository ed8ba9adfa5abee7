/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is a sample at this instruction the truth? By table both views are, with every
 * frame proven:
 *
 *   exact	wherever the program is, but inside the code that changes stacks
 *
 * By frame pointers alone:
 *
 *   exact	the function at hand has its frame pointer
 *   fp-prologue	it has not yet, or no longer, or is a leaf that gcc gives none:
 *		then its caller, and nobody else, is missing, as frame pointers
 *		alone must have it
 *
 * As generated code, by frame pointers and what the leaf's code says: either of the two.
 *
 * By any, since return addresses lie in registers there:
 *
 *   switch	inside the code that changes stacks: of one stack or of the other,
 *		with callers of the switch missing at most
 *
 * While the program changes its async structures, their old meaning or the new
 * one; never both, never another. Where nothing says how code is unwound (a jump
 * that has let go of its frame, a static program's linkage stub, a switch that a
 * signal interrupted) a sample need not be true, but must not say that it is
 * proven.
 */
#ifndef WEFT_TESTS_JUDGE_H
#define WEFT_TESTS_JUDGE_H

#include "truth.h"

#include "shared/knobs.h"

/* How to sample. */
struct way {
	struct process_info process_info; /* without mappings: by frame pointer */
	bool by_code; /* with a mapping, but no table of it: as generated code */
	bool hide_key;
	bool is_control; /* expected to go wrong, so without words */
};

struct meanings {
	struct meaning was, is; /* before the armed change, and after it */
};

struct tally {
	uint64_t steps, exact, by_code, prologue, in_switch, no_cfi, wrong;
	uint64_t armed, async, rejoined, signals, in_handler;
	int longest_prologue;
	int in_prologue;	/* now; instructions in a row */
	struct activation last; /* the call under way at the last instruction */
};

void judge(const struct tracer *t, const struct meanings *meanings, const struct way *way,
	   struct tally *tally);

#endif
