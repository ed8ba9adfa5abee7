// SPDX-License-Identifier: BSD-2-Clause
/*
 * Jumps through tables, which lie among the code (GraalVM's) or elsewhere in its file:
 * where they lead. A table is what compilers make of a switch,
 *
 *	cmp $5, %ecx; ja other; lea table(%rip), %rbp; movslq (%rbp,%rcx,4), %rcx;
 *	add %rcx, %rbp; jmp *%rbp
 *
 * in this order or with other instructions in between: distances of 32 bits from the
 * table's beginning. Or, in programs that are linked to one place, addresses:
 *
 *	cmp $5, %eax; ja other; jmp *table(,%rax,8)
 *
 * Or, GraalVM's, words of what a case is asked for and, above, its distance:
 *
 *	and $7, %ecx; lea table(%rip), %rdx; mov (%rdx,%rcx,8), %rbx; cmp %esi, %ebx;
 *	jne other; sar $32, %rbx; add %rbx, %rdx; jmp *%rdx
 *
 * Without a bound, or with one place that is no instruction, it is none.
 */
#include "unwind/x86_flow_parts.h"

#include "base/search.h"
#include "base/vec.h"

#include <string.h>

#define BACK	    16	 /* instructions, from the jump to where its bound is asked */
#define PENDING	    8	 /* tables that lie ahead, as their functions end with them */
#define CASES_MAX   4096 /* of a table */
#define SCALE_OF_4  2
#define SCALE_OF_8  3
#define NO_INDEX    4
#define NO_REGISTER 16
#define INDIRECT    0xff /* jmp, with 4 as ModRM's register */

enum {
	REG_BYTES = 2,	    /* of such a jump to a register, */
	TABLE_BYTES = 7,    /* and of one by a table */
	DISTANCE_BYTES = 4, /* of a case: from its table's beginning, */
	WORD_BYTES = 8,	    /* or that in a word, or its address as linked */
	CODE_EACH_CASE = 4, /* bytes of all code, for all cases */
};

/* An instruction with a ModRM: REX, its opcode (of 0f's map: + 0x100), and what it
 * names. */
struct form {
	unsigned int rex, opcode;
	bool is_wide;
	unsigned int mod, reg, rm;
	unsigned int base, index, scale; /* where it has a SIB, else NO_REGISTER */
	const uint8_t *rest;		 /* displacement and immediate */
};

/* An instruction's bytes, with zeroes behind them. */
struct padded {
	uint8_t bytes[X86_INSN_MAX + 9];
};

static struct padded pad(const struct x86_flow *flow, const struct flow_insn *insn)
{
	struct padded ret = { 0 };

	memcpy(ret.bytes, flow->code + insn->at, insn->n);
	return ret;
}

static struct form form_of(const uint8_t *code)
{
	struct form form = { .base = NO_REGISTER, .index = NO_REGISTER };
	size_t at = code[0] == 0x3e; /* notrack */

	if ((code[at] & 0xf0) == 0x40)
		form.rex = code[at++];
	form.is_wide = form.rex & 8;
	if (code[at] == 0x0f)
		form.opcode = 0x100u | code[++at];
	else
		form.opcode = code[at];
	form.mod = code[++at] >> 6;
	form.reg = (code[at] >> 3 & 7u) | (form.rex & 4 ? 8 : 0);
	form.rm = (code[at] & 7u) | (form.rex & 1 ? 8 : 0);
	if (form.mod != 3 && (form.rm & 7) == 4) {
		form.base = (code[++at] & 7u) | (form.rex & 1 ? 8 : 0);
		form.index = (code[at] >> 3 & 7u) | (form.rex & 2 ? 8 : 0);
		form.scale = code[at] >> 6;
	}
	form.rest = code + at + 1;
	return form;
}

