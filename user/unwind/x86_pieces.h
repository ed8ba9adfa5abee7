/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pieces of code whose stack pointers are known by their distance from one another: a
 * union-find with distances. Each counts from its own stack pointer where it is entered.
 * Those that jumps connect are one whole, which knows where its return address lies.
 */
#ifndef WEFT_UNWIND_X86_PIECES_H
#define WEFT_UNWIND_X86_PIECES_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define X86_RETURN_BYTES 8 /* of an address, which a call leaves */

/* Each value but the first three and the last is the whole's. */
struct x86_piece {
	uint32_t of;	     /* which one it is a part of, or itself */
	int lower;	     /* its entry lies so many bytes below that one's */
	bool is_behind_call; /* begins so */

	bool is_bad;  /* it contradicts itself */
	bool returns; /* there are instructions that do */
	bool calls;   /* the same */
	bool is_told; /* where the CFA is: */
	int cfa;      /* bytes above the entry */
	bool leaves;  /* by a jump to elsewhere, with the stack pointer at: */
	int left_at;
	bool is_begun;	 /* by a function */
	bool is_doubted; /* nobody knows which of its calls come back */
};

struct x86_pieces {
	VEC(struct x86_piece) list;
};

/* The whole; *ret_lower: by how much the piece's entry lies below its. */
struct x86_piece *x86_pieces_whole(const struct x86_pieces *pieces, uint32_t number,
				   int *ret_lower);

void x86_pieces_call(struct x86_pieces *pieces, uint32_t number);
void x86_pieces_spoil(struct x86_pieces *pieces, uint32_t number);

/* At a stack pointer `at` bytes above the piece's entry lies its return address. */
void x86_pieces_end_at(struct x86_pieces *pieces, uint32_t number, int at);

/* The same, and it returns there. */
void x86_pieces_return_at(struct x86_pieces *pieces, uint32_t number, int at);

/* There it goes to another function, with nothing else on the stack. That alone tells
 * nothing: it may as well go to a part of its own. */
void x86_pieces_leave_at(struct x86_pieces *pieces, uint32_t number, int at);

/* b's entry lies `lower` bytes below a's, and a way leads from the one to the other. */
void x86_pieces_unite(struct x86_pieces *pieces, uint32_t a, uint32_t b, int lower);

#endif
