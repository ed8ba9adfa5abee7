// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/leaf_arm64.h"

#include "base/error.h"
#include "obj/arm64_insn.h"
#include "unwind/arm64_stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAF_PASSES_MAX 16 /* back over the code; branches back need more than one */
#define INSN_RET	0xd65f03c0
#define INSN_RET_SIGNED 0xd65f0bff /* retaa, and with bit 10 retab */
#define INSN_SVC	0xd4000001
#define INSN_SIGRETURN	0xd2801168 /* mov x8, #139: the call's number */
#define BRK_MASK	0xffe0001f
#define INSN_BRK	0xd4200000

static uint32_t insn_at(const uint8_t *code, size_t i)
{
	uint32_t insn;

	memcpy(&insn, code + i * ARM64_INSN_BYTES, sizeof(insn));
	return insn;
}

static bool is_return(uint32_t insn)
{
	return insn == INSN_RET || (insn | 1u << 10) == (INSN_RET_SIGNED | 1u << 10);
}

/* It leaves these registers alone, and calls nobody. */
static bool keeps_frame(const struct arm64_effect *is)
{
	return is->sp == ARM64_SP_MOVED && !is->pushed && !is->calls &&
	       !(is->sets & (1u << ARM64_FP | 1u << ARM64_LR));
}

/* The kernel comes back from it to somewhere else. */
static bool is_sigreturn(const uint8_t *code, size_t i)
{
	return i && insn_at(code, i) == INSN_SVC &&
	       insn_at(code, i - 1) == INSN_SIGRETURN;
}

/* As far as is known of what follows. */
static bool leads_to_return(const uint8_t *code, size_t n, size_t i, const bool *leaf)
{
	uint32_t insn = insn_at(code, i);
	struct arm64_effect is = arm64_effect(insn);
	int64_t distance, to;

	if (is_return(insn) || (insn & BRK_MASK) == INSN_BRK)
		return true;
	if (!keeps_frame(&is) || is_sigreturn(code, i))
		return false;
	if (is.jumps) {
		arm64_insn_distance(insn, &distance);
		to = (int64_t)i + distance / ARM64_INSN_BYTES;
		if (to < 0 || (uint64_t)to >= n || !leaf[to])
			return false;
	}
	return is.leaves ? is.jumps : i + 1 < n && leaf[i + 1];
}

/* Behind what took sp from elsewhere, the way back is another stack's. */
static void leave_out_switches(const uint8_t *code, size_t n, bool *leaf)
{
	bool has_switched = false;

	for (size_t i = 0; i < n; i++) {
		struct arm64_effect is = arm64_effect(insn_at(code, i));

		leaf[i] &= !has_switched;
		has_switched |= is.sp == ARM64_SP_TAKEN;
		has_switched &= !is.leaves;
	}
}

int leaf_arm64_find(const uint8_t *code, size_t n, bool **ret)
{
	bool changes = true, *leaf;

	n /= ARM64_INSN_BYTES;
	*ret = NULL;
	if (!n)
		return 0;
	leaf = malloc(n);
	if (!leaf)
		return fail(-ENOMEM, "no memory for %zu instructions", n);
	memset(leaf, true, n);
	for (int pass = 0; changes && pass < LEAF_PASSES_MAX; pass++) {
		changes = false;
		for (size_t i = n; i-- > 0;) {
			if (!leaf[i] || leads_to_return(code, n, i, leaf))
				continue;
			leaf[i] = false;
			changes = true;
		}
	}
	if (changes) { /* made so by an enemy */
		free(leaf);
		return 0;
	}
	leave_out_switches(code, n, leaf);
	*ret = leaf;
	return 0;
}

int leaf_arm64_tell(const bool *leaf, size_t begin, size_t end, uint64_t vaddr,
		    const struct cfi_sink *sink)
{
	static const struct unwind_rule by_lr = { .cfa = UNWIND_CFA_SP,
						  .ra = UNWIND_RA_LR },
					none;
	bool was = false;
	int err = 0;

	for (size_t at = begin; leaf && !err && at + ARM64_INSN_BYTES <= end;
	     at += ARM64_INSN_BYTES) {
		bool is = leaf[at / ARM64_INSN_BYTES];

		if (is != was)
			err = sink->row(sink->arg, vaddr + at, is ? &by_lr : &none);
		was = is;
	}
	return err || !was ? err : sink->row(sink->arg, vaddr + end, &none);
}