/* What is known so far, going back from the jump. */
struct trace {
	unsigned int jumps_to; /* the register with the sum, */
	unsigned int sum[2];   /* of these two, */
	unsigned int word;     /* of which one was a word's upper half; or NO_REGISTER */
	bool is_sum, is_loaded;
	unsigned int base, index; /* of what was loaded */
	bool has_table, has_addresses, has_bound;
	uint64_t table;
	uint32_t n; /* cases */
};

/* reg += other */
static bool find_sum(struct trace *trace, const struct form *form)
{
	if (form->mod != 3 || !form->is_wide ||
	    (form->opcode != 0x01 && form->opcode != 0x03) ||
	    (form->opcode == 0x01 ? form->rm : form->reg) != trace->jumps_to)
		return false;
	trace->sum[0] = form->reg;
	trace->sum[1] = form->rm;
	return trace->is_sum = form->reg != form->rm;
}

/* sar $32, reg */
static bool find_half(struct trace *trace, const struct form *form)
{
	if (trace->word != NO_REGISTER || form->mod != 3 || !form->is_wide ||
	    form->opcode != 0xc1 || (form->reg & 7) != 7 || form->rest[0] != 32 ||
	    (form->rm != trace->sum[0] && form->rm != trace->sum[1]))
		return false;
	trace->word = form->rm;
	return true;
}

/* movslq (base,index,4), reg; or mov (base,index,8), reg of a word */
static bool find_load(struct trace *trace, const struct form *form)
{
	unsigned int other = form->reg == trace->sum[0] ? trace->sum[1] : trace->sum[0];
	bool is_far = form->mod == 1 && form->rest[0];
	bool is_word = trace->word != NO_REGISTER;

	if (form->opcode != (is_word ? 0x8b : 0x63) || !form->is_wide || form->mod > 1 ||
	    is_far || form->scale != (is_word ? SCALE_OF_8 : SCALE_OF_4) ||
	    (is_word && form->reg != trace->word) || form->index == NO_INDEX ||
	    form->base != other || (form->mod == 0 && (form->base & 7) == 5) ||
	    (form->reg != trace->sum[0] && form->reg != trace->sum[1]))
		return false;
	trace->base = form->base;
	trace->index = form->index;
	return trace->is_loaded = true;
}

/* lea table(%rip), base */
static bool find_table(const struct x86_flow *flow, struct trace *trace,
		       const struct flow_insn *insn, const struct form *form)
{
	if (form->opcode == 0x8d && form->is_wide && form->reg == trace->base)
		trace->has_table = x86_insn_takes_address(
			flow->code + insn->at, insn->n, flow->vaddr + insn->at + insn->n,
			&trace->table);
	return trace->has_table;
}

/* mov or movzx of another register, whose upper half is 0 then */
static bool find_copy(struct trace *trace, const struct form *form)
{
	bool to_reg =
		form->opcode == 0x8b || form->opcode == 0x1b6 || form->opcode == 0x1b7;

	if (form->mod != 3 || (!to_reg && form->opcode != 0x89) ||
	    (to_reg ? form->reg : form->rm) != trace->index)
		return false;
	trace->index = to_reg ? form->rm : form->reg;
	return true;
}

/* cmp $most, index */
static bool find_most(const struct trace *trace, const uint8_t *code, uint64_t *ret)
{
	struct form form = form_of(code);
	uint32_t wide;

	if (code[0] == 0x3d && trace->index == 0) {
		memcpy(&wide, code + 1, sizeof(wide));
		*ret = wide;
		return true;
	}
	if (code[0] == 0x3c && trace->index == 0) {
		*ret = code[1];
		return true;
	}
	if (form.mod != 3 || (form.reg & 7) != 7 || form.rm != trace->index ||
	    (form.opcode != 0x80 && form.opcode != 0x81 && form.opcode != 0x83) ||
	    (form.opcode == 0x80 && !form.rex && form.rm >= 4)) /* ah and others */
		return false;
	memcpy(&wide, form.rest, sizeof(wide));
	*ret = form.opcode == 0x81 ? wide : form.rest[0];
	return form.opcode != 0x83 || form.rest[0] < 0x80;
}

