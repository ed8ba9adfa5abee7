// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The roots that a thread's stack holds: a mark for each at the frame which registered
 * it, and where a walk that lost its way can be taken up.
 */
#include "roots.bpf.h"

__noinline int roots_place_head(__u32 hook, __u32 k)
{
	struct scratch *s = scratch(hook);

	if (s && k < KEYS_MAX)
		s->heads[k].place = place_of(s, &s->heads[k].root, s->heads[k].addr);
	return 0;
}

int roots_place(__u32 hook)
{
	struct scratch *s = scratch(hook);

	if (!s)
		return 0;
	for (__u32 k = 0; k < KEYS_MAX; k++) {
		if (k >= s->n_heads)
			break;
		roots_place_head(hook, k);
	}
	return 0;
}

static __always_inline bool was_met(struct scratch *s, __u64 addr)
{
	for (int i = 0; i < MAX_ROOTS; i++) {
		if (i >= s->n_roots)
			return false;
		if (root_met(s, i)->addr == addr)
			return true;
	}
	return false;
}

/* Marks the place of the k-th head's root and goes to the root behind it. */
__noinline int roots_mark_head(__u32 hook, __u32 k)
{
	struct scratch *s = scratch(hook);
	struct head *head;
	__u32 n;

	if (!s || k >= KEYS_MAX)
		return 0;
	head = &s->heads[k];
	n = s->n_roots;
	if (was_met(s, head->addr)) {
		head->addr = 0;
		return 0;
	}
	if (n >= MAX_ROOTS) {
		emit_mark(s, hook,
			  (__u64)FRAME_ROOT << FRAME_KIND_SHIFT | ROOT_UNFOLLOWED);
		s->rec.flags |= SAMPLE_ROOTS_CUT;
		head->addr = 0;
		return 0;
	}
	root_met(s, n)->mark = s->n_words;
	emit_mark(s, hook, (__u64)FRAME_ROOT << FRAME_KIND_SHIFT | n);
	root_met(s, n)->addr = head->addr;
	root_met(s, n)->top = head->root.top;
	s->n_roots = n + 1;
	load_head(s, head, head->root.next);
	return 0;
}

__noinline int roots_mark(__u32 hook)
{
	struct scratch *s = scratch(hook);

	if (!s)
		return 0;
	s->key_at_hand = 0;
	/* one function may have registered several, one in another */
	for (int i = 0; i < MAX_ROOTS + KEYS_MAX; i++) {
		__u32 k = s->key_at_hand;

		if (k >= KEYS_MAX || k >= s->n_heads)
			break;
		if (frame_registered(s, &s->heads[k]))
			roots_mark_head(hook, k);
		else
			s->key_at_hand = k + 1;
	}
	return 0;
}

int roots_mark_gap(__u32 hook, __u32 ending)
{
	struct scratch *s = scratch(hook);

	if (!s)
		return 0;
	emit_mark(s, hook, (__u64)FRAME_GAP << FRAME_KIND_SHIFT | (ending & 0xff));
	roots_meet(s, hook);
	return 0;
}

/* Is the k-th head's root the nearest one ahead? verifier: a function, since each of its
 * ways out would double those through the heads behind it */
__noinline int roots_weigh_head(__u32 hook, __u32 k)
{
	struct scratch *s = scratch(hook);
	struct head *head;

	if (!s || k >= KEYS_MAX)
		return 0;
	head = &s->heads[k];
	if (!head->addr || head->root.fp & 7 || head->place != head->root.fp)
		return 0;
	if (head->root.fp - s->sp < s->distance) {
		s->distance = head->root.fp - s->sp;
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
	struct scratch *s = scratch(hook);

	if (!s)
		return KEYS_MAX;
	/* verifier: it would follow a number in a register through every head */
	s->nearest = KEYS_MAX;
	s->distance = CHECKPOINT_BYTES;
	if (elsewhere)
		s->distance = -walked_bytes(s) - SAME_STACK_BYTES;
	for (int k = 0; k < KEYS_MAX; k++) {
		if (k >= s->n_heads)
			break;
		roots_weigh_head(hook, k);
	}
	return s->nearest;
}
