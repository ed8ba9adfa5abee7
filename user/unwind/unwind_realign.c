// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/unwind_realign.h"

/* pop %rbp, or leave; lea -8(%r10), %rsp; ret
 * or of a register that its caller's may be in: lea -16(%r13), %rsp; pop %r13; ret */
#define POP_BYTES 1
#define LEA_BYTES 4

#define RETURN_BYTES 8

/* All of the frame is gone, and a call's return address is what is left, but for that
 * register; arm64's is in a register. */
static bool is_taken_down(const struct unwind_rule *rule)
{
	return rule->cfa == UNWIND_CFA_SP && rule->fp == UNWIND_FP_DEREF &&
	       (rule->cfa_offset == RETURN_BYTES || rule->cfa_offset == RETURN_BYTES + 8);
}

static struct unwind_rule with_fp_back(const struct unwind_rule *rule)
{
	struct unwind_rule back = *rule;

	back.fp = UNWIND_FP_SAME;
	back.fp_words = 0;
	return back;
}

/* The last row, of which so much is before the instruction that goes back to the stack as
 * it was. */
static int give_last(const struct unwind_realign *realign, uint64_t end, bool goes_back)
{
	const struct cfi_sink *sink = realign->sink;
	struct unwind_rule back = with_fp_back(&realign->rule);
	int err = sink->row(sink->arg, realign->pc, &realign->rule);

	if (err || !goes_back || realign->rule.cfa != UNWIND_CFA_REG ||
	    realign->rule.fp != UNWIND_FP_DEREF ||
	    end - realign->pc < POP_BYTES + LEA_BYTES)
		return err;
	return sink->row(sink->arg, end - LEA_BYTES, &back);
}

int unwind_realign_row(void *arg, uint64_t pc, const struct unwind_rule *rule)
{
	struct unwind_realign *realign = arg;
	bool is_back = is_taken_down(rule);
	int err = realign->any ? give_last(realign, pc, is_back) : 0;

	realign->any = true;
	realign->pc = pc;
	realign->rule = is_back ? with_fp_back(rule) : *rule;
	return err;
}

int unwind_realign_end(struct unwind_realign *realign)
{
	return realign->any ? give_last(realign, realign->pc, false) : 0;
}
