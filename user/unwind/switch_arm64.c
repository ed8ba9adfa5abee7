// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/switch_arm64.h"

#include "obj/arm64_insn.h"
#include "unwind/arm64_stack.h"
#include "unwind/leaf_arm64.h"

#include <string.h>

#define RUN_ROWS  16
#define FRAME_MAX 4096 /* bytes, that a switch keeps on the stack */

/* From a function's first instruction to one that leaves it. */
struct switch_run {
	size_t begin, end; /* end 0: it has none */
	size_t torn_at;	   /* where the caller is not known any more; 0: nowhere */
	bool switches;
	bool calls;
	bool known;   /* the rows hold */
	uint32_t own; /* registers that hold this stack's pointer */
	struct unwind_rule rule;
	size_t n;
	struct {
		size_t at;
		struct unwind_rule rule;
	} rows[RUN_ROWS];
};

static void add(struct switch_run *run, size_t at)
{
	if (run->n == RUN_ROWS) {
		run->known = false;
		return;
	}
	run->rows[run->n].at = at;
	run->rows[run->n++].rule = run->rule;
}

/* The rule behind this instruction, which ends at `at`. */
static void apply(struct switch_run *run, const struct arm64_effect *is, size_t at)
{
	bool loses_fp = is->sets >> ARM64_FP & 1 && run->rule.fp != UNWIND_FP_LOST;
	int offset = run->rule.cfa_offset + is->pushed;

	if (is->sp != ARM64_SP_MOVED || is->jumps || offset < 0 || offset > FRAME_MAX ||
	    offset % 8)
		run->known = false;
	if (!run->known)
		return;
	run->rule.cfa_offset = offset;
	if (loses_fp)
		run->rule.fp = UNWIND_FP_LOST;
	if (is->pushed || loses_fp)
		add(run, at);
}

static void follow(struct switch_run *run, const struct arm64_effect *is, size_t at)
{
	bool taken = is->sp == ARM64_SP_TAKEN && !(run->own >> is->from & 1);

	run->calls |= is->calls;
	run->switches |= taken;
	if (!run->torn_at && (taken || is->sets >> ARM64_LR & 1))
		run->torn_at = at;
	run->own &= ~is->sets;
	if (is->keeps != ARM64_NO_REG)
		run->own |= 1u << is->keeps;
	if (!run->torn_at)
		apply(run, is, at);
}

/* The function at `at`, or behind padding there. */
static void read_run(const uint8_t *code, size_t n, size_t at, bool *jumps,
		     struct switch_run *run)
{
	*run = (struct switch_run){
		.known = !*jumps, .rule = { .cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_LR }
	};
	while (n - at >= ARM64_INSN_BYTES) {
		struct arm64_effect is;
		uint32_t insn;

		memcpy(&insn, code + at, sizeof(insn));
		at += ARM64_INSN_BYTES;
		if (!run->n) {
			if (arm64_insn_is_padding(insn))
				continue;
			run->begin = at - ARM64_INSN_BYTES;
			add(run, run->begin);
		}
		is = arm64_effect(insn);
		follow(run, &is, at);
		*jumps |= is.jumps;
		if (is.leaves) {
			run->end = at;
			return;
		}
	}
}

static int tell(const struct switch_run *run, uint64_t vaddr, const struct cfi_sink *sink)
{
	static const struct unwind_rule torn = { .cfa = UNWIND_CFA_TORN }, none;
	int err = 0;

	for (size_t i = 0; run->known && !err && i < run->n; i++)
		err = sink->row(sink->arg, vaddr + run->rows[i].at, &run->rows[i].rule);
	if (!err)
		err = sink->row(sink->arg, vaddr + run->torn_at, &torn);
	return err ? err : sink->row(sink->arg, vaddr + run->end, &none);
}

/* Is the link register written where straight code goes on, but by no call? */
static bool writes_lr(const uint8_t *code, size_t n, size_t at)
{
	for (uint32_t insn; at + sizeof(insn) <= n; at += sizeof(insn)) {
		struct arm64_effect is;

		memcpy(&insn, code + at, sizeof(insn));
		is = arm64_effect(insn);
		if (is.calls || is.leaves || is.jumps)
			return false;
		if (is.sets >> ARM64_LR & 1)
			return true;
	}
	return false;
}

bool switch_arm64_is_torn(const uint8_t *code, size_t n, size_t at, bool is_silent)
{
	uint32_t own = 0, insn;
	bool taken = false, is_led_to = true;

	for (size_t i = 0; i < at && i + sizeof(insn) <= n; i += sizeof(insn)) {
		struct arm64_effect is;

		memcpy(&insn, code + i, sizeof(insn));
		is = arm64_effect(insn);
		taken |= is.sp == ARM64_SP_TAKEN && !(own >> is.from & 1);
		taken |= is_silent && is_led_to && is.sets >> ARM64_LR & 1;
		own &= ~is.sets;
		if (is.keeps != ARM64_NO_REG)
			own |= 1u << is.keeps;
		/* what lies behind is reached from elsewhere, or by a true stack */
		taken &= !is.leaves && !is.calls;
		is_led_to = !is.leaves && (is_led_to || is.calls);
	}
	/* so glibc's swapcontext comes back, with its return address in x1 */
	return taken || (is_silent && !is_led_to && writes_lr(code, n, at));
}

int switch_arm64_tell(const uint8_t *code, size_t n, uint64_t vaddr, const bool *leaf,
		      const struct cfi_sink *sink)
{
	bool jumps = false; /* so what lies behind a function's end may be its own */
	struct switch_run run = { 0 };
	size_t told = 0; /* up to there */
	int err = 0;

	do {
		read_run(code, n, run.end, &jumps, &run);
		/* one that calls comes back from where it switched to */
		if (!run.end || !run.switches || run.calls || run.torn_at >= run.end)
			continue;
		err = leaf_arm64_tell(leaf, told, run.begin, vaddr, sink);
		if (!err)
			err = tell(&run, vaddr, sink);
		told = run.end;
	} while (!err && run.end);
	return err ? err : leaf_arm64_tell(leaf, told, n, vaddr, sink);
}
