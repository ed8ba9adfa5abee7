/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every instruction of call frame information, and each way in which it can be
 * cut or wrong, as one function's rows. Numbers are from DWARF 5 and the psABIs.
 */
#include "cfi_made.h"

#define SP(n)                                                                            \
	{                                                                                \
		.cfa = UNWIND_CFA_SP, .cfa_offset = (n), .ra_words = -1                  \
	}
#define SP_FP(n)                                                                         \
	{                                                                                \
		.cfa = UNWIND_CFA_SP, .cfa_offset = (n), .ra_words = -1,                 \
		.fp = UNWIND_FP_CFA, .fp_words = -2                                      \
	}
#define LOST(n)                                                                          \
	{                                                                                \
		.cfa = UNWIND_CFA_SP, .cfa_offset = (n), .ra_words = -1,                 \
		.fp = UNWIND_FP_LOST                                                     \
	}
#define FP(n)                                                                            \
	{                                                                                \
		.cfa = UNWIND_CFA_FP, .cfa_offset = (n), .ra_words = -1                  \
	}
#define REG(r, n)                                                                        \
	{                                                                                \
		.cfa = UNWIND_CFA_REG, .reg = (r), .cfa_offset = (n), .ra_words = -1     \
	}
#define SP_BX(n, words)                                                                  \
	{                                                                                \
		.cfa = UNWIND_CFA_SP, .cfa_offset = (n), .ra_words = -1,                 \
		.bx_words = (words)                                                      \
	}
#define ONLY(kind)                                                                       \
	{                                                                                \
		.cfa = UNWIND_CFA_##kind                                                 \
	}
#define MAKE(...)                                                                        \
	{                                                                                \
		__VA_ARGS__                                                              \
	}
#define CODE_(...) .code = { __VA_ARGS__ }, .n = sizeof((uint8_t[]){ __VA_ARGS__ })

#define STEP 0x44 /* advance_loc 4 */

struct shape {
	const char *name;
	uint8_t code[96];
	size_t n;
	uint32_t second; /* where the second row begins; 0: there is one row */
	struct unwind_rule rules[2];
	int unsupported; /* enum cfi_unsupported + 1 */
};

