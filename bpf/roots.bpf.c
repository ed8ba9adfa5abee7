// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The roots that a thread's stack holds: a mark for each at the frame which registered
 * it, and where a walk that lost its way can be taken up.
 */
#include "roots.bpf.h"

__noinline int roots_place_cursor(__u32 hook, __u32 k)
{
	struct scratch *s = scratch_of(PART_CHAINS, hook);

	if (s && k < KEYS_MAX)
		s->root_cursors[k].place =
			place_of(s, &s->root_cursors[k].root, s->root_cursors[k].addr);
	return 0;
}

int roots_place(__u32 hook)
{
	struct scratch *s = scratch_of(PART_CHAINS, hook);

	if (!s)
		return 0;
	for (__u32 k = 0; k < KEYS_MAX; k++) {
		if (k >= s->n_root_cursors)
			break;
		roots_place_cursor(hook, k);
	}
	return 0;
}

#define FIND_ROOTS 8 /* a call of roots_find_among() */

/* The number of the root there, from the n-th on: s->n_roots if it is new; MAX_ROOTS: it
 * is none of these. */
__noinline int roots_find_among(__u32 hook, __u64 addr, __u32 n)
{
	struct scratch *s = scratch_of(PART_CHAINS, hook);

	if (!s)
		return 0;
	for (int i = 0; i < FIND_ROOTS; i++, n++)
		if (n >= s->n_roots || found_root(s, n)->addr == addr)
			return n;
	return MAX_ROOTS;
}

/* The number of the root there: s->n_roots if it is new. verifier: as splice_advance()
 * is, a loop in a loop */
static __always_inline int find_number(__u32 hook, __u64 addr)
{
	int n = MAX_ROOTS;

	for (__u32 from = 0; n == MAX_ROOTS && from < MAX_ROOTS; from += FIND_ROOTS)
		n = roots_find_among(hook, addr, from);
	return n;
}

/* Was it found in the walk at hand? Then its list goes round. A stack that waits twice is
 * walked twice, from another place each time, and may lead to the same root. */
static __always_inline bool goes_round(struct scratch *s, __u32 n)
{
	return n < s->n_roots &&
	       (!s->on_waiting_thread || found_root(s, n)->mark >= s->segment);
}

/* Marks the place of the root of the cursor at hand and goes to the root behind it, or to
 * the next cursor if the frame at hand did not register it; 0: there is none. verifier:
 * all of this is here, not in the loop around it, which has 72 times to go */
__noinline int roots_mark_next(__u32 hook)
{
	struct scratch *s = scratch_of(PART_CHAINS, hook);
	struct root_cursor *cursor;
	__u32 n, k;

	if (!s)
		return 0;
	k = s->key_at_hand;
	if (k >= KEYS_MAX || k >= s->n_root_cursors)
		return 0;
	cursor = &s->root_cursors[k];
	if (!frame_registered(s, cursor)) {
		s->key_at_hand = k + 1;
		return 1;
	}
	n = find_number(hook, cursor->addr);
	if (goes_round(s, n)) {
		cursor->addr = 0;
		return 1;
	}
	if (n >= MAX_ROOTS) {
		emit_mark(s, hook,
			  (__u64)FRAME_ROOT << FRAME_KIND_SHIFT | ROOT_UNFOLLOWED);
		s->rec.flags |= SAMPLE_ROOTS_CUT;
		cursor->addr = 0;
		return 1;
	}
	found_root(s, n)->mark = s->n_words;
	emit_mark(s, hook, (__u64)FRAME_ROOT << FRAME_KIND_SHIFT | n);
	found_root(s, n)->addr = cursor->addr;
	found_root(s, n)->top = cursor->root.top;
	if (n == s->n_roots)
		s->n_roots = n + 1;
	load_root_cursor(s, cursor, cursor->root.next);
	return 1;
}

int roots_mark(__u32 hook)
{
	struct scratch *s = scratch_of(PART_CHAINS, hook);

	if (!s)
		return 0;
	s->key_at_hand = 0;
	/* one function may have registered several, one in another */
	for (int i = 0; i < MAX_ROOTS + KEYS_MAX; i++)
		if (!roots_mark_next(hook))
			break;
	return 0;
}

int roots_mark_gap(__u32 hook, __u32 ending)
{
	struct scratch *s = scratch(hook);

	if (!s)
		return 0;
	emit_mark(s, hook, (__u64)FRAME_GAP << FRAME_KIND_SHIFT | (ending & 0xff));
	roots_check_frame(s, hook);
	return 0;
}

/* Is the k-th cursor's root the nearest ahead? verifier: a function, since each of its
 * ways out would double those through the cursors behind it */
__noinline int roots_weigh_cursor(__u32 hook, __u32 k)
{
	struct scratch *s = scratch_of(PART_CHAINS, hook);
	struct root_cursor *cursor;

	if (!s || k >= KEYS_MAX)
		return 0;
	cursor = &s->root_cursors[k];
	if (!cursor->addr || cursor->root.fp & 7 || cursor->place != cursor->root.fp)
		return 0;
	if (cursor->root.fp - s->sp < s->distance) {
		s->distance = cursor->root.fp - s->sp;
		s->nearest = k;
	}
	return 0;
}

/* Of the stack that the frame at hand is on, as far as that is known. */
static __always_inline __u64 walked_bytes(struct scratch *s)
{
	__u64 bytes = s->sp - s->begun_sp;

	return bytes < CHECKPOINT_BYTES ? bytes : 0;
}

/*
 * A walk that lost its way below s->sp may go on from there: it knows a true frame
 * pointer. Of a stack that is at its end all was seen: a root there, or a little below,
 * is of a function that was left without a word. Distances go round, so that of two
 * roots on one stack, wherever that lies, the lower one is the nearer.
 */
int roots_find_nearest(__u32 hook, __u32 elsewhere)
{
	struct scratch *s = scratch_of(PART_CHAINS, hook);

	if (!s)
		return KEYS_MAX;
	/* verifier: it would follow a number in a register through every cursor */
	s->nearest = KEYS_MAX;
	s->distance = CHECKPOINT_BYTES;
	if (elsewhere)
		s->distance = -walked_bytes(s) - SAME_STACK_BYTES;
	for (int k = 0; k < KEYS_MAX; k++) {
		if (k >= s->n_root_cursors)
			break;
		roots_weigh_cursor(hook, k);
	}
	return s->nearest;
}

/* Those that no frame of a stack that has ended was found to have registered. */
int roots_end_stack(__u32 hook)
{
	struct scratch *s = scratch_of(PART_CHAINS, hook);

	if (!s)
		return 0;
	for (int k = 0; k < KEYS_MAX; k++) {
		if (k < s->n_root_cursors && s->root_cursors[k].addr)
			s->rec.flags |= SAMPLE_UNMATCHED;
	}
	return 0;
}
