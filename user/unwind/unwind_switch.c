// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/unwind_switch.h"

#include "base/error.h"
#include "obj/x86_insn.h"
#include "unwind/fp_text.h"
#include "unwind/launchpad.h"
#include "unwind/leaf_arm64.h"
#include "unwind/switch_arm64.h"
#include "unwind/switched.h"
#include "unwind/v8_text.h"
#include "unwind/x86_flow.h"
#include "unwind/x86_stack.h"

#include <errno.h>
#include <stdlib.h>

#define SWITCH_MAX	 4096 /* bytes of a gap; larger ones are no routine's */
#define ROWS_MAX	 32
#define CALL_ALIGN	 16
#define CODE_ALIGN	 16
#define LONG_PADDING_MAX 32	    /* bytes up to an aligned address are less */
#define WORD_PADDING_MAX 8	    /* and those to one that is not */
#define PUSH_MAX	 4096	    /* bytes, that a switch keeps on the stack */
#define V8_GAP_MIN	 (1u << 20) /* bytes: smaller ones are V8's as a whole, or none */
#define CASES_BYTES_MAX	 (256u << 10) /* of tables of a part, that jumps go through */
#define GAP_PART_BYTES	 (X86_FLOW_MAX - 2 * X86_FLOW_AROUND) /* of larger gaps */

struct gap {
	const uint8_t *code;
	size_t n;
	uint64_t vaddr;
	size_t begin, end;	 /* of that, what is told of; */
	uint64_t before, behind; /* and bytes of the gap that lie around all of it */
	bool takes_args;	 /* so functions do, as V8's */
	bool jumps;		 /* what was read so far does */
	struct code_pages *data; /* of the file */
};

/* From a function's first instruction to one that leaves it. */
struct code_run {
	size_t begin, end; /* end 0: it has none */
	size_t torn_at;	   /* 0: it switches no stacks */
	bool calls;	   /* then it comes back from where it switched to */
	bool calls_there;  /* on the other stack */
	bool returns;	   /* with as much on the stack as it began with */
	bool known;	   /* the rows hold */
	bool jumps;	   /* here and there, so they don't, */
	bool skips;	   /* or over what is the same to them */
	unsigned int own;  /* registers that hold this stack's pointer */
	int fp_words;	   /* where the frame pointer was pushed, or 0 */
	bool fp_is_out;	   /* and that was popped: it may be written over */
	bool goes;	   /* it ends by a jump */
	struct unwind_rule rule;
	size_t n;
	struct {
		size_t at;
		struct unwind_rule rule;
	} rows[ROWS_MAX];
};

static void add(struct code_run *run, size_t at)
{
	if (run->n == ROWS_MAX) {
		run->known = false;
		return;
	}
	run->rows[run->n].at = at;
	run->rows[run->n++].rule = run->rule;
}

static bool is_switch(const struct code_run *run, const struct x86_effect *is)
{
	return is->sp == X86_SP_TAKEN &&
	       (is->from == X86_NO_REG || !(run->own >> is->from & 1));
}

/* Before the stack is switched: the rule behind this instruction. */
static void apply(struct code_run *run, const struct x86_effect *is, size_t at)
{
	int offset = run->rule.cfa_offset + is->pushed;
	bool fp_was = run->rule.fp != UNWIND_FP_SAME;

	if (is->sp != X86_SP_MOVED || offset < 8 || offset > PUSH_MAX || offset % 8)
		run->known = false;
	if (!run->known)
		return;
	run->rule.cfa_offset = offset;
	if (run->fp_is_out && !is->leaves) {
		run->rule.fp = UNWIND_FP_LOST;
		run->fp_words = 0;
	}
	if (is->pushes == X86_FP && !fp_was && !run->fp_is_out)
		run->fp_words = -offset / 8;
	run->fp_is_out |= offset < -8 * run->fp_words;
	if (is->writes_fp && !fp_was) {
		run->rule.fp = run->fp_words ? UNWIND_FP_CFA : UNWIND_FP_LOST;
		run->rule.fp_words = (short)run->fp_words;
	}
	if (is->pushed || (is->writes_fp && !fp_was) || run->fp_is_out)
		add(run, at);
}

