// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/fde_cfa.h"

#include "unwind/cfi_cursor.h"
#include "unwind/cfi_insn.h"

#define STACK	    7 /* DWARF's number of rsp */
#define STACK_ARM64 31
#define SAVED_MAX   16
#define CFA_WORD    8u

struct cfa_place {
	bool by_sp;
	uint64_t offset;
};

struct cfa {
	uint64_t sp; /* DWARF's number */
	uint64_t at; /* bytes behind the function's first, or instructions */
	struct cfa_place is, saved[SAVED_MAX];
	size_t n_saved;
};

static void skip_expression(struct cfi_cursor *in)
{
	cfi_skip(in, cfi_uleb(in));
}

/* In words, which all x86-64's CIEs count down. */
static uint64_t scaled(struct cfi_cursor *in)
{
	return -(uint64_t)cfi_sleb(in) * CFA_WORD;
}

/* What says nothing of the CFA; false: not known. */
static bool skip(struct cfi_cursor *in, uint8_t op)
{
	switch (op) {
	case NOP:
	case NEGATE_RA_STATE:
	case NEGATE_RA_STATE_WITH_PC:
		return true;
	case OFFSET_EXTENDED:
	case OFFSET_EXTENDED_SF:
	case REGISTER:
		cfi_uleb(in);
		cfi_uleb(in);
		return true;
	case RESTORE_EXTENDED:
	case UNDEFINED:
	case SAME_VALUE:
	case GNU_ARGS_SIZE:
		cfi_uleb(in);
		return true;
	case EXPRESSION:
	case VAL_EXPRESSION:
		cfi_uleb(in);
		skip_expression(in);
		return true;
	}
	return false;
}

static bool keep(struct cfa *cfa, bool back)
{
	if (back ? !cfa->n_saved : cfa->n_saved == SAVED_MAX)
		return false;
	if (back)
		cfa->is = cfa->saved[--cfa->n_saved];
	else
		cfa->saved[cfa->n_saved++] = cfa->is;
	return true;
}

/* One instruction; false: not known. */
static bool step(struct cfa *cfa, struct cfi_cursor *in)
{
	uint8_t op = cfi_u8(in);

	switch (op & 0xc0) {
	case ADVANCE:
		cfa->at += op & 0x3f;
		return true;
	case OFFSET:
		cfi_uleb(in);
		return true;
	case RESTORE:
		return true;
	}
	switch (op) {
	case ADVANCE1:
	case ADVANCE2:
	case ADVANCE4:
		cfa->at += cfi_fixed(in, (size_t)1 << (op - ADVANCE1));
		return true;
	case REMEMBER_STATE:
	case RESTORE_STATE:
		return keep(cfa, op == RESTORE_STATE);
	case DEF_CFA:
		cfa->is.by_sp = cfi_uleb(in) == cfa->sp;
		cfa->is.offset = cfi_uleb(in);
		return true;
	case DEF_CFA_SF:
		cfa->is.by_sp = cfi_uleb(in) == cfa->sp;
		cfa->is.offset = scaled(in);
		return true;
	case DEF_CFA_OFFSET:
		cfa->is.offset = cfi_uleb(in);
		return true;
	case DEF_CFA_OFFSET_SF:
		cfa->is.offset = scaled(in);
		return true;
	case DEF_CFA_REGISTER:
		cfa->is.by_sp = cfi_uleb(in) == cfa->sp;
		return true;
	case DEF_CFA_EXPRESSION:
		cfa->is.by_sp = false;
		skip_expression(in);
		return true;
	}
	return skip(in, op);
}

bool fde_cfa_is_by_sp(const uint8_t *code, size_t n, uint64_t at, uint64_t *ret_offset)
{
	struct cfi_cursor in = { .at = code, .end = code + n };
	struct cfa cfa = { .sp = STACK, .is = { true, CFA_WORD } };
	struct cfa_place is = cfa.is;

	while (in.at < in.end && cfa.at <= at) {
		if (!step(&cfa, &in) || in.bad)
			return false;
		if (cfa.at <= at)
			is = cfa.is;
	}
	*ret_offset = is.offset;
	return is.by_sp;
}

bool fde_cfa_stays_by_sp(const uint8_t *code, size_t n)
{
	struct cfi_cursor in = { .at = code, .end = code + n };
	struct cfa cfa = { .sp = STACK_ARM64, .is.by_sp = true };

	while (in.at < in.end)
		if (!step(&cfa, &in) || in.bad || !cfa.is.by_sp)
			return false;
	return true;
}
