// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/unwind_kept.h"

#include "obj/x86_insn.h"
#include "unwind/x86_frame.h"
#include "unwind/x86_helper.h"
#include "unwind/x86_stack.h"

/* What a rule holds for. */
#define SPAN_MAX 16384u

/* Of a file's code; libcrypto needs 60 KB. */
#define BUDGET_BYTES (1u << 20)

/* Is it one that a call may change, by DWARF's number? *ret: by the code's own. */
static bool is_scratch(unsigned char dwarf, int *ret)
{
	for (*ret = 0; X86_LOST_IN_A_CALL >> *ret; ++*ret)
		if (X86_LOST_IN_A_CALL >> *ret & 1 && x86_dwarf_number(*ret) == dwarf)
			return true;
	return false;
}

static bool leaves_alone(struct unwind_kept *kept, uint64_t vaddr, int reg)
{
	uint8_t code[X86_HELPER_MAX];
	size_t n = code_pages_read(&kept->code, vaddr, code, sizeof(code));

	return x86_helper_leaves_alone(code, n, reg, &n);
}

/* A row of its own for a call in the last one's span, and that one goes on behind it. */
static int give_call(struct unwind_kept *kept, uint64_t call, uint64_t next, uint64_t end)
{
	const struct cfi_sink *sink = kept->sink;
	struct unwind_rule rule = kept->rule;
	int err;

	rule.reg |= UNWIND_KEPT;
	err = sink->row(sink->arg, call, &rule);
	return err || next >= end ? err : sink->row(sink->arg, next, &kept->rule);
}

static int give_calls(struct unwind_kept *kept, uint64_t end, int reg)
{
	uint8_t code[SPAN_MAX];
	size_t n = code_pages_read(&kept->code, kept->pc, code, end - kept->pc), one;
	int err = 0;

	for (size_t at = 0; !err && at < n; at += one) {
		uint64_t next;
		int64_t distance;
		bool calls;

		one = x86_insn_bytes(code + at, n - at, &calls);
		if (!one)
			break;
		next = kept->pc + at + one;
		if (calls && x86_insn_distance(code + at, one, &distance) &&
		    leaves_alone(kept, next + (uint64_t)distance, reg))
			err = give_call(kept, kept->pc + at, next, end);
	}
	return err;
}

/* The last row, of what lies before `end`. */
static int give_last(struct unwind_kept *kept, uint64_t end)
{
	const struct cfi_sink *sink = kept->sink;
	int err = sink->row(sink->arg, kept->pc, &kept->rule);
	int reg;

	if (err || kept->rule.cfa != UNWIND_CFA_REG ||
	    !is_scratch(kept->rule.reg, &reg) || end - kept->pc > SPAN_MAX ||
	    kept->code.file->header.e_machine != EM_X86_64)
		return err;
	return give_calls(kept, end, reg);
}

void unwind_kept_open(struct unwind_kept *kept, struct elf_file *file,
		      const struct cfi_sink *sink)
{
	*kept = (struct unwind_kept){ .sink = sink,
				      .code = { .file = file, .left = BUDGET_BYTES } };
}

int unwind_kept_row(void *arg, uint64_t pc, const struct unwind_rule *rule)
{
	struct unwind_kept *kept = arg;
	int err = 0;

	if (kept->any)
		err = give_last(kept, pc);
	kept->any = true;
	kept->pc = pc;
	kept->rule = *rule;
	return err;
}

int unwind_kept_end(struct unwind_kept *kept)
{
	return kept->any ? give_last(kept, kept->pc) : 0;
}