/* cmp $most, index; ja or jae: of a jump's condition and what stands before it */
static void find_bound(struct trace *trace, int condition, const uint8_t *before)
{
	enum { AT_LEAST = 3, ABOVE = 7 };
	uint64_t most;

	if ((condition != ABOVE && condition != AT_LEAST) ||
	    !find_most(trace, before, &most) || most >= CASES_MAX)
		return;
	trace->n = (uint32_t)most + (condition == ABOVE);
	trace->has_bound = trace->n > 0;
}

/* and $most, index */
static bool find_mask(struct trace *trace, const struct form *form)
{
	uint32_t most;

	if (trace->word == NO_REGISTER || form->mod != 3 || (form->reg & 7) != 4 ||
	    form->rm != trace->index || (form->opcode != 0x81 && form->opcode != 0x83))
		return false;
	memcpy(&most, form->rest, sizeof(most));
	most = form->opcode == 0x81 ? most : (uint32_t)(int8_t)form->rest[0];
	if (most >= CASES_MAX)
		return false;
	trace->n = most + 1;
	return trace->has_bound = true;
}

/* One instruction further back; false: there is no table, or it can't be told. */
static bool trace_back(struct x86_flow *flow, struct trace *trace, size_t number)
{
	const struct flow_insn *insn = &flow->insns.items[number];
	struct padded code, before;
	struct form form;
	struct x86_effect is;

	if (!insn->n || insn->calls)
		return false;
	code = pad(flow, insn);
	form = form_of(code.bytes);
	is = x86_effect(flow->code + insn->at, insn->n);
	if (is.leaves)
		return false;
	if (!trace->is_sum)
		return find_sum(trace, &form) || !(is.writes >> trace->jumps_to & 1);
	if (!trace->is_loaded)
		return find_half(trace, &form) || find_load(trace, &form) ||
		       !(is.writes & (1u << trace->sum[0] | 1u << trace->sum[1]));
	if (is.jumps && !trace->has_bound && number) {
		before = pad(flow, insn - 1);
		find_bound(trace, x86_insn_condition(code.bytes, insn->n), before.bytes);
		return true;
	}
	if (!trace->has_table && find_table(flow, trace, insn, &form))
		return true;
	if (!trace->has_table && is.writes >> trace->base & 1)
		return false;
	return trace->has_bound || find_copy(trace, &form) || find_mask(trace, &form) ||
	       !(is.writes >> trace->index & 1);
}

static uint32_t case_bytes(const struct trace *trace)
{
	return trace->has_addresses || trace->word != NO_REGISTER ? WORD_BYTES
								  : DISTANCE_BYTES;
}

/* A case's place from the code's beginning, as the table says; false: unreadable. */
static bool read_case(const struct x86_flow *flow, const struct trace *trace, uint32_t i,
		      int64_t *ret)
{
	size_t n = case_bytes(trace);
	uint64_t vaddr = trace->table + (uint64_t)i * n, address;
	uint8_t bytes[WORD_BYTES] = { 0 };
	int32_t distance;

	if (vaddr - flow->vaddr < flow->n_bytes &&
	    n <= flow->n_bytes - (vaddr - flow->vaddr))
		memcpy(bytes, flow->code + (vaddr - flow->vaddr), n);
	else if (!flow->data || code_pages_read(flow->data, vaddr, bytes, n) != n)
		return false;
	memcpy(&address, bytes, sizeof(address));
	memcpy(&distance, bytes + n - DISTANCE_BYTES, sizeof(distance));
	if (!trace->has_addresses)
		address = trace->table + (uint64_t)(int64_t)distance;
	*ret = (int64_t)(address - flow->vaddr);
	return true;
}

/* Where the cases are; none: one does not lie in the code at hand, near the jump. */
static int take_cases(struct x86_flow *flow, const struct trace *trace,
		      struct x86_table *table)
{
	int64_t to;
	int err = 0;

