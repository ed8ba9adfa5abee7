// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/unwind_go_calls.h"

#include "obj/arm64_insn.h"
#include "obj/x86_insn.h"
#include "unwind/unwind_go_code.h"

#include <string.h>

#define NEWSTACK_MAX  16384 /* bytes of its code; it has some 3,000 */
#define CALL	      0xe8
#define GO_CALL_BYTES 5

static bool is_scheduler(const struct unwind_go *go, uint64_t vaddr)
{
	static const char *const names[] = { "runtime.goschedImpl", "runtime.gopreempt_m",
					     "runtime.preemptPark", "runtime.schedule" };
	struct go_function to;
	uint32_t i = go_table_find(&go->table, vaddr);

	if (i == go->table.n_functions || !go_table_function(&go->table, i, &to) ||
	    to.begin != vaddr)
		return false;
	for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
		if (go_code_is(&to, names[k]))
			return true;
	return false;
}

/* How long the instruction is, 0: it can't be read, and where it calls directly, or 0. */
static size_t x86_call(const uint8_t *code, size_t n, uint64_t vaddr, uint64_t *ret)
{
	bool calls;
	size_t one = x86_insn_bytes(code, n, &calls);
	int32_t distance;

	if (one != GO_CALL_BYTES || *code != CALL)
		return one;
	memcpy(&distance, code + 1, sizeof(distance));
	*ret = vaddr + one + (uint64_t)(int64_t)distance;
	return one;
}

static size_t arm64_call(const uint8_t *code, size_t n, uint64_t vaddr, uint64_t *ret)
{
	int64_t distance;
	uint32_t insn;

	if (n < sizeof(insn))
		return 0;
	memcpy(&insn, code, sizeof(insn));
	if (arm64_insn_calls(insn) && arm64_insn_distance(insn, &distance))
		*ret = vaddr + (uint64_t)distance;
	return sizeof(insn);
}

void go_calls_find(struct unwind_go *go, const struct go_function *function)
{
	bool is_x86 = go->file->header.e_machine == EM_X86_64;
	struct go_calls *calls = &go->calls;
	uint8_t code[NEWSTACK_MAX];
	size_t n = go_code_read(go, function->begin, function->end, code, sizeof(code));

	*calls = (struct go_calls){ 0 };
	for (size_t at = 0, one; at < n && calls->n < GO_CALLS_MAX; at += one) {
		uint64_t vaddr = function->begin + at, to = 0;

		one = (is_x86 ? x86_call : arm64_call)(code + at, n - at, vaddr, &to);
		if (!one)
			break;
		if (to && is_scheduler(go, to)) {
			calls->of[calls->n].begin = vaddr;
			calls->of[calls->n++].end = vaddr + one;
		}
	}
	go->knows_scheduler |= calls->n > 0;
}

/* Of those that begin before pc; behind each holds again what held around it. */
static int tell_until(struct unwind_go *go, uint64_t pc)
{
	static const struct unwind_rule nobody = { .cfa = UNWIND_CFA_END };
	struct go_calls *calls = &go->calls;
	int err = 0;

	for (; !err && calls->told < calls->n && calls->of[calls->told].begin < pc;
	     calls->told++) {
		uint64_t end = calls->of[calls->told].end;

		err = go->sink->row(go->sink->arg, calls->of[calls->told].begin, &nobody);
		if (!err && end < pc)
			err = go->sink->row(go->sink->arg, end, &calls->last);
	}
	return err;
}

int go_calls_tell(struct unwind_go *go, uint64_t pc, const struct unwind_rule *rule)
{
	int err = tell_until(go, pc);

	go->calls.last = *rule;
	return err ? err : go->sink->row(go->sink->arg, pc, rule);
}

int go_calls_end(struct unwind_go *go, uint64_t end)
{
	int err = tell_until(go, end);

	go->calls.n = go->calls.told = 0;
	return err;
}
