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

#define X86_RETURN_BYTES 8  /* of an address, which a call leaves */
#define X86_CALL_ALIGN	 16 /* the ABI's, of the stack pointer at a call */

/* Each value but the first five is the whole's. */
struct x86_piece {
	uint32_t of;	     /* which one it is a part of, or itself */
	int lower;	     /* its entry lies so many bytes below that one's */
	uint32_t first;	     /* the instruction that it begins with */
	bool is_behind_call; /* begins so */
	bool is_odd;	     /* in itself, if a function begins it: see x86_rows.c */

	bool is_bad;	  /* it contradicts itself */
	bool returns;	  /* there are instructions that do */
	bool calls;	  /* the same */
	bool has_call_at; /* with the stack pointer there, or some times 16 bytes off: */
	int call_at;
	bool calls_differ; /* and others elsewhere */
	bool is_told;	   /* where the CFA is: */
	int cfa;	   /* bytes above the entry */
	bool leaves;	   /* by a jump to elsewhere, with the stack pointer at: */
	int left_at;
	bool goes_off; /* the same, or where a register or memory says, at most at: */
	int off_at;
	unsigned int writes;  /* registers, by bit */
	bool gives_size_back; /* takes its frame down by the size that it has kept */
	bool loses_fp;	      /* returns with another one than its caller's */
	bool is_begun;	      /* by a function */
	bool is_doubted;      /* nobody knows which of its calls come back */
};

struct x86_pieces {
	VEC(struct x86_piece) list;
};

/* The whole; *ret_lower: by how much the piece's entry lies below its. */
struct x86_piece *x86_pieces_whole(const struct x86_pieces *pieces, uint32_t number,
				   int *ret_lower);

void x86_pieces_write(struct x86_pieces *pieces, uint32_t number, unsigned int registers);
void x86_pieces_call(struct x86_pieces *pieces, uint32_t number);

/* The same, with the stack pointer `at` bytes above the piece's entry. */
void x86_pieces_call_at(struct x86_pieces *pieces, uint32_t number, int at);

/* Is the piece entered as functions are, with a return address alone? By the ABI's word
 * that the stack is aligned at each call. */
bool x86_pieces_calls_as_begun(const struct x86_pieces *pieces, uint32_t number);

/* Or as at a label within one, where nothing is to be aligned? */
bool x86_pieces_calls_as_within(const struct x86_pieces *pieces, uint32_t number);

void x86_pieces_spoil(struct x86_pieces *pieces, uint32_t number);

/* At a stack pointer `at` bytes above the piece's entry lies its return address. */
void x86_pieces_end_at(struct x86_pieces *pieces, uint32_t number, int at);

/* The same, and it returns there. */
void x86_pieces_return_at(struct x86_pieces *pieces, uint32_t number, int at);

/* There it goes to another function, with nothing else on the stack. That alone tells
 * nothing: it may as well go to a part of its own. */
void x86_pieces_leave_at(struct x86_pieces *pieces, uint32_t number, int at);

/* It may go to another function from there, or jump through a table. */
void x86_pieces_go_off_at(struct x86_pieces *pieces, uint32_t number, int at);

/* Does it, with no more on the stack than at the piece's entry? */
bool x86_pieces_go_off(const struct x86_pieces *pieces, uint32_t number);

void x86_pieces_give_size_back(struct x86_pieces *pieces, uint32_t number);

/* b's entry lies `lower` bytes below a's, and a way leads from the one to the other. */
void x86_pieces_unite(struct x86_pieces *pieces, uint32_t a, uint32_t b, int lower);

#endif