static void follow(struct code_run *run, const struct x86_effect *is, bool skips,
		   size_t at)
{
	run->skips |= skips;
	run->jumps |= is->jumps && !skips;
	run->known &= !is->jumps || skips;
	if (run->torn_at)
		return;
	if (is_switch(run, is)) {
		run->torn_at = at;
		return;
	}
	if (is->sets != X86_NO_REG)
		run->own &= ~(1u << is->sets);
	if (is->keeps != X86_NO_REG)
		run->own |= 1u << is->keeps;
	apply(run, is, at);
}

/* The function at `at`, or behind padding there. */
static void read_run(const struct gap *gap, size_t at, struct code_run *run)
{
	bool begun = false;

	*run = (struct code_run){
		.known = true,
		.rule = { .cfa = UNWIND_CFA_SP,
			  .cfa_offset = 8,
			  .bx_words = UNWIND_BX_LOST, /* not followed */
			  .ra_words = -1 },
	};
	while (at < gap->n) {
		const uint8_t *code = gap->code + at;
		struct x86_effect is;
		bool calls, skips;
		size_t n = x86_insn_zeroes(code, gap->n - at, gap->vaddr + at, at > 0);

		if (!begun && n) {
			at += n;
			continue;
		}
		n = x86_insn_bytes(code, gap->n - at, &calls);
		if (!n)
			return;
		run->known &= !x86_insn_leaves_handler(gap->code, at, n);
		at += n;
		if (!begun && x86_insn_is_padding(code, n))
			continue;
		if (!begun) {
			begun = true;
			run->begin = at - n;
			add(run, run->begin);
		}
		run->calls_there |= calls && run->torn_at;
		calls &= !run->torn_at;
		run->calls |= calls;
		/* the ABI's: else this is not a function from its beginning */
		run->known &= !calls || run->rule.cfa_offset % CALL_ALIGN == 0;
		is = x86_effect(code, n);
		skips = is.jumps && switched_is_skip(gap->code, at - n, gap->n);
		follow(run, &is, skips, at);
		if (is.leaves) {
			run->end = at;
			run->goes = is.goes;
			run->returns = is.returns && run->rule.cfa_offset == 8;
			return;
		}
	}
}

/* Straight code that returns with the stack it began with is as good as its own proof,
 * calls and all: they come back, and were made with the stack as the ABI has it. */
static bool is_told(const struct code_run *run, const struct gap *gap)
{
	struct switched switched;

	if (run->torn_at)
		return run->end && !run->calls &&
		       (!run->calls_there ||
			switched_find(gap->code, run->torn_at, run->end, &switched));
	return run->end && run->known && !run->skips && run->returns;
}

/* Behind the load of the stack pointer: by how the code leaves, or nobody knows. */
static int tell_switched(const struct code_run *run, const struct gap *gap,
			 const struct cfi_sink *sink)
{
	static const struct unwind_rule torn = { .cfa = UNWIND_CFA_TORN };
	struct switched switched;
	int err = 0;

	if (!switched_find(gap->code, run->torn_at, run->end, &switched))
		return sink->row(sink->arg, gap->vaddr + run->torn_at, &torn);
	for (size_t i = 0; !err && i < switched.n; i++)
		err = sink->row(sink->arg, gap->vaddr + switched.rows[i].at,
				&switched.rows[i].rule);
	return err;
}

static int tell(const struct code_run *run, const struct gap *gap,
		const struct cfi_sink *sink)
{
	static const struct unwind_rule none;
	int err = 0;

	for (size_t i = 0; run->known && !err && i < run->n; i++)
		err = sink->row(sink->arg, gap->vaddr + run->rows[i].at,
				&run->rows[i].rule);
	if (!err && run->torn_at)
		err = tell_switched(run, gap, sink);
	return err ? err : sink->row(sink->arg, gap->vaddr + run->end, &none);
}