static const struct shape shapes[] = {
	{ "nothing", .n = 0, .rules = { SP(8) } },
	{ "nop", CODE_(0, 0, 0), .rules = { SP(8) } },
	{ "advance_loc", CODE_(STEP, 0x0e, 16), 4, { SP(8), SP(16) } },
	{ "advance_loc1", CODE_(0x02, 0xc8, 0x0e, 16), 200, { SP(8), SP(16) } },
	{ "advance_loc2", CODE_(0x03, 0x34, 0x01, 0x0e, 16), 0x134, { SP(8), SP(16) } },
	{ "advance_loc4",
	  CODE_(0x04, 0x45, 0x03, 0, 0, 0x0e, 16),
	  0x345,
	  { SP(8), SP(16) } },
	{ "advance_loc past the end", CODE_(0x04, 0, 0, 1, 0, 0x0e, 16),
	  .rules = { SP(8) } },
	{ "two at one place", CODE_(STEP, 0x0e, 16, 0x0e, 24), 4, { SP(8), SP(24) } },
	{ "def_cfa", CODE_(STEP, 0x0c, 6, 16), 4, { SP(8), FP(16) } },
	{ "def_cfa of another register",
	  CODE_(STEP, 0x0c, 10, 0),
	  4,
	  { SP(8), REG(10, 0) } },
	{ "def_cfa_register", CODE_(STEP, 0x0d, 6), 4, { SP(8), FP(8) } },
	{ "def_cfa_offset of two bytes",
	  CODE_(STEP, 0x0e, 0x90, 0x02),
	  4,
	  { SP(8), SP(272) } },
	{ "def_cfa_sf", CODE_(STEP, 0x12, 6, 0x7e), 4, { SP(8), FP(16) } },
	{ "def_cfa_offset_sf", CODE_(STEP, 0x13, 0x7d), 4, { SP(8), SP(24) } },
	{ "offset", CODE_(STEP, 0x0e, 16, 0x86, 2), 4, { SP(8), SP_FP(16) } },
	{ "offset of no interest", CODE_(STEP, 0x8c, 5), .rules = { SP(8) } },
	{ "offset of rbx", CODE_(STEP, 0x83, 5), 4, { SP(8), SP_BX(8, -5) } },
	{ "restore of rbx", CODE_(0x83, 5, STEP, 0xc3), 4, { SP_BX(8, -5), SP(8) } },
	{ "undefined rbx", CODE_(STEP, 0x07, 3), 4, { SP(8), SP_BX(8, UNWIND_BX_LOST) } },
	{ "rbx in a register",
	  CODE_(STEP, 0x09, 3, 12),
	  4,
	  { SP(8), SP_BX(8, UNWIND_BX_LOST) } },
	{ "offset_extended", CODE_(STEP, 0x05, 6, 2), 4, { SP(8), SP_FP(8) } },
	{ "offset_extended_sf", CODE_(STEP, 0x11, 6, 2), 4, { SP(8), SP_FP(8) } },
	{ "GNU_negative_offset_extended",
	  CODE_(STEP, 0x2f, 6, 0x7e),
	  4,
	  { SP(8), MAKE(.cfa = UNWIND_CFA_SP, .cfa_offset = 8, .ra_words = -1,
			.fp = UNWIND_FP_CFA, .fp_words = 126) } },
	{ "restore", CODE_(0x86, 2, STEP, 0xc6), 4, { SP_FP(8), SP(8) } },
	{ "restore_extended", CODE_(0x86, 2, STEP, 0x06, 6), 4, { SP_FP(8), SP(8) } },
	{ "remember_state, restore_state",
	  CODE_(0x0a, 0x0e, 64, 0x86, 2, STEP, 0x0b),
	  4,
	  { SP_FP(64), SP(8) } },
	{ "undefined ra", CODE_(STEP, 0x07, 16), 4, { SP(8), ONLY(END) } },
	{ "undefined fp", CODE_(STEP, 0x07, 6), 4, { SP(8), LOST(8) } },
	{ "same_value", CODE_(0x86, 2, STEP, 0x08, 6), 4, { SP_FP(8), SP(8) } },
	{ "register", CODE_(STEP, 0x09, 6, 3), 4, { SP(8), LOST(8) }, CFI_FP_PLACE + 1 },
	{ "register with ra",
	  CODE_(STEP, 0x0e, 0, 0x09, 16, 5),
	  4,
	  { SP(8), MAKE(.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_REG, .ra_words = 5) } },
	{ "val_offset",
	  CODE_(STEP, 0x14, 6, 2),
	  4,
	  { SP(8), LOST(8) },
	  CFI_FP_PLACE + 1 },
	{ "val_offset of sp, the CFA", CODE_(STEP, 0x14, 7, 0), .rules = { SP(8) } },
	{ "val_offset_sf of sp",
	  CODE_(STEP, 0x15, 7, 0x7e, 0x86, 2),
	  4,
	  { SP(8), MAKE(.cfa = UNWIND_CFA_SP, .cfa_offset = 24, .ra_words = -3,
			.fp = UNWIND_FP_CFA, .fp_words = -4) } },
	{ "sp stays, as GHC's", CODE_(0x0c, 6, 0, 0x11, 16, 0, 0x08, 7),
	  .rules = { ONLY(UNSUPPORTED) }, .unsupported = CFI_SP_PLACE + 1 },
	{ "ra elsewhere",
	  CODE_(STEP, 0x90, 2),
	  4,
	  { SP(8), MAKE(.cfa = UNWIND_CFA_SP, .cfa_offset = 8, .ra_words = -2) } },
	{ "GNU_args_size",
	  CODE_(0x2e, 0x80, 0x01, STEP, 0x0e, 16),
	  4,
	  { SP(8), SP(16) } },
	{ "val_expression",
	  CODE_(STEP, 0x16, 6, 2, 0x77, 8),
	  4,
	  { SP(8), LOST(8) },
	  CFI_FP_PLACE + 1 },
	{ "fp half a word off",
	  CODE_(STEP, 0x10, 6, 2, 0x77, 4),
	  4,
	  { SP(8), LOST(8) },
	  CFI_FP_PLACE + 1 },
	{ "CFA of 4 GiB",
	  CODE_(STEP, 0x0e, 0x80, 0x80, 0x80, 0x80, 0x10),
	  4,
	  { SP(8), ONLY(UNSUPPORTED) },
	  CFI_CFA_RANGE + 1 },
	{ "CFA of register 300",
	  CODE_(STEP, 0x0d, 0xac, 0x02),
	  4,
	  { SP(8), ONLY(UNSUPPORTED) },
	  CFI_CFA_RANGE + 1 },

	{ "unknown instruction",
	  CODE_(STEP, 0x3f, 0x0e, 16),
	  4,
	  { SP(8), ONLY(UNSUPPORTED) },
	  CFI_BAD_CODE + 1 },
	{ "no operand",
	  CODE_(STEP, 0x0e),
	  4,
	  { SP(8), ONLY(UNSUPPORTED) },
	  CFI_BAD_CODE + 1 },
	{ "half an operand",
	  CODE_(STEP, 0x0e, 0x90),
	  4,
	  { SP(8), ONLY(UNSUPPORTED) },
	  CFI_BAD_CODE + 1 },
	{ "an operand without end",
	  CODE_(STEP, 0x0e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
		0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1),
	  4,
	  { SP(8), ONLY(UNSUPPORTED) },
	  CFI_BAD_CODE + 1 },
	{ "half an advance",
	  CODE_(STEP, 0x0e, 16, 0x04, 1, 1),
	  4,
	  { SP(8), ONLY(UNSUPPORTED) },
	  CFI_BAD_CODE + 1 },
	{ "an expression past the end",
	  CODE_(STEP, 0x0f, 9, 0x77),
	  4,
	  { SP(8), ONLY(UNSUPPORTED) },
	  CFI_BAD_CODE + 1 },
	{ "restore_state of nothing",
	  CODE_(STEP, 0x0b),
	  4,
	  { SP(8), ONLY(UNSUPPORTED) },
	  CFI_BAD_CODE + 1 },
	{ "set_loc backwards",
	  CODE_(STEP, 0x01, 0, 0, 0, 0),
	  4,
	  { SP(8), ONLY(UNSUPPORTED) },
	  CFI_BAD_CODE + 1 },
	{ "arm64's negate_ra_state_with_pc",
	  CODE_(STEP, 0x2c),
	  4,
	  { SP(8), ONLY(UNSUPPORTED) },
	  CFI_BAD_CODE + 1 },
};

