// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/unwind_throw.h"

#include "base/error.h"
#include "obj/x86_insn.h"

#include <string.h>

/* Where gcc keeps the distance to the other frame, by DWARF's number. */
#define X86_RCX 2

/* Before the jump a function of libgcc calls who writes over its frame, and then
 * an empty one at which debuggers stop. */
#define LAST_CALLS 2

/* What precedes the jump, by one rule: libgcc's have 422 bytes at most. */
#define CODE_MAX 4096

/* The frame is another's from here on, and it was an ordinary one so far. */
static bool leaves_by_another(const struct unwind_throw *thrower,
			      const struct unwind_rule *rule)
{
	const struct unwind_rule *last = &thrower->rule;

	return thrower->file->header.e_machine == EM_X86_64 && thrower->any &&
	       rule->cfa == UNWIND_CFA_REG && rule->reg == X86_RCX &&
	       last->cfa == UNWIND_CFA_FP && last->cfa_offset == 16;
}

/* The LAST_CALLSth call before the end; 0: there is none, or it can't be read. */
static uint64_t find_call(struct elf_file *file, uint64_t begin, uint64_t end)
{
	uint64_t calls[LAST_CALLS] = { 0 }, offset, left;
	uint8_t code[CODE_MAX];
	size_t n = end - begin;

	if (n > sizeof(code) || !elf_file_offset(file, begin, &offset, &left) ||
	    left < n || elf_file_read(file, offset, code, n))
		return 0;
	for (size_t at = 0, one; at < n; at += one) {
		bool is_call;

		one = x86_insn_bytes(code + at, n - at, &is_call);
		if (!one)
			return 0;
		if (!is_call)
			continue;
		memmove(calls, calls + 1, sizeof(calls) - sizeof(*calls));
		calls[LAST_CALLS - 1] = begin + at;
	}
	return calls[0];
}

int unwind_throw_row(void *arg, uint64_t pc, const struct unwind_rule *rule)
{
	static const struct unwind_rule torn = { .cfa = UNWIND_CFA_TORN };
	struct unwind_throw *thrower = arg;
	const struct cfi_sink *sink = thrower->sink;
	uint64_t from = 0;
	int err = 0;

	/* the jump itself: where it leads is no return address, and the frame pointer
	 * is the other's already */
	if (thrower->leaves && rule->ra == UNWIND_RA_REG)
		rule = &torn;
	thrower->leaves = thrower->leaves && rule->cfa == UNWIND_CFA_SP;
	if (leaves_by_another(thrower, rule)) {
		thrower->leaves = true;
		from = find_call(thrower->file, thrower->pc, pc);
		error_clear(); /* what can't be read stays as the file has it */
	}
	/* a return address lies behind the call, and is looked up in it */
	if (thrower->any)
		err = sink->row(sink->arg, thrower->pc, &thrower->rule);
	if (!err && from)
		err = sink->row(sink->arg, from, &torn);
	thrower->any = true;
	thrower->pc = pc;
	thrower->rule = *rule;
	return err;
}

int unwind_throw_end(struct unwind_throw *thrower)
{
	const struct cfi_sink *sink = thrower->sink;

	return thrower->any ? sink->row(sink->arg, thrower->pc, &thrower->rule) : 0;
}
