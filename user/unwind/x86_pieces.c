// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/x86_pieces.h"

struct x86_piece *x86_pieces_whole(const struct x86_pieces *pieces, uint32_t number,
				   int *ret_lower)
{
	struct x86_piece *list = pieces->list.items;
	int lower = 0;

	while (list[number].of != number) {
		const struct x86_piece *up = &list[list[number].of];

		/* halves the way for who comes next */
		list[number].lower += up->lower;
		list[number].of = up->of;
		lower += list[number].lower;
		number = list[number].of;
	}
	*ret_lower = lower;
	return &list[number];
}

void x86_pieces_call(struct x86_pieces *pieces, uint32_t number)
{
	int lower;

	x86_pieces_whole(pieces, number, &lower)->calls = true;
}

void x86_pieces_spoil(struct x86_pieces *pieces, uint32_t number)
{
	int lower;

	x86_pieces_whole(pieces, number, &lower)->is_bad = true;
}

void x86_pieces_end_at(struct x86_pieces *pieces, uint32_t number, int at)
{
	int lower, cfa;
	struct x86_piece *whole = x86_pieces_whole(pieces, number, &lower);

	cfa = at - lower + X86_RETURN_BYTES;
	whole->is_bad |= whole->is_told && whole->cfa != cfa;
	whole->is_told = true;
	whole->cfa = cfa;
}

void x86_pieces_return_at(struct x86_pieces *pieces, uint32_t number, int at)
{
	int lower;

	x86_pieces_end_at(pieces, number, at);
	x86_pieces_whole(pieces, number, &lower)->returns = true;
}

void x86_pieces_leave_at(struct x86_pieces *pieces, uint32_t number, int at)
{
	int lower;
	struct x86_piece *whole = x86_pieces_whole(pieces, number, &lower);

	whole->is_doubted |= whole->leaves && whole->left_at != at - lower;
	whole->leaves = true;
	whole->left_at = at - lower;
}

void x86_pieces_unite(struct x86_pieces *pieces, uint32_t a, uint32_t b, int lower)
{
	int below_a, below_b;
	struct x86_piece *into = x86_pieces_whole(pieces, a, &below_a);
	struct x86_piece *part = x86_pieces_whole(pieces, b, &below_b);

	lower += below_a - below_b;
	if (into == part) {
		into->is_bad |= lower != 0;
		return;
	}
	part->of = into->of;
	part->lower = lower;
	into->is_bad |= part->is_bad;
	into->is_doubted |= part->is_doubted;
	into->returns |= part->returns;
	into->calls |= part->calls;
	if (part->is_told)
		x86_pieces_end_at(pieces, into->of, part->cfa - lower - X86_RETURN_BYTES);
	if (part->leaves)
		x86_pieces_leave_at(pieces, into->of, part->left_at - lower);
}