#define DEREF_FP(k, d)                                                                   \
	MAKE(.cfa = UNWIND_CFA_DEREF_FP, .deref_offset = (k), .cfa_offset = (d),         \
	     .ra_words = -1)
#define DEREF_SP(k, d)                                                                   \
	MAKE(.cfa = UNWIND_CFA_DEREF_SP, .deref_offset = (k), .cfa_offset = (d),         \
	     .ra_words = -1)

#define DEREF_TWICE(k, d)                                                                \
	MAKE(.cfa = UNWIND_CFA_DEREF_TWICE, .deref_offset = (k), .cfa_offset = (d),      \
	     .ra_words = -1)

#define INDEXED(r, k, d)                                                                 \
	MAKE(.cfa = UNWIND_CFA_INDEXED, .reg = (r), .deref_offset = (k),                 \
	     .cfa_offset = (d), .ra_words = -1)

#define NO_RULE 4, { SP(8), ONLY(UNSUPPORTED) }, CFI_CFA_EXPR + 1

static const struct shape expressions[] = {
	{ "*(fp - 8): gcc's realigned stack",
	  CODE_(STEP, 0x0f, 3, 0x76, 0x78, 0x06),
	  4,
	  { SP(8), DEREF_FP(-8, 0) } },
	{ "*(sp + 16) + 8",
	  CODE_(STEP, 0x0f, 5, 0x77, 16, 0x06, 0x23, 8),
	  4,
	  { SP(8), DEREF_SP(16, 8) } },
	{ "*sp + 0x38, by reg7 as libgcc reads it",
	  CODE_(STEP, 0x0f, 4, 0x57, 0x06, 0x23, 0x38),
	  4,
	  { SP(8), DEREF_SP(0, 0x38) } },
	{ "8 + *(fp)",
	  CODE_(STEP, 0x0f, 5, 0x38, 0x76, 0, 0x06, 0x22),
	  4,
	  { SP(8), DEREF_FP(0, 8) } },
	{ "*(fp) - const1u 8",
	  CODE_(STEP, 0x0f, 6, 0x76, 0, 0x06, 0x08, 8, 0x1c),
	  4,
	  { SP(8), DEREF_FP(0, -8) } },
	{ "const1s",
	  CODE_(STEP, 0x0f, 5, 0x77, 0, 0x09, 0xf8, 0x22),
	  4,
	  { SP(8), SP(-8) } },
	{ "const2u",
	  CODE_(STEP, 0x0f, 6, 0x77, 0, 0x0a, 0, 1, 0x22),
	  4,
	  { SP(8), SP(256) } },
	{ "const2s",
	  CODE_(STEP, 0x0f, 6, 0x77, 0, 0x0b, 0xfe, 0xff, 0x22),
	  4,
	  { SP(8), SP(-2) } },
	{ "const4u",
	  CODE_(STEP, 0x0f, 8, 0x77, 0, 0x0c, 0, 0, 1, 0, 0x22),
	  4,
	  { SP(8), SP(65536) } },
	{ "const4s",
	  CODE_(STEP, 0x0f, 8, 0x77, 0, 0x0d, 0xfc, 0xff, 0xff, 0xff, 0x22),
	  4,
	  { SP(8), SP(-4) } },
	{ "const8u",
	  CODE_(STEP, 0x0f, 12, 0x77, 0, 0x0e, 9, 0, 0, 0, 0, 0, 0, 0, 0x22),
	  4,
	  { SP(8), SP(9) } },
	{ "constu",
	  CODE_(STEP, 0x0f, 6, 0x77, 0, 0x10, 0x80, 0x01, 0x22),
	  4,
	  { SP(8), SP(128) } },
	{ "consts",
	  CODE_(STEP, 0x0f, 5, 0x77, 0, 0x11, 0x70, 0x22),
	  4,
	  { SP(8), SP(-16) } },
	{ "bregx", CODE_(STEP, 0x0f, 3, 0x92, 6, 16), 4, { SP(8), FP(16) } },
	{ "nop", CODE_(STEP, 0x0f, 3, 0x96, 0x76, 16), 4, { SP(8), FP(16) } },
	{ "another register",
	  CODE_(STEP, 0x0f, 2, 0x7a, 0x70),
	  4,
	  { SP(8), REG(10, -16) } },
	{ "the PLT of ld",
	  CODE_(STEP, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24,
		0x22),
	  4,
	  { SP(8),
	    MAKE(.cfa = UNWIND_CFA_PLT, .cfa_offset = 8, .reg = 11, .ra_words = -1) } },
	{ "the PLT of ld with IBT",
	  CODE_(STEP, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x39, 0x2a, 0x33, 0x24,
		0x22),
	  4,
	  { SP(8),
	    MAKE(.cfa = UNWIND_CFA_PLT, .cfa_offset = 8, .reg = 9, .ra_words = -1) } },
	{ "a PLT of other steps",
	  CODE_(STEP, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x34, 0x24,
		0x22),
	  NO_RULE },
	{ "**(sp + 56) + 8: OCaml 5's way to who resumed",
	  CODE_(STEP, 0x0f, 8, 0x77, 56, 0x06, 0x23, 0, 0x06, 0x23, 8),
	  4,
	  { SP(8), DEREF_TWICE(56, 8) } },
	{ "a second step elsewhere", CODE_(STEP, 0x0f, 6, 0x77, 56, 0x06, 0x23, 8, 0x06),
	  NO_RULE },
	{ "three steps in memory", CODE_(STEP, 0x0f, 5, 0x77, 0, 0x06, 0x06, 0x06),
	  NO_RULE },
	{ "two steps in memory, by fp", CODE_(STEP, 0x0f, 4, 0x76, 0, 0x06, 0x06),
	  NO_RULE },
	{ "*(sp + 8 + r9 * 8) + 8: OpenSSL's Montgomery multiplication",
	  CODE_(STEP, 0x0f, 10, 0x77, 8, 0x79, 0, 0x38, 0x1e, 0x22, 0x06, 0x23, 8),
	  4,
	  { SP(8), INDEXED(9, 8, 8) } },
	{ "*(8 * r9 + sp), the other way round",
	  CODE_(STEP, 0x0f, 7, 0x79, 0, 0x38, 0x1e, 0x57, 0x22, 0x06),
	  4,
	  { SP(8), INDEXED(9, 0, 0) } },
	{ "a number of words of 4 bytes",
	  CODE_(STEP, 0x0f, 10, 0x77, 8, 0x79, 0, 0x34, 0x1e, 0x22, 0x06, 0x23, 8),
	  NO_RULE },
	{ "(r9 + 1) * 8",
	  CODE_(STEP, 0x0f, 10, 0x77, 8, 0x79, 1, 0x38, 0x1e, 0x22, 0x06, 0x23, 8),
	  NO_RULE },
	{ "sp * 8", CODE_(STEP, 0x0f, 7, 0x77, 8, 0x57, 0x38, 0x1e, 0x22, 0x06),
	  NO_RULE },
	{ "sp + r9 * 8 itself", CODE_(STEP, 0x0f, 7, 0x77, 8, 0x79, 0, 0x38, 0x1e, 0x22),
	  NO_RULE },
	{ "*(fp + r9 * 8)",
	  CODE_(STEP, 0x0f, 8, 0x76, 8, 0x79, 0, 0x38, 0x1e, 0x22, 0x06), NO_RULE },
	{ "**(sp + r9 * 8)",
	  CODE_(STEP, 0x0f, 9, 0x77, 8, 0x79, 0, 0x38, 0x1e, 0x22, 0x06, 0x06), NO_RULE },
	{ "*(r10)", CODE_(STEP, 0x0f, 3, 0x7a, 0, 0x06), NO_RULE },
	{ "nothing", CODE_(STEP, 0x0f, 0), NO_RULE },
	{ "plus without operands", CODE_(STEP, 0x0f, 2, 0x38, 0x22), NO_RULE },
	{ "deref of nothing", CODE_(STEP, 0x0f, 1, 0x06), NO_RULE },
	{ "a number", CODE_(STEP, 0x0f, 1, 0x38), NO_RULE },
	{ "a call", CODE_(STEP, 0x0f, 3, 0x98, 0, 0), NO_RULE },
	{ "half a number", CODE_(STEP, 0x0f, 3, 0x77, 0, 0x0a), NO_RULE },
	{ "nine on the stack",
	  CODE_(STEP, 0x0f, 10, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x77, 0),
	  NO_RULE },
	{ "fp at *(fp)", CODE_(0x0c, 6, 16, 0x10, 6, 2, 0x76, 0),
	  .rules = { MAKE(.cfa = UNWIND_CFA_FP, .cfa_offset = 16, .ra_words = -1,
			  .fp = UNWIND_FP_CFA, .fp_words = -2) } },
	{ "fp at *(fp), the CFA by memory",
	  CODE_(STEP, 0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0),
	  4,
	  { SP(8), MAKE(.cfa = UNWIND_CFA_DEREF_FP, .deref_offset = -8, .ra_words = -1,
			.fp = UNWIND_FP_DEREF) } },
	{ "fp at *(CFA - 16)",
	  CODE_(STEP, 0x10, 6, 2, 0x40, 0x1c),
	  4,
	  { SP(8), SP_FP(8) } },
	{ "fp at *(sp - 8)",
	  CODE_(STEP, 0x10, 6, 2, 0x77, 0x78),
	  4,
	  { SP(8), SP_FP(8) } },
	{ "ra at *(sp)", CODE_(STEP, 0x10, 16, 2, 0x77, 0), .rules = { SP(8) } },
	{ "ra at *(sp + 8)",
	  CODE_(STEP, 0x10, 16, 2, 0x77, 8),
	  4,
	  { SP(8), MAKE(.cfa = UNWIND_CFA_SP, .cfa_offset = 8, .ra_words = 0) } },
	{ "rbx at *(CFA - 24)",
	  CODE_(STEP, 0x10, 3, 2, 0x48, 0x1c),
	  4,
	  { SP(8), SP_BX(8, -3) } },
	{ "rbx at *(fp)",
	  CODE_(STEP, 0x10, 3, 2, 0x76, 0),
	  4,
	  { SP(8), SP_BX(8, UNWIND_BX_LOST) } },
	{ "sp by an expression", CODE_(STEP, 0x16, 7, 2, 0x77, 8), .rules = { SP(8) } },
};

