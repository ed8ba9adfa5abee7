/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known of a frame at an instruction, from how those before it moved the stack:
 * where the stack and frame pointers and one more register point, and where the caller's
 * frame pointer and rbx were put. All of it counts from two addresses that nobody knows:
 * the stack pointer where the code was entered, and the one that was rounded down since,
 * or lowered by what a register holds, which is then the size of that frame.
 */
#ifndef WEFT_UNWIND_X86_FRAME_H
#define WEFT_UNWIND_X86_FRAME_H

#include "shared/unwind.h"
#include "unwind/x86_stack.h"

#define X86_SLOT_BYTES 8 /* of a register on the stack */

enum x86_from {
	X86_NOWHERE, /* nothing is known of it */
	X86_ENTRY,   /* it counts from the stack pointer at the entry */
	X86_ALIGNED, /* from the one that was rounded down, or lowered so, last */
	X86_FOREIGN, /* another stack's */
};

struct x86_place {
	int at; /* bytes, below 0 down the stack */
	enum x86_from from;
};

/* Where the caller's value of a register is. */
enum x86_callers { X86_FP_CALLERS, X86_BX_CALLERS, N_X86_CALLERS };

struct x86_caller {
	enum {
		X86_KEPT,	   /* in the register, as at the entry */
		X86_SAVED,	   /* in memory, `at` bytes from the entry */
		X86_SAVED_ALIGNED, /* from the stack pointer that was rounded down */
		X86_LOST,
	} is;
	int at;
};

struct x86_frame {
	struct x86_place sp, fp;
	int kept_in;	  /* a register that holds an address, ENTRY; or X86_NO_REG */
	int kept;	  /* which */
	unsigned int own; /* others that hold some address of this stack, by bit */
	struct x86_place own_slot; /* where one of all these was put last, ENTRY */
	struct x86_place slot;	   /* where the address slot_holds, ENTRY, was put last */
	int slot_holds;
	bool slot_is_size; /* or how far that lies above what ALIGNED counts from */
	int size_in;	   /* a register that holds so much; or X86_NO_REG */
	int size_to;	   /* of the address, ENTRY */
	struct x86_caller callers[N_X86_CALLERS];
};

extern const struct x86_frame x86_frame_at_entry;

/* Behind the instruction. */
void x86_frame_apply(struct x86_frame *frame, const struct x86_effect *is);

/* Does it push, as the first word of an aligned frame, what lay on top of the stack at
 * the entry? gcc does so with the return address, to put a frame pointer below it: so
 * that is there, even of what never returns. */
bool x86_frame_copies_return(const struct x86_frame *frame, const struct x86_effect *is);

/* Does it take down what was lowered by what a register holds, by the same size? */
bool x86_frame_gives_size_back(const struct x86_frame *frame,
			       const struct x86_effect *is);

/* Where base + distance lies, as far as is known. */
struct x86_place x86_frame_place(const struct x86_frame *frame, int base, int distance);

/* The same, counted from an address that lies `bytes` lower. */
void x86_frame_shift(struct x86_frame *frame, int bytes);

enum x86_meeting { X86_SAME, X86_LESS, X86_CONTRADICTS };

/* What is known where two ways meet, into *frame: LESS than it was. CONTRADICTS: they
 * come with different stack pointers, which no function does. */
enum x86_meeting x86_frame_meet(struct x86_frame *frame, const struct x86_frame *other);

/* The rule, if the CFA lies `cfa` bytes above the entry; false: none is known. kept: the
 * registers were the caller's at the entry. */
bool x86_frame_rule(const struct x86_frame *frame, int cfa, bool kept,
		    struct unwind_rule *ret);

/* DWARF's number of a register, 0 to 15. */
unsigned char x86_dwarf_number(int reg);

#endif