	table->first = (uint32_t)flow->cases.n;
	for (uint32_t i = 0; !err && i < trace->n; i++) {
		if (!read_case(flow, trace, i, &to) || to < 0 ||
		    to >= (int64_t)flow->n_bytes ||
		    to - table->jump > (int64_t)X86_FLOW_AROUND ||
		    table->jump - to > (int64_t)X86_FLOW_AROUND) {
			flow->cases.n = table->first;
			return 0;
		}
		err = vec_push(&flow->cases, (uint32_t)to);
	}
	table->n = trace->n;
	return err;
}

/* Where it lies, if that is among the code. */
static void place(const struct x86_flow *flow, const struct trace *trace,
		  struct x86_table *table)
{
	uint64_t at = trace->table - flow->vaddr;

	if (at >= flow->n_bytes)
		return;
	table->at = (uint32_t)at;
	table->bytes = table->n * case_bytes(trace);
}

/* jmp *%reg, or jmp *table(,index,8) */
static bool begin_trace(const struct x86_flow *flow, const struct flow_insn *insn,
			struct trace *ret)
{
	const uint8_t *end = flow->code + insn->at + insn->n;
	struct padded code;
	struct form form;
	int32_t table;

	if ((insn->n < REG_BYTES || end[-REG_BYTES] != INDIRECT) &&
	    (insn->n < TABLE_BYTES || end[-TABLE_BYTES] != INDIRECT))
		return false;
	code = pad(flow, insn);
	form = form_of(code.bytes);
	if (form.opcode != INDIRECT || (form.reg & 7) != 4)
		return false;
	*ret = (struct trace){ .jumps_to = form.rm, .word = NO_REGISTER };
	if (form.mod == 3)
		return true;
	if (form.mod || form.scale != SCALE_OF_8 || (form.base & 7) != 5 ||
	    form.index == NO_INDEX)
		return false;
	memcpy(&table, form.rest, sizeof(table));
	*ret = (struct trace){ .is_sum = true,
			       .is_loaded = true,
			       .has_table = true,
			       .has_addresses = true,
			       .word = NO_REGISTER,
			       .base = NO_REGISTER,
			       .index = form.index,
			       .table = (uint64_t)(int64_t)table };
	return true;
}

int x86_tables_look(struct x86_flow *flow)
{
	const struct flow_insn *insns = flow->insns.items;
	size_t jump = flow->insns.n - 1;
	struct x86_table table = { .jump = insns[jump].at };
	struct trace trace;
	int err;

	if (!begin_trace(flow, &insns[jump], &trace))
		return 0;
	for (size_t i = 1; i <= BACK && i <= jump; i++)
		if (!trace_back(flow, &trace, jump - i) ||
		    (trace.has_table && trace.has_bound))
			break;
	if (!trace.has_table || !trace.has_bound ||
	    trace.n > flow->n_bytes / CODE_EACH_CASE - flow->cases.n)
		return 0;
	err = take_cases(flow, &trace, &table);
	if (err || !table.n)
		return err;
	place(flow, &trace, &table);
	return vec_push(&flow->tables, table);
}

size_t x86_tables_bytes(const struct x86_flow *flow, size_t at)
{
	size_t n = flow->tables.n;

	for (size_t i = 1; i <= PENDING && i <= n; i++) {
		const struct x86_table *table = &flow->tables.items[n - i];

		if (table->bytes && table->at == at)
			return table->bytes;
	}
	return 0;
}

const struct x86_table *x86_tables_find(const struct x86_flow *flow,
					const struct flow_insn *jump)
{
	const struct x86_table *tables = flow->tables.items;
	size_t i = LOWER_BOUND(flow->tables.n, k, tables[k].jump < jump->at);

	return i < flow->tables.n && tables[i].jump == jump->at && tables[i].n
		       ? &tables[i]
		       : NULL;
}
