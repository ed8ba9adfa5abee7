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

static void calls_at(struct x86_piece *whole, int at)
{
	whole->calls_differ |=
		whole->has_call_at && (at - whole->call_at) % X86_CALL_ALIGN;
	whole->has_call_at = true;
	whole->call_at = at;
}

void x86_pieces_write(struct x86_pieces *pieces, uint32_t number, unsigned int registers)
{
	int lower;

	x86_pieces_whole(pieces, number, &lower)->writes |= registers;
}

void x86_pieces_call(struct x86_pieces *pieces, uint32_t number)
{
	int lower;

	x86_pieces_whole(pieces, number, &lower)->calls = true;
}

void x86_pieces_call_at(struct x86_pieces *pieces, uint32_t number, int at)
{
	int lower;
	struct x86_piece *whole = x86_pieces_whole(pieces, number, &lower);

	calls_at(whole, at - lower);
}

/* Each call with the stack pointer so many bytes from that at the entry, but for whole
 * frames. */
static bool calls_from(const struct x86_pieces *pieces, uint32_t number, int bytes)
{
	int lower;
	const struct x86_piece *whole = x86_pieces_whole(pieces, number, &lower);

	return whole->has_call_at && !whole->calls_differ &&
	       (whole->call_at + lower - bytes) % X86_CALL_ALIGN == 0;
}

bool x86_pieces_calls_as_begun(const struct x86_pieces *pieces, uint32_t number)
{
	return calls_from(pieces, number, X86_RETURN_BYTES);
}

bool x86_pieces_calls_as_within(const struct x86_pieces *pieces, uint32_t number)
{
	return calls_from(pieces, number, 0);
}

void x86_pieces_spoil(struct x86_pieces *pieces, uint32_t number)
{
	int lower;

	pieces->list.items[number].is_odd = true;
	x86_pieces_whole(pieces, number, &lower)->is_bad = true;
}

static void end_at(struct x86_piece *whole, int cfa)
{
	whole->is_bad |= whole->is_told && whole->cfa != cfa;
	whole->is_told = true;
	whole->cfa = cfa;
}

void x86_pieces_end_at(struct x86_pieces *pieces, uint32_t number, int at)
{
	int lower;
	struct x86_piece *whole = x86_pieces_whole(pieces, number, &lower);

	pieces->list.items[number].is_odd |= at != 0;
	end_at(whole, at - lower + X86_RETURN_BYTES);
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

void x86_pieces_give_size_back(struct x86_pieces *pieces, uint32_t number)
{
	int lower;

	x86_pieces_whole(pieces, number, &lower)->gives_size_back = true;
}

static void goes_off_at(struct x86_piece *whole, int at)
{
	if (!whole->goes_off || at > whole->off_at)
		whole->off_at = at;
	whole->goes_off = true;
}

void x86_pieces_go_off_at(struct x86_pieces *pieces, uint32_t number, int at)
{
	int lower;
	struct x86_piece *whole = x86_pieces_whole(pieces, number, &lower);

	goes_off_at(whole, at - lower);
}

bool x86_pieces_go_off(const struct x86_pieces *pieces, uint32_t number)
{
	int lower;
	const struct x86_piece *whole = x86_pieces_whole(pieces, number, &lower);

	return whole->goes_off && whole->off_at + lower >= 0;
}

void x86_pieces_unite(struct x86_pieces *pieces, uint32_t a, uint32_t b, int lower)
{
	int below_a, below_b;
	struct x86_piece *into = x86_pieces_whole(pieces, a, &below_a);
	struct x86_piece *part = x86_pieces_whole(pieces, b, &below_b);

	lower += below_a - below_b;
	if (into == part) {
		into->is_bad |= lower != 0;
		pieces->list.items[a].is_odd |= lower != 0;
		pieces->list.items[b].is_odd |= lower != 0;
		return;
	}
	part->of = into->of;
	part->lower = lower;
	into->is_bad |= part->is_bad;
	into->is_doubted |= part->is_doubted;
	into->writes |= part->writes;
	into->gives_size_back |= part->gives_size_back;
	into->returns |= part->returns;
	into->calls |= part->calls;
	into->calls_differ |= part->calls_differ;
	if (part->has_call_at)
		calls_at(into, part->call_at - lower);
	if (part->is_told)
		end_at(into, part->cfa - lower);
	if (part->goes_off)
		goes_off_at(into, part->off_at - lower);
	if (part->leaves)
		x86_pieces_leave_at(pieces, into->of, part->left_at - lower);
}