/* A made stack's first function, if that is what the run begins; its end is the run's. */
static int tell_launchpad(struct code_run *run, const struct gap *gap,
			  const struct cfi_sink *sink, bool *ret_is_one)
{
	static const struct unwind_rule torn = { .cfa = UNWIND_CFA_TORN }, none;
	uint64_t begin = gap->vaddr + run->begin;
	struct launchpad pad;
	int err;

	*ret_is_one = launchpad_find(gap->code + run->begin, gap->n - run->begin, &pad);
	if (!*ret_is_one)
		return 0;
	run->end = run->begin + pad.end;
	err = sink->row(sink->arg, begin, &pad.rule);
	if (!err)
		err = sink->row(sink->arg, begin + pad.torn_at, &torn);
	return err ? err : sink->row(sink->arg, begin + pad.end, &none);
}

/* A run's rows: by what it is, else by where its jumps lead. */
static int tell_run(struct code_run *run, const struct gap *gap, struct x86_flow *flow,
		    const struct cfi_sink *sink)
{
	struct unwind_rule rule;
	bool is_launchpad, is_own;
	int err = tell_launchpad(run, gap, sink, &is_launchpad);

	if (err || is_launchpad)
		return err;
	/* back to a place that was kept before a jump */
	is_own = x86_flow_rule(flow, run->torn_at, &rule) && rule.cfa != UNWIND_CFA_TORN;
	if (is_told(run, gap) && !(run->torn_at && is_own))
		return tell(run, gap, sink);
	return x86_flow_tell(flow, run->begin, run->end ? run->end : gap->n, sink);
}

/* What lies behind a function's end, from there on, may be reached by that one's jumps,
 * with more on the stack. Nothing else tells of a switch, so of that all jumps are
 * asked. */
static bool may_be_a_part(const struct gap *gap, const struct x86_flow *flow,
			  const struct code_run *run, size_t from)
{
	return gap->jumps &&
	       (!run->torn_at || !run->end || x86_flow_is_led_to(flow, from, run->end));
}

/* Up to the zeros at its end: libco keeps its switch in an array of a page. */
static size_t filled_bytes(const struct gap *gap)
{
	size_t n = gap->n;

	while (n && !gap->code[n - 1])
		n--;
	return n;
}

static int tell_x86(struct gap *gap, const struct cfi_sink *sink)
{
	AUTO(x86_flow) flow = NULL;
	struct code_run run = { 0 };
	int err = x86_flow_read(&(struct x86_code){ .bytes = gap->code,
						    .n = gap->n,
						    .vaddr = gap->vaddr,
						    .before = gap->before,
						    .behind = gap->behind,
						    .takes_args = gap->takes_args,
						    .data = gap->data },
				&flow);

	if (err)
		return err;
	if (filled_bytes(gap) > SWITCH_MAX)
		return x86_flow_tell(flow, gap->begin, gap->end, sink);
	do {
		size_t from = run.end;

		read_run(gap, from, &run);
		run.known &= !may_be_a_part(gap, flow, &run, from);
		if (run.n)
			err = tell_run(&run, gap, flow, sink);
		gap->jumps |= run.jumps || (run.goes && !run.torn_at);
	} while (!err && run.end);
	return err;
}

static int tell_arm64(const struct gap *gap, const struct cfi_sink *sink)
{
	size_t filled = filled_bytes(gap);
	AUTO_FREE bool *leaf = NULL;
	int err = leaf_arm64_find(gap->code, gap->n, &leaf);

	if (err)
		return err;
	return filled > SWITCH_MAX
		       ? leaf_arm64_tell(leaf, gap->begin, gap->end, gap->vaddr, sink)
		       : switch_arm64_tell(gap->code, filled, gap->vaddr, leaf, sink);
}

/* glibc's clone() and clone3() end what they tell of themselves at their system call, as
 * that is not true of the child, and begin anew where that goes on: 10 bytes between. */
bool unwind_switch_is_code(uint64_t begin, uint64_t end)
{
	return end - begin >= LONG_PADDING_MAX ||
	       (end % CODE_ALIGN && end - begin >= WORD_PADDING_MAX);
}

/* Of [begin, end) of a gap that begins at an offset of the file; what lies around is read
 * with it, since functions may begin before it and end behind. */
