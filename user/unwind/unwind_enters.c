// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/unwind_enters.h"

#include "base/error.h"
#include "obj/x86_insn.h"
#include "unwind/x86_stack.h"

/* Of either part that are looked at: it has 37 and 53. */
#define PART_BYTES_MAX 128

static bool enters(const struct unwind_rule *rule)
{
	return rule->cfa == UNWIND_CFA_SP && rule->reg == UNWIND_ENTERS;
}

/* The rows behind the first one, which are by the code: where it has moved the stack
 * pointer the frame ends as far from there as before. */
static int follow(const struct unwind_enters *is, const uint8_t *code, size_t n)
{
	const struct cfi_sink *sink = is->sink;
	struct unwind_rule rule = is->rule;
	int err = 0;

	rule.reg = 0;
	for (size_t at = 0, one; at < n && !err; at += one) {
		struct x86_effect effect;
		bool is_call;

		one = x86_insn_bytes(code + at, n - at, &is_call);
		if (!one)
			break;
		effect = x86_effect(code + at, one);
		if (effect.returns || effect.sp != X86_SP_MOVED)
			break;
		if (!effect.pushed || at + one == n)
			continue;
		if (__builtin_add_overflow(rule.cfa_offset, effect.pushed,
					   &rule.cfa_offset))
			break; /* garbage */
		err = sink->row(sink->arg, is->pc + at + one, &rule);
	}
	return err;
}

static int give_last(const struct unwind_enters *is, uint64_t end, bool enters_then)
{
	const struct cfi_sink *sink = is->sink;
	uint64_t offset, left, n = end - is->pc;
	uint8_t code[PART_BYTES_MAX];
	int err = sink->row(sink->arg, is->pc, &is->rule);

	if (err || !(enters_then || enters(&is->rule)) ||
	    !elf_file_offset(is->file, is->pc, &offset, &left))
		return err;
	n = n < left ? n : left;
	n = n < sizeof(code) ? n : sizeof(code);
	if (elf_file_read(is->file, offset, code, n)) {
		error_clear(); /* what can't be read stays as the file has it */
		return 0;
	}
	return follow(is, code, n);
}

int unwind_enters_row(void *arg, uint64_t pc, const struct unwind_rule *rule)
{
	struct unwind_enters *is = arg;
	int err = is->any ? give_last(is, pc, enters(rule)) : 0;

	is->any = true;
	is->pc = pc;
	is->rule = *rule;
	return err;
}

int unwind_enters_end(struct unwind_enters *is)
{
	return is->any ? give_last(is, UINT64_MAX, false) : 0;
}
