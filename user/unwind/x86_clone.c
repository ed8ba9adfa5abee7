// SPDX-License-Identifier: BSD-2-Clause
/*
 * System calls that begin a thread on a stack of its own, as a libc's clone() makes them.
 * Two come back: who finds 0 in rax is the new one. Nobody called it, nothing is on its
 * stack but what its code takes off, and its frame pointer is still its parent's until
 * it sets that to 0, as it does at once.
 */
#include "unwind/x86_flow_parts.h"

#include <string.h>

#define CLONE	    56 /* <asm/unistd_64.h> */
#define CLONE3	    435
#define NUMBER_BACK 16 /* instructions, from the call to what says its number */
#define BOTTOM_MAX  32 /* instructions that a thread begins and ends with */
#define AX	    0

static const uint8_t insn_syscall[] = { 0x0f, 0x05 };
static const uint8_t insn_end_fp[] = { 0x31, 0xed }; /* xor %ebp, %ebp */

static bool is_insn(const struct x86_flow *flow, const struct flow_insn *insn,
		    const void *bytes, size_t n)
{
	return insn->n == n && !memcmp(flow->code + insn->at, bytes, n);
}

/* Of a word into eax, or of its lowest byte, where the rest was made 0 before. */
static bool sets_number(const struct x86_flow *flow, const struct flow_insn *insn)
{
	const uint8_t *code = flow->code + insn->at;
	uint32_t number = 0;

	if (insn->n == 5 && code[0] == 0xb8)
		memcpy(&number, code + 1, sizeof(number));
	else if (insn->n == 2 && code[0] == 0xb0)
		number = code[1];
	return number == CLONE || number == CLONE3;
}

/* Is that what the system call is? glibc's file tells of the code up to it and of what
 * the new thread goes on with, so it is the first here and the number is not. */
static bool is_clone(const struct x86_flow *flow, uint32_t syscall)
{
	const struct flow_insn *insns = flow->insns.items;

	if (!syscall)
		return !flow->before;
	for (uint32_t i = 1; i <= NUMBER_BACK && i <= syscall; i++) {
		const struct flow_insn *insn = &insns[syscall - i];

		if (!insn->n || insn->calls)
			return false;
		if (x86_effect(flow->code + insn->at, insn->n).writes & 1u << AX)
			return sets_number(flow, insn);
	}
	return false;
}

/* test %eax, %eax; or of all of rax */
static bool asks_ax(const struct x86_flow *flow, const struct flow_insn *insn)
{
	return is_insn(flow, insn, "\x85\xc0", 2) ||
	       is_insn(flow, insn, "\x48\x85\xc0", 3);
}

/* Does a new thread go on with that instruction? Beyond the code at hand: if its file
 * tells of that. */
static bool begins_thread(const struct x86_flow *flow, uint32_t number)
{
	return number < flow->insns.n
		       ? is_insn(flow, &flow->insns.items[number], insn_end_fp,
				 sizeof(insn_end_fp))
		       : number == X86_FLOW_OUTSIDE && !flow->before && !flow->behind;
}

/* Up to where it ends itself. */
static void mark_bottom(struct x86_flow *flow, uint32_t number)
{
	struct flow_insn *insns = flow->insns.items;
	bool by_register;

	for (uint32_t i = number; i < flow->insns.n && i - number < BOTTOM_MAX; i++) {
		if (!insns[i].n)
			return;
		insns[i].is_bottom = true;
		if (x86_insn_leaves(flow->code + insns[i].at, insns[i].n, &by_register))
			return;
	}
}

/* Behind the question: the jump that tells the two apart, for which only negative numbers
 * may have gone elsewhere. */
static void mark(struct x86_flow *flow, uint32_t syscall)
{
	struct flow_insn *insns = flow->insns.items;
	uint32_t jump = syscall + 2, begins;
	int condition = x86_insn_condition(flow->code + insns[jump].at, insns[jump].n);

	if ((condition == X86_IF_NEGATIVE || condition == X86_IF_LESS) &&
	    jump + 1 < flow->insns.n) {
		jump++;
		condition =
			x86_insn_condition(flow->code + insns[jump].at, insns[jump].n);
	}
	begins = condition == X86_IF_EQUAL ? insns[jump].target : jump + 1;
	if ((condition != X86_IF_EQUAL && condition != X86_IF_NOT_EQUAL) ||
	    !begins_thread(flow, begins))
		return;
	insns[jump].begins_thread =
		condition == X86_IF_EQUAL ? X86_WHERE_IT_JUMPS : X86_WHERE_IT_GOES_ON;
	for (uint32_t i = syscall; i <= jump; i++)
		insns[i].clones = true;
	mark_bottom(flow, begins);
}

void x86_clones_mark(struct x86_flow *flow)
{
	const struct flow_insn *insns = flow->insns.items;

	for (uint32_t i = 0; i + 2 < flow->insns.n; i++)
		if (is_insn(flow, &insns[i], insn_syscall, sizeof(insn_syscall)) &&
		    asks_ax(flow, &insns[i + 1]) && is_clone(flow, i))
			mark(flow, i);
}
