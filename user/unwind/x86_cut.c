// SPDX-License-Identifier: BSD-2-Clause
/*
 * Code cut into instructions, from its first byte on. What is none of them lies between
 * functions, where it would take the next one's first bytes for its own.
 */
#include "unwind/x86_flow_parts.h"

#include "base/vec.h"

/* More is padding, or no code; GraalVM has one each 4 bytes. */
#define INSNS_MAX (3u << 19)

static size_t next_round(const struct x86_flow *flow, size_t at)
{
	return at + X86_FLOW_ROUND - (flow->vaddr + at) % X86_FLOW_ROUND;
}

/* How much there is no code, but something else; 0: none. behind_end: what is before it,
 * but for padding, does not go on. */
static size_t data_bytes(const struct x86_flow *flow, size_t at, bool behind_end)
{
	const uint8_t *code = flow->code + at;
	size_t left = flow->n_bytes - at;
	uint64_t vaddr = flow->vaddr + at;
	size_t table = x86_tables_bytes(flow, at);
	size_t zeroes = x86_insn_zeroes(code, left, vaddr, behind_end);

	if (table)
		return table;
	if (zeroes)
		return zeroes;
	return behind_end ? x86_insn_number(code, left, vaddr) : 0;
}

/* Is it so behind this one, too? */
static bool is_behind_end(const struct x86_flow *flow, const struct flow_insn *insn,
			  bool was)
{
	bool by_register;

	if (insn->n && x86_flow_is_padding(flow, insn))
		return was;
	return !insn->n || x86_insn_leaves(flow->code + insn->at, insn->n, &by_register);
}

int x86_flow_cut(struct x86_flow *flow)
{
	bool behind_end = true;
	int err = 0;

	for (size_t at = 0; !err && at < flow->n_bytes;) {
		struct flow_insn insn = { .at = (uint32_t)at,
					  .target = X86_FLOW_NO_INSN,
					  .piece = X86_FLOW_NO_INSN };
		size_t data = data_bytes(flow, at, behind_end);
		bool calls = false;

		if (!data)
			insn.n = (uint8_t)x86_insn_bytes(flow->code + at,
							 flow->n_bytes - at, &calls);
		insn.calls = calls;
		behind_end = is_behind_end(flow, &insn, behind_end);
		at = data ? at + data : insn.n ? at + insn.n : next_round(flow, at);
		err = vec_push(&flow->insns, insn);
		if (!err)
			err = x86_tables_look(flow);
		if (flow->insns.n > INSNS_MAX) {
			flow->insns.n = 0;
			break;
		}
	}
	return err;
}