static bool same(const struct unwind_rule *a, const struct unwind_rule *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* Neighbours with one rule are one row to a table. */
static void merge(struct rows *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++)
		if (!n || !same(&rows->items[n - 1].rule, &rows->items[i].rule))
			rows->items[n++] = rows->items[i];
	rows->n = n;
}

static void check_shape(struct made *made, const struct shape *shape)
{
	static struct rows rows;
	const size_t n = shape->second ? 2 : 1;
	const struct unwind_rule none = { 0 };

	made->n = 0;
	put_plain_cie(made);
	put_fde(made, CODE, 0x1000, shape->code, shape->n);
	rows_read(&rows, made);
	rows_check_first(&rows, made);
	merge(&rows);
	if (rows.err || rows.n != n + 1 || rows.items[0].pc != CODE ||
	    !same(&rows.items[0].rule, &shape->rules[0]))
		fail_msg("%s: %zu rows, err %d, cfa %u%+d", shape->name, rows.n, rows.err,
			 rows.items[0].rule.cfa, rows.items[0].rule.cfa_offset);
	if (n > 1 && (rows.items[1].pc != CODE + shape->second ||
		      !same(&rows.items[1].rule, &shape->rules[1])))
		fail_msg("%s: at %lx, cfa %u%+d deref %+d fp %u %d", shape->name,
			 rows.items[1].pc, rows.items[1].rule.cfa,
			 rows.items[1].rule.cfa_offset, rows.items[1].rule.deref_offset,
			 rows.items[1].rule.fp, rows.items[1].rule.fp_words);
	assert_int_equal(rows.items[n].pc, CODE + 0x1000);
	assert_true(same(&rows.items[n].rule, &none));
	for (int unsupported = 0; unsupported < N_CFI_UNSUPPORTED; unsupported++)
		if (rows.stats.unsupported[unsupported] !=
		    (shape->unsupported == unsupported + 1))
			fail_msg("%s: %u rows are unsupported by %d", shape->name,
				 rows.stats.unsupported[unsupported], unsupported);
}

