/* SPDX-License-Identifier: BSD-2-Clause */
/* The instructions of call frame information (DW_CFA_): DWARF 5, section 7.24, and those
 * of GNU and of arm64. */
#ifndef WEFT_UNWIND_CFI_INSN_H
#define WEFT_UNWIND_CFI_INSN_H

enum cfi_insn {
	/* in the two high bits, with an operand in the others */
	ADVANCE = 0x40,
	OFFSET = 0x80,
	RESTORE = 0xc0,

	NOP = 0x00,
	SET_LOC,
	ADVANCE1,
	ADVANCE2,
	ADVANCE4,
	OFFSET_EXTENDED,
	RESTORE_EXTENDED,
	UNDEFINED,
	SAME_VALUE,
	REGISTER,
	REMEMBER_STATE,
	RESTORE_STATE,
	DEF_CFA,
	DEF_CFA_REGISTER,
	DEF_CFA_OFFSET,
	DEF_CFA_EXPRESSION,
	EXPRESSION,
	OFFSET_EXTENDED_SF,
	DEF_CFA_SF,
	DEF_CFA_OFFSET_SF,
	VAL_OFFSET,
	VAL_OFFSET_SF,
	VAL_EXPRESSION,
	NEGATE_RA_STATE_WITH_PC = 0x2c,
	NEGATE_RA_STATE = 0x2d, /* arm64; bits of addresses are the walker's */
	GNU_ARGS_SIZE = 0x2e,
	GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

#endif
