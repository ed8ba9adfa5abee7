// SPDX-License-Identifier: BSD-2-Clause
/*
 * DWARF expressions, as far as compilers, linkers and C libraries use them in
 * call frame information: sums of a register and numbers, what memory holds
 * there, and a PLT's step. Anything else comes to CFI_TERM_NONE.
 */
#include "unwind/cfi_parts.h"

#define STACK_MAX      8
#define EXPR_BYTES_MAX 64 /* the longest that says something has 14 */

enum {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08, /* and seven more, to CONSTS */
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_AND = 0x1a,
	OP_MINUS = 0x1c,
	OP_MUL = 0x1e,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_GE = 0x2a,
	OP_LIT0 = 0x30,
	OP_REG0 = 0x50,
	OP_BREG0 = 0x70,
	OP_BREGX = 0x92,
	OP_NOP = 0x96,
};

struct stack {
	const struct cfi_machine *machine;
	struct cfi_term terms[STACK_MAX];
	size_t n;
};

static const struct cfi_term nothing = { .kind = CFI_TERM_NONE };

static int64_t sum(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static bool push(struct stack *stack, struct cfi_term term)
{
	if (stack->n == STACK_MAX)
		return false;
	stack->terms[stack->n++] = term;
	return true;
}

static struct cfi_term number(int64_t n)
{
	return (struct cfi_term){ .kind = CFI_TERM_NUMBER, .offset = n };
}

static bool push_register(struct stack *stack, uint64_t reg, int64_t offset)
{
	return push(stack, (struct cfi_term){
				   .kind = CFI_TERM_REG, .reg = reg, .offset = offset });
}

static struct cfi_term added(const struct stack *stack, struct cfi_term a,
			     struct cfi_term b)
{
	if (a.kind == CFI_TERM_NUMBER || a.kind == CFI_TERM_STEP ||
	    a.kind == CFI_TERM_SCALED) {
		struct cfi_term swap = a;

		a = b;
		b = swap;
	}
	if (b.kind == CFI_TERM_NUMBER &&
	    (a.kind == CFI_TERM_NUMBER || a.kind == CFI_TERM_CFA ||
	     a.kind == CFI_TERM_REG || a.kind == CFI_TERM_DEREF ||
	     a.kind == CFI_TERM_DEREF_TWICE || a.kind == CFI_TERM_SLOT ||
	     a.kind == CFI_TERM_INDEXED || a.kind == CFI_TERM_PLT)) {
		a.offset = sum(a.offset, b.offset);
		return a;
	}
	if (a.kind == CFI_TERM_REG && a.reg == stack->machine->sp &&
	    b.kind == CFI_TERM_STEP && b.offset == 3) {
		a.kind = CFI_TERM_PLT;
		a.reg = b.reg;
		return a;
	}
	if (a.kind == CFI_TERM_REG && a.reg == stack->machine->sp &&
	    b.kind == CFI_TERM_SCALED) {
		a.kind = CFI_TERM_SLOT;
		a.reg = b.reg;
		return a;
	}
	return nothing;
}

/* The number of a slot on the stack, as bytes. */
static struct cfi_term scaled(const struct stack *stack, struct cfi_term a,
			      struct cfi_term b)
{
	const struct cfi_machine *machine = stack->machine;

	if (a.kind != CFI_TERM_REG || a.offset || a.reg == machine->sp ||
	    a.reg == machine->fp || a.reg == machine->ip || b.kind != CFI_TERM_NUMBER ||
	    b.offset != 8)
		return nothing;
	return (struct cfi_term){ .kind = CFI_TERM_SCALED, .reg = a.reg };
}

static struct cfi_term combined(const struct stack *stack, uint8_t op, struct cfi_term a,
				struct cfi_term b)
{
	bool by_number = b.kind == CFI_TERM_NUMBER;

	switch (op) {
	case OP_PLUS:
		return added(stack, a, b);
	case OP_MINUS:
		return by_number && b.offset != INT64_MIN
			       ? added(stack, a, number(-b.offset))
			       : nothing;
	case OP_MUL:
		return scaled(stack, a, b);
	case OP_AND:
		if (by_number && b.offset == 15 && a.kind == CFI_TERM_REG &&
		    a.reg == stack->machine->ip && !a.offset)
			return (struct cfi_term){ .kind = CFI_TERM_LOW_IP };
		return nothing;
	case OP_GE:
		if (by_number && a.kind == CFI_TERM_LOW_IP && b.offset >= 0 &&
		    b.offset < 16)
			return (struct cfi_term){ .kind = CFI_TERM_STEP,
						  .reg = (uint64_t)b.offset };
		return nothing;
	case OP_SHL:
		if (by_number && a.kind == CFI_TERM_STEP && b.offset >= 0 &&
		    b.offset < 64) {
			a.offset = sum(a.offset, b.offset);
			return a;
		}
		return nothing;
	}
	return nothing;
}

static bool deref(struct stack *stack)
{
	struct cfi_term *top = stack->n ? &stack->terms[stack->n - 1] : NULL;

	if (top && top->kind == CFI_TERM_DEREF && !top->offset) {
		top->kind = CFI_TERM_DEREF_TWICE;
		return true;
	}
	if (!top || (top->kind != CFI_TERM_REG && top->kind != CFI_TERM_SLOT))
		return false;
	top->kind = top->kind == CFI_TERM_REG ? CFI_TERM_DEREF : CFI_TERM_INDEXED;
	top->deref = top->offset;
	top->offset = 0;
	return true;
}

static bool push_constant(struct stack *stack, uint8_t op, struct cfi_cursor *in)
{
	unsigned int bits = 8u << (op - OP_CONST1U) / 2;
	uint64_t value;

	if (op == OP_CONSTU)
		value = cfi_uleb(in);
	else if (op == OP_CONSTS)
		value = (uint64_t)cfi_sleb(in);
	else
		value = cfi_fixed(in, bits / 8);
	if (op < OP_CONSTU && (op & 1) && bits < 64 && value >> (bits - 1))
		value |= ~0ULL << bits;
	return push(stack, number((int64_t)value));
}

static bool step(struct stack *stack, struct cfi_cursor *in)
{
	uint8_t op = cfi_u8(in);
	uint64_t reg;

	if (op >= OP_CONST1U && op <= OP_CONSTS)
		return push_constant(stack, op, in);
	if (op >= OP_LIT0 && op < OP_REG0)
		return push(stack, number(op - OP_LIT0));
	if (op >= OP_REG0 && op < OP_BREG0) /* libgcc reads it as breg 0 */
		return push_register(stack, op - OP_REG0, 0);
	if (op >= OP_BREG0 && op < OP_BREG0 + 32)
		return push_register(stack, op - OP_BREG0, cfi_sleb(in));
	switch (op) {
	case OP_NOP:
		return true;
	case OP_BREGX:
		reg = cfi_uleb(in);
		return push_register(stack, reg, cfi_sleb(in));
	case OP_DEREF:
		return deref(stack);
	case OP_PLUS_UCONST:
		if (!push(stack, number((int64_t)cfi_uleb(in))))
			return false;
		op = OP_PLUS;
		break;
	}
	if (stack->n < 2)
		return false;
	stack->n--;
	stack->terms[stack->n - 1] =
		combined(stack, op, stack->terms[stack->n - 1], stack->terms[stack->n]);
	return stack->terms[stack->n - 1].kind != CFI_TERM_NONE;
}

struct cfi_term cfi_expr_eval(const struct cfi_machine *machine,
			      const struct cfi_expr *expr, bool on_cfa)
{
	struct cfi_cursor in = { .at = expr->bytes, .end = expr->bytes + expr->n };
	struct stack stack = { .machine = machine };

	if (on_cfa)
		push(&stack, (struct cfi_term){ .kind = CFI_TERM_CFA });
	if (expr->n > EXPR_BYTES_MAX)
		return nothing;
	while (in.at < in.end)
		if (!step(&stack, &in) || in.bad)
			return nothing;
	return stack.n ? stack.terms[stack.n - 1] : nothing;
}