static void runs_instructions(void **state)
{
	static struct made made;

	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		check_shape(&made, &shapes[i]);
}

static void recognises_expressions(void **state)
{
	static struct made made;

	for (size_t i = 0; i < sizeof(expressions) / sizeof(*expressions); i++)
		check_shape(&made, &expressions[i]);
}

#define A64(kind, n, ...) MAKE(.cfa = UNWIND_CFA_##kind, .cfa_offset = (n), __VA_ARGS__)

static const struct shape arm64_shapes[] = {
	{ "a leaf", .n = 0, .rules = { A64(SP, 0, .ra = UNWIND_RA_LR) } },
	{ "x29 and x30 saved",
	  CODE_(0x44, 0x0e, 32, 0x9d, 4, 0x9e, 3),
	  16,
	  { A64(SP, 0, .ra = UNWIND_RA_LR),
	    A64(SP, 32, .fp = UNWIND_FP_CFA, .fp_words = -4, .ra_words = -3) } },
	{ "CFA by x29",
	  CODE_(0x44, 0x0c, 29, 16, 0x9d, 2, 0x9e, 1),
	  16,
	  { A64(SP, 0, .ra = UNWIND_RA_LR),
	    A64(FP, 16, .fp = UNWIND_FP_CFA, .fp_words = -2, .ra_words = -1) } },
	{ "a frame of 100 KB",
	  CODE_(0x44, 0x9d, 0xd4, 0x61, 0x9e, 0xd3, 0x61),
	  16,
	  { A64(SP, 0, .ra = UNWIND_RA_LR),
	    A64(SP, 0, .fp = UNWIND_FP_CFA, .fp_words = -12500, .ra_words = -12499) } },
	{ "signed return addresses", CODE_(0x2d, 0x44, 0x2d),
	  .rules = { A64(SP, 0, .ra = UNWIND_RA_LR) } },
	{ "signed with the pc", CODE_(0x2c),
	  .rules = { A64(SP, 0, .ra = UNWIND_RA_LR) } },
	{ "undefined ra", CODE_(0x07, 30), .rules = { ONLY(END) } },
	{ "ra in x15", CODE_(0x09, 30, 15), .rules = { ONLY(UNSUPPORTED) },
	  .unsupported = CFI_RA_PLACE + 1 },
	{ "ra restored",
	  CODE_(0x9e, 1, 0x44, 0xde),
	  16,
	  { A64(SP, 0, .ra_words = -1), A64(SP, 0, .ra = UNWIND_RA_LR) } },
};

static void knows_arm64(void **state)
{
	static struct made made = { .arm64 = true };

	for (size_t i = 0; i < sizeof(arm64_shapes) / sizeof(*arm64_shapes); i++)
		check_shape(&made, &arm64_shapes[i]);
}

/* More states than are kept: the rest of the function is not known. */
static void bounds_remembered_states(void **state)
{
	static struct made made;
	static struct rows rows;
	uint8_t code[1000];

	for (size_t n = 1; n < 1000; n *= 2) {
		made.n = 0;
		memset(code, 0x0a, n);
		code[n] = STEP;
		put_plain_cie(&made);
		put_fde(&made, CODE, 16, code, n + 1);
		rows_read(&rows, &made);
		assert_int_equal(rows.err, 0);
		assert_int_equal(rows.stats.unsupported[CFI_BAD_CODE], n > 64);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_instructions),
		cmocka_unit_test(recognises_expressions),
		cmocka_unit_test(knows_arm64),
		cmocka_unit_test(bounds_remembered_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