static int tell_part(struct elf_file *file, uint64_t offset, struct gap gap,
		     const struct cfi_sink *sink)
{
	struct code_pages data = { .file = file, .left = CASES_BYTES_MAX };
	AUTO_FREE uint8_t *bytes = NULL;

	gap.data = &data;
	gap.before = gap.begin > X86_FLOW_AROUND ? gap.begin - X86_FLOW_AROUND : 0;
	gap.begin -= gap.before;
	gap.end -= gap.before;
	gap.n -= gap.before;
	gap.vaddr += gap.before;
	if (gap.n - gap.end > X86_FLOW_AROUND) {
		gap.behind = gap.n - gap.end - X86_FLOW_AROUND;
		gap.n -= gap.behind;
	}
	gap.code = bytes = malloc(gap.n);
	if (!bytes)
		return fail(-ENOMEM, "no memory for %zu bytes of code", gap.n);
	if (elf_file_read(file, offset + gap.before, bytes, gap.n)) {
		error_clear();
		return 0;
	}
	return file->header.e_machine == EM_AARCH64 ? tell_arm64(&gap, sink)
						    : tell_x86(&gap, sink);
}

/* Of a section of code; 0: it is in none. */
static uint64_t rest_of_section(const struct elf_file *file, uint64_t begin)
{
	const Elf64_Shdr *sh = elf_file_code_section(file, begin);

	return sh ? sh->sh_size - (begin - sh->sh_addr) : 0;
}

/* Of [gap->begin, end) of a gap. */
static int tell_parts(struct elf_file *file, uint64_t offset, struct gap *gap, size_t end,
		      const struct cfi_sink *sink)
{
	size_t most = gap->n <= X86_FLOW_MAX ? gap->n : GAP_PART_BYTES;
	int err = 0;

	for (; !err && gap->begin < end; gap->begin = gap->end) {
		gap->end = end - gap->begin < most ? end : gap->begin + most;
		err = tell_part(file, offset, *gap, sink);
	}
	return err;
}

/* Of all of it, or, if that is too much, of V8's builtins alone, which may lie in it
 * among other code. */
static int tell_gap(struct elf_file *file, uint64_t offset, struct gap *gap,
		    struct code_budget *budget, const struct cfi_sink *sink)
{
	bool is_x86 = file->header.e_machine == EM_X86_64;
	bool is_spared = is_x86 && budget->spares_fp && gap->n >= SPARED_BYTES &&
			 fp_text_is(file, offset, gap->n);
	bool is_read = !is_spared && gap->n <= budget->bytes;
	size_t *left = is_read ? &budget->bytes : &budget->v8_bytes;
	size_t begin = 0, end = 0, n;
	int err = 0;

	if (is_x86 && gap->n >= V8_GAP_MIN)
		v8_text_find(file, offset, gap->n, &begin, &end);
	else if (is_x86 && gap->n >= SPARED_BYTES && v8_text_is(file, offset, gap->n))
		end = gap->n;
	n = is_read ? gap->n : end - begin;
	if (!is_read && !is_spared)
		budget->unread += gap->n - n;
	if (n > *left)
		return 0;
	*left -= n;
	if (is_read)
		err = tell_parts(file, offset, gap, begin, sink);
	gap->takes_args = true;
	gap->begin = begin;
	if (!err)
		err = tell_parts(file, offset, gap, end, sink);
	gap->takes_args = false;
	return err || !is_read ? err : tell_parts(file, offset, gap, gap->n, sink);
}

int unwind_switch_tell(struct elf_file *file, uint64_t begin, uint64_t end,
		       struct code_budget *budget, const struct cfi_sink *sink)
{
	struct gap gap = { .vaddr = begin, .n = end - begin };
	uint64_t offset, n;

	if ((file->header.e_machine != EM_AARCH64 &&
	     file->header.e_machine != EM_X86_64) ||
	    !unwind_switch_is_code(begin, end) || !elf_file_loads(file, begin, 1, PF_X) ||
	    !elf_file_offset(file, begin, &offset, &n))
		return 0;
	if (gap.n > n) {
		/* the segment's end: _fini() may be all that is left, or data follow */
		gap.n = n <= X86_FLOW_MAX ? n : rest_of_section(file, begin);
		gap.n = gap.n < n ? gap.n : n;
		if (gap.n < LONG_PADDING_MAX)
			return 0;
	}
	return tell_gap(file, offset, &gap, budget, sink);
}
